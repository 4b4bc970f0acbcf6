"""Parses batches so that a sentence that fails does not affect the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from mathamr.amr.graph import Amr
from mathamr.amr.notation import depth
from mathamr.amr.parser import AmrParser, Failure, PartialParseError, TextParser
from mathamr.core.errors import MissingExtraError

MAX_DEPTH = 150
"""Deeper graphs are refused: no sentence needs them, and recursive readers such as `penman` cannot read them."""


def parse_each(parser: AmrParser, sentences: Sequence[str]) -> list[Amr | Failure]:
    """Return a graph or a `Failure` for every sentence.

    A batch that fails is halved until the sentence at fault stands alone (section 3.1 of the thesis); the others
    are parsed without it. Only a missing extra is an error of the whole batch.
    """
    results: list[Amr | Failure] = []
    waiting = [tuple(sentences)] if sentences else []
    while waiting:
        batch = waiting.pop()
        attempt = _attempt(partial(parser.parse, batch), len(batch))
        if isinstance(attempt, list):
            results.extend(attempt)
        elif len(batch) == 1:
            results.append(attempt)
        else:
            middle = len(batch) // 2
            waiting += [batch[middle:], batch[:middle]]
    return results


def parse_text(parser: TextParser, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr | Failure]:
    """Return a graph or a `Failure` for every sentence of a text; if the text fails, its sentences are parsed one by one."""
    attempt = _attempt(partial(parser.parse_text, sentences, latex), len(sentences))
    return attempt if isinstance(attempt, list) else parse_each(parser, sentences)


def _attempt(parse: Callable[[], Sequence[object]], count: int) -> list[Amr | Failure] | Failure:
    try:
        graphs = parse()
    except MissingExtraError:
        raise
    except PartialParseError as error:
        graphs = error.results
    except TimeoutError as error:
        return Failure("time-out", str(error) or "the parser took too long")
    except Exception as error:
        return Failure("exception", f"{type(error).__name__}: {error}")
    if len(graphs) != count:
        return Failure("wrong number of graphs", f"{len(graphs)} graphs for {count} sentences")
    return [_checked(graph) for graph in graphs]


def _checked(graph: object) -> Amr | Failure:
    if isinstance(graph, Failure):
        return graph
    if graph is None:
        return Failure("no graph", "the parser returned no graph")
    if not isinstance(graph, Amr):
        return Failure("invalid graph", f"the parser returned {type(graph).__name__} instead of a graph")
    if len(graph) > MAX_DEPTH and depth(graph) > MAX_DEPTH:
        return Failure("too deep", f"the graph is nested {depth(graph)} levels deep")
    return graph
