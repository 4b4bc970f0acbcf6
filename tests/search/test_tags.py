"""Answers are found by the tags of their questions, whatever came first and whatever changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mathamr import Filter, Index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from tests.index.small import build, note


def post(identifier: str, kind: str, body: str, **more: object) -> Post:
    formulas = formulas_of(identifier, "", body, "text")
    return Post(identifier, kind, body, markup="text", formulas=formulas, **more)  # type: ignore[arg-type]


QUESTION = post("q", "question", "Why is $x^2$ positive?", tags=("algebra",))
ANSWER = post("a", "answer", "A square $x^2$ is never negative.", parent="q")
OTHER = post("b", "answer", "Look at $y+z$ instead.", parent="q", tags=("geometry",))


@pytest.fixture
def archive(tmp_path: Path, model_folder: Path) -> IndexWriter:
    build(tmp_path / "index", [ANSWER, OTHER], model_folder)
    return IndexWriter.open(tmp_path / "index", device="cpu")


def found(archive: IndexWriter, tag: str) -> dict[str, set[str]]:
    index = Index(archive)
    where = Filter(tags=(tag,))
    return {
        strategy: {hit.id for hit in index.search("square $x^2$", strategy=strategy, where=where)}
        for strategy in ("lexical", "maxsim")
    } | {"formulas": {hit.id for hit in index.search("$x^2$", "formulas", where=where)}}


def test_tags_follow_the_question(archive: IndexWriter) -> None:
    with archive:
        assert found(archive, "algebra") == {"lexical": set(), "maxsim": set(), "formulas": set()}
        archive.put([QUESTION])
        tagged = found(archive, "algebra")
        assert tagged["lexical"] == tagged["maxsim"] == {"q", "a"}
        assert len(tagged["formulas"] & {"q", "a"}) == 1
        archive.put([replace(QUESTION, tags=("order",))])
        assert found(archive, "algebra")["maxsim"] == set()
        assert found(archive, "order")["maxsim"] == {"q", "a"}
        assert found(archive, "geometry")["maxsim"] == {"b"}
        archive.delete(["q"])
        assert found(archive, "order")["maxsim"] == set()
        assert found(archive, "geometry")["maxsim"] == {"b"}


def test_the_tags_of_a_question_that_is_asked_are_none_of_its_words(archive: IndexWriter) -> None:
    with archive:
        archive.put([note("n", "Much about geometry and algebra, and algebra.")])
        index = Index(archive)
        asked = post("asked", "question", "Is a square $x^2$ negative?")
        plain, tagged = (
            index.rank(each, strategy="lexical")[0]
            for each in (asked, replace(asked, tags=("algebra", "geometry")))
        )
        assert [(each.id, each.score) for each in tagged] == [(each.id, each.score) for each in plain]
        assert index.rank("algebra", strategy="lexical")[0][0].id == "n"


@pytest.mark.parametrize("strategy", ["hybrid", "maxsim", "lexical"])
def test_the_first_hit_has_all_of_the_best_score_and_the_second_page_goes_on(
    model_folder: Path, tmp_path: Path, strategy: str
) -> None:
    build(tmp_path / "index", [note(str(n), "A sum " * n + "of terms.") for n in range(1, 6)], model_folder)
    with Index.open(tmp_path / "index", device="cpu") as index:
        hits = index.search("a sum of terms", strategy=strategy, k=5)
        second = index.search("a sum of terms", strategy=strategy, k=2, offset=2)
    best = hits[0].score
    assert [hit.share for hit in hits] == pytest.approx([hit.score / best for hit in hits])
    assert hits[0].share == 1.0
    assert second[0].share == pytest.approx(hits[2].share)
    assert second[0].to_json()["share"] == round(second[0].share, 4)
