"""Groups of hits: further sections of a document are folded under the best of them, and answers of a question likewise.

The groups depend on the ranking alone, so that pages of groups neither repeat nor lose a hit: a hit joins the last group
of its document if that group still has room and began not far above it, and else begins a group of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Literal, get_args

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.search.hits import Hit
from mathamr.search.results import RankedResult

Grouping = Literal["document"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
MOST_FOLDED = 3
"""Hits that are folded under the first one of a group."""
REACH = 30
"""Ranks below the first hit of a group in which others are looked for."""
_ALONE = frozenset(["declaration", "reference"])
"""Kinds whose files are collections, not documents: modules of a library, bibliographies."""


def ranks_needed(groups: int) -> int:
    """Return how many ranks hold so many groups, each complete, whatever they are.

    >>> ranks_needed(2)
    38
    """
    return groups * (1 + MOST_FOLDED) + REACH


def document_of(identifier: str, kind: str, parent: str | None, source: str) -> Hashable:
    """Return what a post is grouped by: the document that it is a part of, or the question that it answers.

    >>> document_of("a.md#sums", "section", None, "/v/a.md") == document_of("a.md", "note", None, "/v/a.md")
    True
    >>> document_of("17", "answer", "12", "Posts.xml") == document_of("12", "question", None, "Posts.xml")
    True
    >>> document_of("a.bib#Knuth", "reference", None, "a.bib") == document_of("a.bib#Lang", "reference", None, "a.bib")
    False
    """
    if kind in _ALONE:
        return identifier
    if kind in ("question", "answer"):
        return parent or identifier
    return source, identifier.partition("#")[0]


def group_places(documents: Sequence[Hashable]) -> list[list[int]]:
    """Return the places of hits in groups, from the documents of the hits in their order.

    >>> group_places(["a", "b", "a", "a", "c", "b", "a", "a"])
    [[0, 2, 3, 6], [1, 5], [4], [7]]
    """
    groups: list[list[int]] = []
    last: dict[Hashable, list[int]] = {}
    for place, document in enumerate(documents):
        group = last.get(document)
        if group is None or len(group) > MOST_FOLDED or place - group[0] > REACH:
            group = last[document] = []
            groups.append(group)
        group.append(place)
    return groups


def group_ranked(ranked: Sequence[RankedResult], catalogue: Catalogue) -> list[list[RankedResult]]:
    """Return ranked posts in groups, best first."""
    origins = catalogue.origins([each.id for each in ranked])
    known = (origins.get(each.id, ("", None, "")) for each in ranked)
    documents = [document_of(each.id, *origin) for each, origin in zip(ranked, known, strict=True)]
    return [[ranked[place] for place in places] for places in group_places(documents)]


def fold(
    hits: Sequence[Hit], groups: Sequence[Sequence[RankedResult]], ranked: Sequence[RankedResult]
) -> tuple[Hit, ...]:
    """Return the first hit of each group with the others in it; their ranks are those among all results."""
    ranks = {each.id: rank for rank, each in enumerate(ranked, 1)}
    found = {hit.id: replace(hit, rank=ranks[hit.id]) for hit in hits}
    kept = [[found[each.id] for each in group if each.id in found] for group in groups]
    return tuple(replace(first, others=tuple(others)) for first, *others in filter(None, kept))
