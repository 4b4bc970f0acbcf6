"""`read_query`: a query that a client sent, parsed within the limits, and how an answer shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mathamr.core.errors import ParseError
from mathamr.posts.markup import pieces
from mathamr.search.query import EmptyQueryError, Query
from mathamr.serve.errors import ApiError
from mathamr.serve.pieces import shown_pieces
from mathamr.serve.service import Service, of_request
from mathamr.systems.ranking import Task


def read_query(service: Service, text: str, task: Task) -> Query:
    """Parse a query, and check it against the limits."""
    limits = service.limits
    if len(text) > limits.query_characters:
        raise _too_long(len(text), limits.query_characters, "characters")
    try:
        query = of_request(lambda: Query.of_text(text, task, macros=service.index.macros), "q")
    except ApiError as error:
        if isinstance(error.__cause__, EmptyQueryError):
            raise ApiError("empty_query", error.message, "q") from error
        if isinstance(error.__cause__, ParseError) and error.offset is not None:
            # The offset is in the formula; the client needs it in the query.
            start = text.find(error.__cause__.text)
            error.offset = start + error.offset if start >= 0 else None
        raise
    if len(query.formulas) > limits.formulas:
        raise _too_long(len(query.formulas), limits.formulas, "formulas")
    if len(query.passage.sentences) > limits.sentences:
        raise _too_long(len(query.passage.sentences), limits.sentences, "sentences")
    if task == "formulas":
        try:
            query.target()
        except EmptyQueryError as error:
            raise ApiError("empty_query", str(error), "q") from error
    return query


def _too_long(count: int, most: int, unit: str) -> ApiError:
    return ApiError(
        "invalid", f"the query has {count:,} {unit}; at most {most:,} are searched, so shorten it", "q"
    )


def query_shown(query: Query, notes: Sequence[str]) -> dict[str, Any]:
    """Return the query as it was read, with its formulas and those of the notes drawn."""
    shown = list(shown_pieces(pieces(query.text, query.post.markup), query.post.macros))
    drawn = [list(shown_pieces(pieces(note, "text"), query.post.macros)) for note in notes]
    return {"text": query.text, "pieces": shown, "notes": list(notes), "note_pieces": drawn}


def rounded_seconds(stages: Mapping[str, float], render: float, total: float) -> dict[str, float]:
    """Return the rounded seconds of each stage, of rendering, and of the whole query."""
    return {name: round(value, 5) for name, value in {**stages, "render": render, "total": total}.items()}
