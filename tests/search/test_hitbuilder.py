"""Hits of formulas beyond the budget of a query: shown, without marks, and with a note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from mathamr import Index, Query
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.preview import Preview
from mathamr.posts.post import Post
from mathamr.search.hitbuilder import HitBuilder
from mathamr.search.querycontext import QueryContext
from mathamr.search.results import RankedResult
from mathamr.search.snippet import Wanted
from mathamr.search.workbudget import FormulaBounds
from mathamr.systems.ranking import Task
from tests.models import build_sample_index


@pytest.fixture(scope="module")
def index(small_index: Path) -> Iterator[Index]:
    with Index.open(small_index, device="cpu") as opened:
        yield opened


def context(latex: str, **bounds: int) -> QueryContext:
    query = Query.of_formula(latex)
    return QueryContext(query, cast(Any, None), formula=query.target()[0], bounds=FormulaBounds(**bounds))


def test_formulas_beyond_the_budget_are_shown_without_marks_and_a_note_says_so(index: Index) -> None:
    with index.archive.reading():
        catalogue = index.archive.catalogue
        found = [
            entry
            for id in catalogue.ids()
            for entry in catalogue.formulas_of(id)
            if len(entry.formula.latex) > 3
        ]
        entry = found[0]
        page = [RankedResult(entry.id, 1.0, {}, visual=entry.visual)] * 3
        for most, unmarked in ((200_000, 0), (0, 3)):
            asked = context(entry.formula.latex, marked_nodes=most)
            builder = HitBuilder(index.archive, asked, Wanted(asked.query), {entry.id: "strong"})
            hits = builder.formulas(page, 0, near=False)
            assert [bool(hit.formula and hit.formula.matched_nodes) for hit in hits] == [not unmarked] * 3
            assert (
                builder.notes
                == [
                    "what matches is not marked in 3 of the formulas: they are too large to be compared with this query"
                ][: bool(unmarked)]
            )


def test_what_a_query_needs_for_every_candidate_is_computed_once() -> None:
    asked = context("x^2+1")
    assert asked.visual is asked.visual
    assert asked.lexical_trees is asked.lexical_trees


@pytest.mark.parametrize("task", ["answers", "formulas"])
def test_a_preview_with_fewer_sentences_and_formulas_than_the_vectors_have_is_shown(
    index: Index, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = index.search("a sum $x^2$", task)
    read = Catalogue.previews

    def shortened(catalogue: Catalogue, ids: Sequence[str]) -> dict[str, Preview]:
        heads = {each: found.post for each, found in read(catalogue, ids).items()}
        return {
            each: Preview.of(replace(post, title="", body="Words.", macros=(r"\def\R{\mathbb{R}}",)))
            for each, post in heads.items()
        }

    monkeypatch.setattr(Catalogue, "previews", shortened)
    after = index.search("a sum $x^2$", task)
    assert len(before) > 1
    assert [hit.id for hit in after] == [hit.id for hit in before]
    assert {str(hit.snippet) for hit in after} == {"Words."}
    assert {hit.macros[-1] for hit in after} == {r"\def\R{\mathbb{R}}"}


def test_posts_without_vectors_are_shown_as_found_by_words(model_folder: Path, tmp_path: Path) -> None:
    """A page of two stubs, none with a vector, was a traceback."""
    posts = [Post(word.lower(), "note", "Later.", title=word, markup="text") for word in ("Rings", "Fields")]
    folder, ids = build_sample_index(tmp_path / "index", model_folder, posts), [post.id for post in posts]
    with IndexWriter.open(folder, device="cpu") as archive:
        archive.engine.delete("posts", ids)
        archive.engine.flush()
    with Index.open(folder, device="cpu") as stubs:
        assert not stubs.archive.engine["parts"].fetch(ids)
        found = stubs.search("rings")
    assert [hit.id for hit in found][:1] == ["rings"]
