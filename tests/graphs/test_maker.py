"""Graphs have the published trees, which models are trained on."""

from __future__ import annotations

from mathamr.formulas.parse import parse
from mathamr.graphs.maker import GraphMaker
from mathamr.posts.post import Formula, Post
from tests.graphs.parsers import WordChain

POST = Post(
    "1",
    "note",
    "Take $c(x+1)$ for $c:A\\to B$.",
    markup="markdown",
    formulas=(Formula("1:0", "c(x+1)"), Formula("1:1", "c:A\\to B")),
)


def test_formulas_have_their_published_trees() -> None:
    (made,) = GraphMaker(WordChain()).make([POST])
    assert [part.opt for part in made.graph.formulas] == [parse(each.latex).opt for each in POST.formulas]
