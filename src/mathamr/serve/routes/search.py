"""Search and explain."""

from __future__ import annotations

import logging
import time
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from mathamr.core.errors import MathAMRError, ParseError
from mathamr.index.engines.entry import Filter
from mathamr.index.storage import NoVectorsError
from mathamr.posts.markup import pieces
from mathamr.posts.post import Formula, Post
from mathamr.posts.postkind import PostKind
from mathamr.search.fragment import shortened
from mathamr.search.grouping import Grouping
from mathamr.search.query import EmptyQueryError
from mathamr.search.query import Query as SearchQuery
from mathamr.search.searcher import UnknownPostError
from mathamr.serve.answercache import JsonAnswer
from mathamr.serve.answers import ExplainAnswer, SearchAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.rendering import (
    LONGEST_FORMULA,
    Drawn,
    FormulasById,
    draw_formula,
    draw_marked,
    formulas_with_macros,
    fragment_pieces,
    place_shown,
    shown_pieces,
    source_shown,
)
from mathamr.serve.requests import Date, ExplainRequest, FilterRequest, Id, SearchRequest, Strategy, Word
from mathamr.serve.service import Reader, Service, of_index, of_request
from mathamr.systems.ranking import Task

if TYPE_CHECKING:
    import numpy.typing as npt

    from mathamr.search.alignment import AlignedPart, Alignment
    from mathamr.search.filtercounts import FilterCounts
    from mathamr.search.formulamatch import FormulaMatch
    from mathamr.search.hits import FormulaHit, Hit

router = APIRouter(tags=["search"])
LOG = logging.getLogger("mathamr.serve")
LABEL_WIDTH = 60
TITLE_WIDTH = 1000
"""Characters of a title that a hit shows."""
MOST_TAGS = 100
"""Tags of a post that a hit shows."""
COUNTED = 200
"""Results of which kinds, tags and folders are counted."""
MOST_COUNTS = 200
"""Kinds, tags and folders of which a search tells the counts, each."""
MOST_PARTS = 500
"""Parts of a post that an explanation shows; more of them are the most similar ones."""


@router.get("/search", response_model=SearchAnswer)
async def search_link(
    request: Request,
    service: Reader,
    q: Annotated[
        str, Query(description="text with `$latex$` and conditions, such as `tag:name` and `-word`")
    ],
    task: Task | None = None,
    strategy: Strategy | None = None,
    k: Annotated[int, Query(ge=1, le=2**31)] = 10,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    exact: bool | None = None,
    kind: Annotated[Sequence[PostKind], Query()] = (),
    tag: Annotated[Sequence[Word], Query()] = (),
    source: Annotated[Sequence[Word], Query()] = (),
    folder: Annotated[Sequence[Word], Query()] = (),
    after: Annotated[Date | None, Query()] = None,
    before: Annotated[Date | None, Query()] = None,
    minimum_score: Annotated[int | None, Query(ge=-(2**53), le=2**53)] = None,
    counts: bool = False,
    group: Grouping | None = None,
) -> Any:
    """Hits for a query, as a link that can be shared."""
    where = FilterRequest(
        kinds=list(kind),
        tags=list(tag),
        sources=list(source),
        folders=list(folder),
        after=after,
        before=before,
        minimum_score=minimum_score,
    )
    return await _search(
        request,
        service,
        SearchRequest(
            q=q,
            task=task,
            strategy=strategy,
            k=k,
            offset=offset,
            exact=exact,
            filter=where,
            counts=counts,
            group=group,
        ),
    )


@router.post("/search", response_model=SearchAnswer)
async def search(request: Request, service: Reader, options: SearchRequest) -> Any:
    """Hits for a query."""
    return await _search(request, service, options)


@router.get("/explain", response_model=ExplainAnswer)
async def explain_link(
    request: Request, service: Reader, q: str, id: Annotated[Id, Query()], task: Task | None = None
) -> Any:
    """Why a post is found, as a link that can be shared."""
    return await _explain(request, service, ExplainRequest(q=q, id=id, task=task))


@router.post("/explain", response_model=ExplainAnswer)
async def explain(request: Request, service: Reader, options: ExplainRequest) -> Any:
    """Why a post is found."""
    return await _explain(request, service, options)


