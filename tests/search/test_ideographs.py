"""Chinese and Japanese, which write no spaces: every character is a word, and words are characters side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr import Index
from mathamr.index.lexical.terms import words
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Place, Post
from tests.cases import cases
from tests.models import build_sample_index

NOTES = {
    "fermat": ("费马引理", "若函数 $f$ 在点 $x_0$ 处取得极值且可导,则 $f'(x_0)=0$。"),
    "lagrange": ("拉格朗日中值定理", "设函数在闭区间上连续,在开区间内可导。"),
    "matrix": ("可逆矩阵", "行列式不为零的方阵称为可逆矩阵。"),
    "group": ("群的定义", "满足结合律并有单位元和逆元的集合。"),
    "series": ("级数收敛", "正项级数的比较判别法与根值判别法。"),
    "renzoku": ("連続関数", "この関数は連続である。ここで微分を考えます。"),
    "gyouretsu": ("行列式", "行列の固有値は固有多項式の根です。"),
    "sekibun": ("積分", "部分積分法でこの積分を計算する。"),
    "sosuu": ("素数", "素数は無限に存在することをユークリッドが証明した。"),
    "shuugou": ("集合と写像", "全単射の逆写像はただ一つです。"),
}
PRESENT = {
    "取得极值": "fermat", "中值定理": "lagrange", "闭区间": "lagrange", "可逆矩阵": "matrix", "单位元": "group",
    "结合律": "group", "比较判别法": "series", "行列式不为零": "matrix", "引理": "fermat", "级数": "series",
    "連続": "renzoku", "微分": "renzoku", "固有値": "gyouretsu", "固有多項式": "gyouretsu", "部分積分法": "sekibun",
    "素数": "sosuu", "ユークリッド": "sosuu", "写像": "shuugou", "ここで": "renzoku", "逆写像": "shuugou",
}  # fmt: skip
ABSENT = (
    "测度论", "紧致性", "微分流形", "同调群", "傅里叶变换", "概率分布", "条件期望", "黎曼积分", "拓扑空间", "向量空间",
    "確率論", "位相空間", "複素解析", "ここて", "群論", "環準同型", "フーリエ変換", "測度", "期待値", "多様体",
)  # fmt: skip


def posts() -> list[Post]:
    return [
        Post(
            name, "note", body, title=title, markup="markdown", formulas=formulas_of(name, title, body, "markdown"),
            place=Place("notes.md", label=f"def:{title}"),
        )
        for name, (title, body) in NOTES.items()
    ]  # fmt: skip


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    folder = build_sample_index(tmp_path_factory.mktemp("ideographs") / "index", model_folder, posts())
    with Index.open(folder, device="cpu") as opened:
        yield opened


@cases("word", PRESENT)
def test_a_word_inside_a_run_of_characters_is_found(notes: Index, word: str) -> None:
    hits = notes.search(word, k=3)
    assert hits.found in ("strong", "weak")
    assert hits.absent == ()
    assert PRESENT[word] in [hit.id for hit in hits if hit.match != "similar"]


@cases("word", ABSENT)
def test_a_word_that_no_note_has_is_not_said_to_be_there(notes: Index, word: str) -> None:
    assert notes.search(word, k=3).found in ("similar", "nothing")


def test_kana_keep_their_marks_and_letters_lose_their_accents() -> None:
    assert words("で") == ["で"] != words("て")
    assert words("パ") == ["パ"]
    assert words("Hölder, Ångström") == ["holder", "angstrom"]
    assert words("한국어 정리") == ["한국어", "정리"]


def test_phrases_labels_and_snippets_know_the_words(notes: Index) -> None:
    assert [hit.id for hit in notes.search('"取得极值" 函数', k=5)] == ["fermat"]
    assert "sosuu" not in [hit.id for hit in notes.search("証明 -素数", k=9)]
    assert notes.search("def:可逆矩阵", k=2)[0].reason == "has this label"
    hit = notes.search("单位元", k=1)[0]
    assert "单位元" in "".join(each.text for each in hit.snippet if each.matched)
