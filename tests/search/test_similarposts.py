"""Pairs of posts that say nearly the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.search.searcher import Index
from mathamr.search.similarposts import (
    FIRST_CHARACTERS,
    FIRST_FORMULAS,
    LONGEST_TITLE,
    beginning,
    similar_posts,
)
from tests.index.small import build, note

SAID = "Every group of prime order is cyclic, since the order of an element divides $p$."


@pytest.fixture(scope="module")
def index(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("similar") / "index"
    posts = [
        note("a", SAID, title="Prime order"),
        note("b", "Compact sets are closed and bounded.", title="Compactness"),
        note("c", SAID, title="Prime order"),
        replace(note("a/proof", SAID), kind="proof", parent="a"),
    ]
    build(folder, posts, model_folder)
    with Index.open(folder, device="cpu") as opened:
        yield opened


def test_the_most_similar_pair_comes_first_and_a_proof_is_not_compared_with_its_theorem(index: Index) -> None:
    pairs = similar_posts(index, least=-1.0)
    named = [{pair.first.id, pair.second.id} for pair in pairs]
    assert {"a", "a/proof"} not in named
    assert named[0] == {"a", "c"}
    assert pairs[0].similarity == pytest.approx(1, abs=1e-3)
    assert [pair.similarity for pair in pairs] == sorted((pair.similarity for pair in pairs), reverse=True)
    assert len(similar_posts(index, least=-1.0, most=1)) == 1


def test_pairs_below_the_threshold_are_left_out(index: Index) -> None:
    every = [pair.similarity for pair in similar_posts(index, least=-1.0)]
    least = every[len(every) // 2]
    kept = [pair.similarity for pair in similar_posts(index, least=least)]
    assert kept == [similarity for similarity in every if similarity >= least]


def test_a_pair_as_json_has_titles_and_places(index: Index) -> None:
    row = similar_posts(index, least=-1.0, most=1)[0].to_json({})
    assert set(row) == {"similarity", "posts"}
    assert {"id", "kind", "title", "source", "place"} == set(row["posts"][0])


def test_a_post_too_long_for_a_query_is_searched_by_its_beginning() -> None:
    short = Post("a", "note", "A group.", title="Groups")
    long = Post("a", "note", "A zebra is $x$. " * 5_000, title="t" * 60_000)
    many = Post("a", "note", " ".join(f"$x_{{{n}}}$" for n in range(900)), title="On $y$", formulas=())
    many = replace(many, formulas=formulas_of("a", many.title, many.body, many.markup))
    assert beginning(short) is short
    assert len(Query.of_post(beginning(long)).text) <= FIRST_CHARACTERS + LONGEST_TITLE + 1
    assert len(Query.of_post(beginning(many)).formulas) == FIRST_FORMULAS
