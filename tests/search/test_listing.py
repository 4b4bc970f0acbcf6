"""Conditions alone list what fulfils them, best first by a stated rule."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mathamr.index.engines.entry import Filter
from mathamr.posts.postkind import ANSWERING
from mathamr.search.searcher import Index


def order(index: Index, ids: list[str]) -> list[tuple[bool, int]]:
    """By what a listing is ordered, read post by post."""
    posts = index.archive.catalogue.posts(ids)
    return [(posts[each].kind in ANSWERING, -(posts[each].score or 0)) for each in ids]


def test_a_tag_alone_lists_all_posts_that_pass_its_filter(index: Index) -> None:
    hits = index.search("tag:gaussian-integral", k=100)
    assert {hit.id for hit in hits} == index.archive.filters.posts(Filter(tags=("gaussian-integral",)))
    assert hits.found == "strong"
    assert all((hit.match, hit.reason) == ("strong", "fulfils the conditions") for hit in hits)


def test_questions_come_first_then_votes_then_the_order_of_the_collection(index: Index) -> None:
    ranked, _ = index.rank("in:Posts.xml")
    ids = [each.id for each in ranked]
    assert len(ids) == len(index)
    found = order(index, ids)
    assert found == sorted(found)
    places = {each: place for place, each in enumerate(index.archive.catalogue.ids())}
    for (one, rule), (other, following) in pairwise(zip(ids, found, strict=True)):
        assert rule != following or places[one] < places[other]


def test_excluded_words_and_titles_hold_in_a_listing(index: Index) -> None:
    whole = {each.id for each in index.rank("kind:question")[0]}
    without = {each.id for each in index.rank("kind:question -integral")[0]}
    assert without < whole
    texts = index.archive.catalogue.posts(sorted(without))
    assert not any("integral " in post.body.lower() for post in texts.values())


def test_pages_of_a_listing_follow_each_other(index: Index) -> None:
    whole = [hit.id for hit in index.search("kind:question", k=30)]
    parts = [hit.id for offset in (0, 10, 20) for hit in index.search("kind:question", k=10, offset=offset)]
    assert parts == whole


def test_a_listing_of_nothing_says_so(index: Index) -> None:
    hits = index.search("tag:carpentry")
    assert (len(hits), hits.found) == (0, "nothing")
    assert any("no entry fulfils the conditions" in note for note in hits.notes)


@pytest.mark.parametrize("strategy", ["lexical", "hybrid"])
def test_a_listing_is_the_same_by_any_strategy(index: Index, strategy: str) -> None:
    expected = [hit.id for hit in index.search("tag:gaussian-integral")]
    assert [hit.id for hit in index.search("tag:gaussian-integral", strategy=strategy)] == expected
