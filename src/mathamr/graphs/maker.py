"""`GraphMaker`: turns posts into graphs, through passages, meaning graphs and formula trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from mathamr.amr.document import Text, parse_documents
from mathamr.amr.parser import AmrParser, load_parser
from mathamr.formulas.trees import Trees, trees_of
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.unify import unify
from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import Passage, passage
from mathamr.posts.post import Post


@dataclass(frozen=True, slots=True)
class MadeGraph:
    """A post's graph, its sentences, and the fallbacks that were needed, counted by cause."""

    post: Post
    passage: Passage
    graph: MathGraph
    fallbacks: Counter[str] = field(default_factory=Counter)


class GraphMaker:
    """Turns posts into graphs with one AMR parser; every post gets a graph, with the published operator trees."""

    def __init__(self, parser: AmrParser) -> None:
        self._parser = parser

    def make(self, posts: Iterable[Post]) -> Iterator[MadeGraph]:
        """Yield the graphs of the posts, in order; the sentences of several posts are parsed together."""
        waiting: list[tuple[Post, Passage]] = []

        def documents() -> Iterator[Text]:
            for post in posts:
                read = passage(post)
                waiting.append((post, read))
                latex = {formula.id: formula.latex for formula in post.formulas}
                yield Text(
                    [sentence.text for sentence in read.sentences],
                    {place.name: latex.get(place.formula, "") for place in read.placeholders},
                )

        for document in parse_documents(self._parser, documents()):
            post, read = waiting.pop(0)
            fallbacks = Counter({f"sentence: {cause}": n for cause, n in document.causes().items()})
            if document.dropped:
                fallbacks["formula dropped by the AMR parser"] += len(document.dropped)
            trees = _trees(post, read, fallbacks)
            texts = [sentence.text for sentence in read.sentences]
            graph = unify(post.id, document, texts, read.formula_map, trees)
            yield MadeGraph(post, read, graph, fallbacks)


def make_graph(text: Post | str, parser: AmrParser | None = None) -> MathGraph:
    r"""Return the MathAMR+ graph of a post, or of a text with ``$latex$``; the parser is by default the built-in one.

    >>> make_graph("The square $x^2$ is positive.").formula_map
    {'FORMULA_0': 'text:0'}
    """
    post = text
    if isinstance(post, str):
        post = Post("text", "note", post, markup="text", formulas=formulas_of("text", "", post, "text"))
    (made,) = GraphMaker(parser or load_parser()).make([post])
    return made.graph


def _trees(post: Post, read: Passage, fallbacks: Counter[str]) -> dict[str, Trees]:
    formulas = {formula.id: formula for formula in post.formulas}
    trees: dict[str, Trees] = {}
    for place in read.placeholders:
        formula = formulas.get(place.formula)
        if formula is None:
            fallbacks["formula not listed with its post"] += 1
            continue
        trees[place.name], repaired = trees_of(formula, post.macros)
        if trees[place.name] == (None, None):
            empty = not (formula.latex.strip() or formula.presentation_mathml or formula.content_mathml)
            fallbacks["empty formula" if empty else "formula without a tree"] += 1
        elif repaired:
            fallbacks["formula repaired"] += 1
    return trees


def digest(post: Post, fingerprint: str) -> bytes:
    """Return a hash of everything a graph depends on: the post's text, its place in the thread, and the AMR parser.

    Votes, dates, tags, links and the file's path do not count: they change without changing what the post says.
    """
    content = replace(post, tags=(), links=(), score=None, date=None, source="", place=None)
    return blake2b(f"{fingerprint}\n{content.to_json()}".encode("utf-8", "replace"), digest_size=16).digest()
