"""`DocumentAmr`: the meaning graph of a post, with its sentences joined under `multi-sentence`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mathamr.amr.batch import parse_each, parse_text
from mathamr.amr.chunk import MAX_TOKENS, chunks
from mathamr.amr.fallback import EMPTY, minimal_graph
from mathamr.amr.graph import Amr, Names
from mathamr.amr.notation import Triple
from mathamr.amr.parser import AmrParser, Cause, Failure, TextParser
from mathamr.amr.placeholder import formula_nodes, mend, placeholders, separated
from mathamr.core.batches import batches

JOINT = "multi-sentence"
BATCH = 512


@dataclass(frozen=True, slots=True)
class Text:
    """The sentences of a post, and the LaTeX of its placeholders, for parsers that read sentences in their context."""

    sentences: Sequence[str]
    latex: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fallback:
    """Records that a sentence, or a chunk of it, got a minimal graph, and why."""

    sentence: int
    cause: Cause
    message: str


@dataclass(frozen=True, slots=True)
class DocumentAmr:
    """The graph of a post and the facts about it that the next stage needs.

    `sentences` holds the variables of every sentence, its root first, in the order of the sentences; the joining root
    belongs to none. `formulas` are (placeholder, variable); `dropped` are the placeholders without a node, which unify
    attaches to the root with `:math`. `fallbacks` are the sentences that needed a minimal graph.
    """

    amr: Amr
    sentences: tuple[tuple[str, ...], ...]
    formulas: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()

    def causes(self) -> Counter[str]:
        """Return the number of sentences with a minimal graph, by cause."""
        return Counter(fallback.cause for fallback in self.fallbacks)


def parse_document(parser: AmrParser, sentences: Sequence[str] | Text) -> DocumentAmr:
    """Return the graph of one post; never fails."""
    return next(parse_documents(parser, [sentences]))


def parse_documents(
    parser: AmrParser,
    documents: Iterable[Sequence[str] | Text],
    *,
    batch: int = BATCH,
    limit: int = MAX_TOKENS,
) -> Iterator[DocumentAmr]:
    """Yield the graphs of many posts, in order; the parser gets about `batch` sentences at a time, of several posts.

    A parser that reads sentences in their context (`TextParser`) gets posts of several sentences one by one. A sentence of
    more than `limit` tokens is cut (section 3.1 of the thesis).
    """
    waiting: list[list[list[str]]] = []
    size = 0
    for document in documents:
        text = document if isinstance(document, Text) else Text(document)
        pieces = [
            [piece for piece in chunks(separated(sentence), limit) if piece.strip()]
            for sentence in text.sentences
        ]
        own = [piece for sentence in pieces for piece in sentence]
        if isinstance(parser, TextParser) and (len(pieces) > 1 or text.latex):
            yield from _parse_waiting(parser, waiting, batch)
            waiting, size = [], 0
            yield _document(pieces, iter(parse_text(parser, own, text.latex)))
            continue
        waiting.append(pieces)
        size += len(own)
        if size >= batch:
            yield from _parse_waiting(parser, waiting, batch)
            waiting, size = [], 0
    yield from _parse_waiting(parser, waiting, batch)


def _parse_waiting(parser: AmrParser, documents: list[list[list[str]]], batch: int) -> Iterator[DocumentAmr]:
    texts = (piece for pieces in documents for sentence in pieces for piece in sentence)
    results = (result for part in batches(texts, batch) for result in parse_each(parser, part))
    for pieces in documents:
        yield _document(pieces, results)


def _root_first(graph: Amr) -> tuple[str, ...]:
    return (graph.top, *(variable for variable, _ in graph.instances if variable != graph.top))


def _document(pieces: list[list[str]], results: Iterator[Amr | Failure]) -> DocumentAmr:
    """Join the results for the pieces of every sentence, which it takes from a stream."""
    graphs: list[Amr] = []
    fallbacks: list[Fallback] = []
    for number, sentence in enumerate(pieces):
        parts: list[Amr] = []
        for piece in sentence:
            result = next(results)
            if isinstance(result, Failure):
                fallbacks.append(Fallback(number, result.cause, result.message))
                result = minimal_graph(piece)
            parts.append(mend(result, placeholders(piece)))
        graphs.append(join(parts)[0])
    amr, variables = join(graphs)
    texts = [piece for sentence in pieces for piece in sentence]
    return _with_formulas(amr, variables, texts, fallbacks)


def _with_formulas(
    amr: Amr, variables: Sequence[tuple[str, ...]], texts: Sequence[str], fallbacks: Sequence[Fallback]
) -> DocumentAmr:
    expected = placeholders(" ".join(texts))
    nodes = formula_nodes(amr, expected)
    return DocumentAmr(
        amr,
        tuple(variables),
        tuple((placeholder, nodes[placeholder]) for placeholder in expected if placeholder in nodes),
        tuple(placeholder for placeholder in expected if placeholder not in nodes),
        tuple(fallbacks),
    )


def join(graphs: Sequence[Amr]) -> tuple[Amr, tuple[tuple[str, ...], ...]]:
    """Join graphs under one `multi-sentence` root; also return the variables of each graph in the result.

    A single graph stays as it is, as AMR's guidelines require; without graphs the result is an empty one.
    """
    if not graphs:
        return Amr("a", (("a", EMPTY),)), ()
    if len(graphs) == 1:
        return graphs[0], (_root_first(graphs[0]),)
    names = Names({constant for graph in graphs for _, _, constant in graph.attributes})
    top = names.fresh(JOINT)
    instances: list[tuple[str, str]] = [(top, JOINT)]
    edges: list[Triple] = []
    attributes: list[Triple] = []
    tokens: list[str] = []
    alignments: list[tuple[str, tuple[int, ...]]] = []
    variables: list[tuple[str, ...]] = []
    for number, graph in enumerate(graphs, start=1):
        new = {variable: names.fresh(concept) for variable, concept in graph.instances}
        edges.append((top, f":snt{number}", new[graph.top]))
        instances += [(new[variable], concept) for variable, concept in graph.instances]
        edges += [(new[source], role, new[target]) for source, role, target in graph.edges]
        attributes += [(new[source], role, constant) for source, role, constant in graph.attributes]
        alignments += [
            (new[variable], tuple(n + len(tokens) for n in numbers)) for variable, numbers in graph.alignments
        ]
        tokens += graph.tokens
        variables.append(tuple(new[variable] for variable in _root_first(graph)))
    joined = Amr(top, tuple(instances), tuple(edges), tuple(attributes), tuple(tokens), tuple(alignments))
    return joined, tuple(variables)