async def _search(request: Request, service: Service, options: SearchRequest) -> Response:
    """Searches, and returns JSON that is not validated against the schema once more."""
    request.state.query = options.q
    limits = service.limits
    if options.k > limits.k:
        raise ApiError("invalid", f"k may be at most {limits.k}", "k")
    if options.offset + options.k > limits.depth:
        raise ApiError("invalid", f"offset and k may reach at most place {limits.depth}", "offset")
    where = _filter(service, options.filter)
    answer = await service.search(lambda: _answered(service, options, where))
    request.state.stages = answer.seconds
    service.metrics.query(answer.seconds)
    return Response(answer.body, media_type="application/json")


def _checked_task(service: Service, options: SearchRequest) -> Task:
    """The task; refuses a task or a strategy that the system of the index does not have."""
    task = options.task or service.index.tasks[0]
    if task not in service.index.tasks:
        raise ApiError("invalid", f"this index can look for {', '.join(service.index.tasks)}", "task")
    if options.group and task != "answers":
        raise ApiError("invalid", "formulas are not grouped; leave group out", "group")
    if options.strategy is None:
        return task
    known = of_index(lambda: service.index.strategies(task))
    if options.strategy not in known:
        raise ApiError("invalid", f"known strategies are {', '.join(known)}", "strategy")
    return task


def _answered(service: Service, options: SearchRequest, where: Filter) -> JsonAnswer:
    """The answer to a query, from the cache if it was given for the same revision of the index."""
    started = time.perf_counter()
    task = _checked_task(service, options)
    revision = service.archive.settled_revision
    if revision is None:
        return _searched(service, options, task, where, started)
    key = f"{revision} {options.model_dump_json()}"
    answer = service.answers.get(key)
    if answer is None:
        answer = _searched(service, options, task, where, started)
        service.answers.put(key, answer)
        return answer
    no_time = dict.fromkeys(answer.seconds, 0.0)
    return answer.with_seconds(no_time | _seconds({}, 0.0, time.perf_counter() - started))


def _searched(
    service: Service, options: SearchRequest, task: Task, where: Filter, started: float
) -> JsonAnswer:
    query = _query(service, options.q, task)
    where = of_request(lambda: service.index.within(options.filter.folders, where), "folders")
    of_request(lambda: service.index.narrowed(query, where), "q")
    parse = time.perf_counter() - started
    hits = of_index(
        lambda: service.index.search(
            query,
            task=task,
            strategy=options.strategy,
            k=options.k,
            offset=options.offset,
            exact=options.exact,
            where=where,
            counted=COUNTED if options.counts else 0,
            group=options.group,
        )
    )
    drawing = time.perf_counter()
    shown = shown_hits(service, hits)
    answer = {
        "query": _query_shown(query, hits.notes),
        "task": task,
        "strategy": hits.strategy,
        "k": options.k,
        "offset": options.offset,
        "more": hits.more,
        "found": hits.found,
        "absent": list(hits.absent),
        "counts": _counts_shown(hits.counts) if hits.counts else None,
        "hits": shown,
    }
    now = time.perf_counter()
    return JsonAnswer.of(answer, _seconds({**hits.seconds, "parse": parse}, now - drawing, now - started))


def shown_hits(service: Service, hits: Iterable[Hit]) -> list[dict[str, Any]]:
    """Hits as JSON, with their formulas drawn."""
    hits = list(hits)
    every = [each for hit in hits for each in (hit, *hit.others)]
    formulas = {id: formulas_with_macros(post) for id, post in _posts(service, every).items()}

    def shown(hit: Hit) -> dict[str, Any]:
        link = service.editor_link(hit.source, hit.place)
        return _hit(hit, formulas) | {"open": link, "others": list(map(shown, hit.others))}

    return list(map(shown, hits))


def _counts_shown(counts: FilterCounts) -> dict[str, Any]:
    shown = asdict(counts)
    return {
        name: dict(islice(value.items(), MOST_COUNTS)) if isinstance(value, dict) else value
        for name, value in shown.items()
    }


async def _explain(request: Request, service: Service, options: ExplainRequest) -> Response:
    request.state.query = options.q
    response, seconds = await service.search(lambda: _explained(service, options))
    request.state.stages = seconds
    service.metrics.query(seconds)
    return response


