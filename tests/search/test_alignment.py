"""Alignments and their heatmaps."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.posts.level import Level
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.alignment import Alignment, align, parts
from mathamr.search.heatmap import COLUMNS, ROWS, LabelRun, heatmap_svg, save_heatmap, set_in_line
from mathamr.systems.vectors import Vectors
from tests.cases import cases

SVG = "{http://www.w3.org/2000/svg}"
BODY = "Let $x > 0$ hold. Then $\\frac12 \\le y$ follows from $x > 0$."


def post(identifier: str, body: str = BODY) -> Post:
    formulas = formulas_of(identifier, "", body, "text")
    return Post(identifier, "note", body, markup="text", formulas=formulas)


def vectors(identifier: str, formulas: int, sentences: int, seed: int = 0) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((formulas + sentences + 1, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    levels = [Level.FORMULA] * formulas + [Level.SENTENCE] * sentences + [Level.DOCUMENT]
    references = (
        [f"{identifier}:{n}" for n in range(formulas)] + [str(n) for n in range(sentences)] + [identifier]
    )
    return Vectors(rows, np.array(levels, np.int32), tuple(references))


def aligned() -> Alignment:
    return align(post("q"), vectors("q", 3, 2), post("p"), vectors("p", 3, 2, 1), "A title")


def test_parts_run_from_the_whole_to_sentences_to_formulas() -> None:
    found = aligned()
    levels = ["document", "sentence", "sentence", "formula", "formula", "formula"]
    assert [part.level for part in found.query] == [part.level for part in found.post] == levels
    texts = [
        "Let $x > 0$ hold.",
        "Then $\\frac12 \\le y$ follows from $x > 0$.",
        "$x > 0$",
        "$\\frac12 \\le y$",
        "$x > 0$",
    ]
    assert [part.text for part in found.post[1:]] == texts
    assert [BODY[part.start : part.end] for part in found.post[1:]] == texts, "they know where they stand"


def test_the_score_is_maxsim_and_matches_are_the_best_of_each_row() -> None:
    found = aligned()
    query, other = vectors("q", 3, 2), vectors("p", 3, 2, 1)
    best = (query.vectors @ other.vectors.T).max(axis=1)
    assert found.score == pytest.approx(float(best.mean()), abs=1e-6)
    for row, match in enumerate(found.matches):
        assert match.similarity == pytest.approx(float(found.similarities[row].max()))
        assert match.query is found.query[row]
    row = found.to_json()
    assert [row["similarities"][n][best] for n, best in enumerate(row["best"])] == [
        pytest.approx(match.similarity, abs=1e-4) for match in found.matches
    ]


def test_wording_and_structure_add_up_to_the_similarity() -> None:
    chance = np.random.default_rng(5)
    text = [chance.normal(size=(2, 3)), chance.normal(size=(2, 3))]
    graph = [chance.normal(size=(2, 4)), chance.normal(size=(2, 4))]
    text, graph = (
        [each / np.linalg.norm(each, axis=1, keepdims=True) for each in both] for both in (text, graph)
    )
    share = 0.7
    joined = [
        Vectors(
            np.concatenate([share**0.5 * one, (1 - share) ** 0.5 * two], axis=1).astype(np.float32),
            np.array([Level.SENTENCE, Level.DOCUMENT], np.int8),
            ("0", "p"),
        )
        for one, two in zip(text, graph, strict=True)
    ]
    post = Post("p", "note", "One sentence.", markup="text")
    found = align(post, joined[0], post, joined[1], wording=3)
    # The document comes first.
    wanted = share * (text[0] @ text[1].T)[::-1, ::-1]
    np.testing.assert_allclose(found.wording, wanted, atol=1e-6)
    rest = (1 - share) * (graph[0] @ graph[1].T)[::-1, ::-1]
    np.testing.assert_allclose(found.similarities - found.wording, rest, atol=1e-6)
    assert [match.wording for match in found.matches] == pytest.approx(
        [wanted[row, column] for row, column in enumerate(found.similarities.argmax(axis=1))], abs=1e-6
    )
    assert len(found.to_json()["wording"]) == 2
    alone = align(post, joined[0], post, joined[1])
    assert alone.wording is None
    assert "wording" not in alone.to_json()


def test_vectors_of_another_text_are_refused() -> None:
    with pytest.raises(MathAMRError, match="do not match its text: it has no sentence '7'; index it again"):
        parts(post("p"), Vectors(np.ones((1, 2), np.float32), np.array([Level.SENTENCE]), ("7",)))
    with pytest.raises(MathAMRError, match="no formula 'p:9'"):
        parts(post("p"), Vectors(np.ones((1, 2), np.float32), np.array([Level.FORMULA]), ("p:9",)))


def test_nothing_to_align_is_a_clear_error() -> None:
    empty = Vectors(np.empty((0, 8), np.float32), np.empty(0, np.int32), ())
    with pytest.raises(MathAMRError, match="no vectors"):
        align(post("q"), empty, post("p"), vectors("p", 3, 2))


def large() -> Alignment:
    body = "A sentence with $x_{1}$ and dollars \\$5 <&>. " * (COLUMNS + 30)
    read = post("p", body)
    count = len(read.formulas)
    asked = post("q", "Why $y$? " * (ROWS + 10))
    return align(asked, vectors("q", ROWS + 10, ROWS + 10), read, vectors("p", count, count, 2))


def test_a_heatmap_has_a_cell_for_each_pair_and_a_frame_for_each_row() -> None:
    found = aligned()
    root = ElementTree.fromstring(heatmap_svg(found))
    cells = [each for each in root.iter(f"{SVG}rect") if each.get("width") == "30.5"]
    frames = [each for each in root.iter(f"{SVG}rect") if each.get("fill") == "none"]
    assert len(cells) == found.similarities.size
    shown = [each.text for each in root.iter(f"{SVG}text") if each.get("font-size") == "9"][: len(cells)]
    assert shown == [f"{value:.2f}".replace("0.", ".") for value in found.similarities.ravel()]
    best = found.similarities.argmax(axis=1)
    first = min(float(each.get("x", "")) for each in cells)
    assert [round((float(each.get("x", "")) - 2 - first) / 30) for each in frames] == best.tolist()


def test_the_heatmap_of_a_very_long_post_shows_the_best_and_says_what_is_left_out() -> None:
    svg = heatmap_svg(large())
    assert "further parts of the post" in svg
    assert sum(1 for each in ElementTree.fromstring(svg).iter(f"{SVG}rect")) > ROWS * COLUMNS


def test_a_heatmap_is_written_as_svg_or_png(tmp_path: Path) -> None:
    save_heatmap(aligned(), tmp_path / "why.svg")
    assert (tmp_path / "why.svg").read_text(encoding="utf-8") == heatmap_svg(aligned())
    pytest.importorskip("resvg_py", reason="needs the extra png")
    save_heatmap(large(), tmp_path / "why.png")
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")


def test_png_without_its_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MathAMRError, match=r"pip install 'mathamr\[png\]'.*\.svg"):
        save_heatmap(aligned(), tmp_path / "why.png")


def test_a_heatmap_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match=r"no/where\.svg: the picture cannot be written"):
        save_heatmap(aligned(), tmp_path / "no" / "where.svg")


@cases(
    ("latex", "expected"),
    [
        (r"\frac12", "1/2"),
        (r"x\le y\to0", "x ≤ y → 0"),
        (r"\sqrt{a+b}", "√(a+b)"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "(1, 2; 3, 4; )"),
        ("", ""),
    ],
)
def test_a_formula_is_set_in_one_line(latex: str, expected: str) -> None:
    assert "".join(run.text for run in set_in_line(latex)) == expected


def test_scripts_are_raised_and_lowered() -> None:
    assert set_in_line("a_i^2") == [LabelRun("a"), LabelRun("i", -1), LabelRun("2", 1)]
