from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Filter
from mathamr.posts.post import Place, Post
from mathamr.search.locations import labelled_first, within
from mathamr.search.results import RankedResult

POSTS = [
    Post("a", "theorem", "x", source="/n/limits/a.tex", place=Place("limits/a.tex", 3, "thm:a")),
    Post("b", "section", "x", source="/n/limits/b.tex", place=Place("limits/b.tex", 1, "", ("thm:a",))),
    Post("c", "note", "x", source="/n/series/c.md", place=Place("series/c.md")),
]


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    found = Catalogue(tmp_path / "catalogue.db", create=True)
    with found.transaction():
        for post in POSTS:
            found.put(post, "/n", ())
    return found


def test_a_folder_is_named_by_any_stretch_of_its_path(catalogue):
    assert set(within(catalogue, ["limits"], Filter()).sources) == {"/n/limits/a.tex", "/n/limits/b.tex"}
    assert within(catalogue, ["n/series"], Filter(kinds=("note",))) == Filter(
        kinds=("note",), sources=("/n/series/c.md",)
    )
    assert within(catalogue, ["b.tex"], Filter()).sources == ("/n/limits/b.tex",)
    assert within(catalogue, [], Filter()) == Filter()
    narrowed = within(catalogue, ["limits"], Filter(sources=("/n/limits/a.tex", "/n/series/c.md")))
    assert narrowed.sources == ("/n/limits/a.tex",)


def test_a_folder_without_posts_is_an_error_that_shows_what_there_is(catalogue):
    with pytest.raises(MathAMRError, match=r"no post of the index is in 'limit'.*a\.tex"):
        within(catalogue, ["limit"], Filter())


def test_a_label_brings_its_post_first_and_then_those_that_hold_it(catalogue):
    found = [RankedResult("c", 0.9), RankedResult("b", 0.5)]
    ranked = labelled_first(catalogue, " label:thm:a ", found, None, 10)
    assert [each.id for each in ranked] == ["a", "b", "c"]
    assert ranked[0].score > 0.9
    assert ranked == labelled_first(catalogue, "thm:a", found, None, 10)
    assert [each.id for each in labelled_first(catalogue, "thm:a", found, {"b"}, 10)] == ["b", "c"]
    assert labelled_first(catalogue, "thm:a", found, None, 1) == ranked[:1]
    assert labelled_first(catalogue, "see thm:a", found, None, 10) == found
    assert labelled_first(catalogue, "unknown", found, None, 10) == found


def test_an_unknown_source_is_answered_with_examples_of_sources(catalogue: Catalogue) -> None:
    with pytest.raises(
        MathAMRError, match=r"no post of the index is from 'a\.tex'; a source is the full path"
    ):
        within(catalogue, [], Filter(sources=("a.tex",)))
