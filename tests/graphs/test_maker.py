"""Graphs have the trees of a reading; a post decides what its letters are."""

from __future__ import annotations

import pytest

from mathamr.core.errors import UnknownNameError
from mathamr.graphs.maker import GraphMaker
from mathamr.graphs.mathgraph import MathGraph
from mathamr.posts.post import Formula, Post
from tests.graphs.parsers import WordChain

POST = Post(
    "1",
    "note",
    "Take $c(x+1)$ for $c:A\\to B$.",
    markup="markdown",
    formulas=(Formula("1:0", "c(x+1)"), Formula("1:1", "c:A\\to B")),
)


def labels(reading: str) -> set[str]:
    (made,) = GraphMaker(WordChain(), reading).make([POST])
    return _operators(made.graph)


def _operators(graph: MathGraph) -> set[str]:
    return {label for part in graph.formulas if part.opt is not None for label in part.opt.labels}


def test_the_published_trees_are_the_default() -> None:
    (made,) = GraphMaker(WordChain()).make([POST])
    assert _operators(made.graph) == labels("published")
    assert "U!times" in labels("published")


def test_a_letter_that_the_post_maps_is_a_function() -> None:
    assert {"F!𝑐", "O!map"} <= labels("mathematician")
    assert "U!times" not in labels("mathematician")


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="published, mathematician"):
        labels("physicist")