def _explained(service: Service, options: ExplainRequest) -> tuple[Response, dict[str, float]]:
    started = time.perf_counter()
    task = options.task or service.index.tasks[0]
    query = _query(service, options.q, task)
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
        "query": _query_shown(query, notes),
        "id": post_id,
        "formula": formula_id,
        "score": round(score, 6),
        **parts,
        "nodes": _nodes_shown(match) if match else None,
    }
    now = time.perf_counter()
    seconds = _seconds({"search": drawing - started}, now - drawing, now - started)
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
    """The columns that are shown, in their order: the best one of every row, then those with the highest values."""
    columns = similarities.shape[1]
    if columns <= MOST_PARTS:
        return list(range(columns))
    best = similarities.argmax(axis=1).tolist()
    by_value = np.argsort(-similarities.max(axis=0), kind="stable").tolist()
    return sorted(list(dict.fromkeys([*best, *by_value]))[:MOST_PARTS])


def _formula_match(service: Service, query: SearchQuery, options: ExplainRequest) -> FormulaMatch | None:
    """The nodes that match; None if the id is that of a post."""
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


def _query(service: Service, text: str, task: Task) -> SearchQuery:
    """Parses a query, and checks it against the limits."""
    limits = service.limits
    if len(text) > limits.query_characters:
        raise _too_long(len(text), limits.query_characters, "characters")
    try:
        query = of_request(lambda: SearchQuery.of_text(text, task, macros=service.index.macros), "q")
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


def _filter(service: Service, options: FilterRequest) -> Filter:
    """The filter without its folders, which only the index knows; it is checked without the index."""
    count = len(options.kinds) + len(options.tags) + len(options.sources) + len(options.folders)
    if count > service.limits.filters:
        raise ApiError(
            "invalid", f"a filter may have at most {service.limits.filters} values, not {count}", "filter"
        )
    where = Filter(
        kinds=tuple(options.kinds),
        tags=tuple(options.tags),
        after=options.after,
        before=options.before,
        minimum_score=options.minimum_score,
        sources=tuple(options.sources),
    )
    of_request(lambda: where.times, "after or before")
    return where


def _posts(service: Service, hits: Iterable[Hit]) -> dict[str, Post]:
    """The posts whose formulas are shown: only the post knows the macros and the MathML of a formula."""
    ids = dict.fromkeys(id for hit in hits for id in (hit.id, hit.parent) if id)
    return of_index(lambda: service.archive.catalogue.posts(list(ids)))


def _hit(hit: Hit, by_post: Mapping[str, FormulasById]) -> dict[str, Any]:
    formulas = ChainMap(*(by_post[id] for id in (hit.id, hit.parent) if id and id in by_post))
    shown: dict[str, Any] = {
        name: getattr(hit, name)
        for name in ("id", "rank", "match", "reason", "kind", "parent", "date", "votes")
    }
    found = None
    if hit.formula is not None:
        formula, macros = formulas.get(hit.formula.own_id, (Formula("", hit.formula.latex), ()))
        # A formula that stands alone is set in display style; in text style a binomial has smaller parentheses.
        drawn = _drawn_hit(replace(formula, display=True), macros, hit.formula)
        found = hit.formula.to_json() | {"mathml": drawn.mathml, "latex": hit.formula.latex[:LONGEST_FORMULA]}
    return shown | {
        "score": round(hit.score, 6),
        "share": round(hit.share, 4),
        "source": source_shown(hit.source),
        "place": place_shown(hit.place),
        "title": fragment_pieces(shortened(hit.title, TITLE_WIDTH), formulas),
        "snippet": fragment_pieces(hit.snippet, formulas),
        "tags": list(hit.tags[:MOST_TAGS]),
        "evidence": {name: round(float(score), 6) for name, score in hit.evidence.items()},
        "formula": found,
    }


def _drawn_hit(formula: Formula, macros: tuple[str, ...], found: FormulaHit) -> Drawn:
    """The formula with its matched parts marked; one that cannot be marked loses only its marks."""
    try:
        return draw_marked(formula, macros, found.matched_nodes, found.taken_nodes)
    except Exception:
        LOG.exception("formula %s cannot be marked", formula.id)
        return draw_formula(formula, macros)


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


def _query_shown(query: SearchQuery, notes: Sequence[str]) -> dict[str, Any]:
    shown = list(shown_pieces(pieces(query.text, query.post.markup), query.post.macros))
    return {"text": query.text, "pieces": shown, "notes": list(notes)}


def _seconds(stages: Mapping[str, float], render: float, total: float) -> dict[str, float]:
    return {name: round(value, 5) for name, value in {**stages, "render": render, "total": total}.items()}
