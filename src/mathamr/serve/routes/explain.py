"""Explain: the parts of a query against the parts of a post."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from mathamr.core.errors import MathAMRError
from mathamr.index.storage import NoVectorsError
from mathamr.search.explanations import UnknownPostError
from mathamr.search.query import Query as SearchQuery
from mathamr.serve.answers import ExplainAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.pieces import FormulasById, formulas_with_macros, fragment_pieces
from mathamr.serve.queryreading import query_shown, read_query, rounded_seconds
from mathamr.serve.requests import ExplainRequest, Id
from mathamr.serve.service import Reader, Service, of_index
from mathamr.systems.ranking import Task

if TYPE_CHECKING:
    import numpy.typing as npt

    from mathamr.search.alignment import AlignedPart, Alignment
    from mathamr.search.formulamatch import FormulaMatch

router = APIRouter(tags=["search"])
LOG = logging.getLogger("mathamr.serve")
LABEL_WIDTH = 60
MOST_PARTS = 500
"""Parts of a post that an explanation shows; more of them are the most similar ones."""


@router.get("/explain", response_model=ExplainAnswer)
async def explain_link(
    request: Request, service: Reader, q: str, id: Annotated[Id, Query()], task: Task | None = None
) -> Any:
    """Explain why a post is found, as a link that can be shared."""
    return await _explain(request, service, ExplainRequest(q=q, id=id, task=task))


@router.post("/explain", response_model=ExplainAnswer)
async def explain(request: Request, service: Reader, options: ExplainRequest) -> Any:
    """Explain why a post is found."""
    return await _explain(request, service, options)


async def _explain(request: Request, service: Service, options: ExplainRequest) -> Response:
    request.state.query = options.q
    response, seconds = await service.search(lambda: _explained(service, options))
    request.state.stages = seconds
    return response


def _explained(service: Service, options: ExplainRequest) -> tuple[Response, dict[str, float]]:
    started = time.perf_counter()
    task = options.task or service.index.tasks[0]
    query = read_query(service, options.q, task)
    match = of_index(lambda: _formula_match(service, query, options)) if task == "formulas" else None
    parts: dict[str, Any] = {"rows": [], "columns": [], "matrix": [], "best": []}
    post_id, formula_id, score = "", match.formula_id if match else None, 0.0
    notes = list(query.notes)
    drawing = time.perf_counter()
    if match is None or service.index.explains_posts:
        alignment = of_index(lambda: _alignment(service, query, options.id))
        drawing = time.perf_counter()
        parts, score = _parts_shown(service, query, alignment), alignment.score
        post_id, formula_id = alignment.post_id, alignment.formula_id
        if len(alignment.post) > MOST_PARTS:
            notes.append(
                f"the post has {len(alignment.post):,} parts; the {MOST_PARTS} most similar are shown"
            )
    elif match is not None:
        post_id = match.post_id
        score = sum(view.score for view in match.views) / max(1, len(match.views))
    shown = {
        "query": query_shown(query, notes),
        "id": post_id,
        "formula": formula_id,
        "score": round(score, 6),
        **parts,
        "nodes": _nodes_shown(match) if match else None,
    }
    now = time.perf_counter()
    seconds = rounded_seconds({"search": drawing - started}, now - drawing, now - started)
    return JSONResponse(shown | {"seconds": seconds}), seconds


def _parts_shown(service: Service, query: SearchQuery, alignment: Alignment) -> dict[str, Any]:
    post = of_index(lambda: service.archive.catalogue.posts([alignment.post_id])).get(alignment.post_id)
    if post is None:  # deleted since it was explained
        raise _unknown()
    chosen = _most_similar(alignment.similarities)
    similarities = alignment.similarities[:, chosen]
    query_formulas, post_formulas = formulas_with_macros(query.post), formulas_with_macros(post)
    return {
        "rows": [_part(part, query_formulas) for part in alignment.query],
        "columns": [_part(alignment.post[column], post_formulas) for column in chosen],
        "matrix": similarities.astype(float).round(4).tolist(),
        "best": [
            {"row": row, "column": int(column), "score": round(float(similarities[row, column]), 4)}
            for row, column in enumerate(similarities.argmax(axis=1))
        ],
    }


def _most_similar(similarities: npt.NDArray[np.float32]) -> list[int]:
    """Return the columns that are shown, in their order: the best one of every row, then those with the highest values."""
    columns = similarities.shape[1]
    if columns <= MOST_PARTS:
        return list(range(columns))
    best = similarities.argmax(axis=1).tolist()
    by_value = np.argsort(-similarities.max(axis=0), kind="stable").tolist()
    return sorted(list(dict.fromkeys([*best, *by_value]))[:MOST_PARTS])


def _formula_match(service: Service, query: SearchQuery, options: ExplainRequest) -> FormulaMatch | None:
    """Return the nodes that match; None if the id is that of a post."""
    try:
        return service.index.explain_formula(query, options.id)
    except UnknownPostError:
        return None


def _nodes_shown(match: FormulaMatch) -> dict[str, Any]:
    shown = match.to_json()
    try:
        picture = match.svg()
    except MathAMRError:  # too large to be drawn; the pairs of nodes are in the answer too
        picture = None
    return {name: shown[name] for name in ("by", "query", "found", "views")} | {"svg": picture}


def _alignment(service: Service, query: SearchQuery, identifier: str) -> Alignment:
    try:
        return service.index.explain(query, identifier)
    except UnknownPostError as error:
        raise _unknown() from error
    except NoVectorsError as error:
        LOG.info("there is nothing to explain: %s", error)
        message = "this entry has too few words and formulas to be compared with a query, part by part"
        raise ApiError("invalid", message, "id") from error


def _unknown() -> ApiError:
    return ApiError("unknown_post", "there is no post or formula of that id in the index", "id")


def _part(part: AlignedPart, formulas: FormulasById) -> dict[str, Any]:
    is_document = part.level == "document"
    return {
        "kind": part.level,
        "label": part.label(LABEL_WIDTH),
        "pieces": fragment_pieces(part.fragments, formulas),
        "formula": part.reference if part.level == "formula" else None,
        "field": part.field,
        "start": None if is_document else part.start,
        "end": None if is_document else part.end,
    }
