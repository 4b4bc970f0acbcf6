"""Routes that search and explain hits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from mathamr.core.errors import MathAMRError, ParseError
from mathamr.index.engines.entry import Filter
from mathamr.posts.markup import pieces
from mathamr.posts.post import Formula, Post
from mathamr.posts.postkind import PostKind
from mathamr.search.query import EmptyQueryError
from mathamr.search.query import Query as SearchQuery
from mathamr.search.searcher import UnknownPostError
from mathamr.serve.answers import WrittenAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.rendering import (
    draw_marked,
    fragment_pieces,
    place_shown,
    shown_pieces,
    source_shown,
)
from mathamr.serve.schemas import (
    Date,
    ExplainAnswer,
    ExplainRequest,
    FilterRequest,
    Id,
    SearchAnswer,
    SearchRequest,
    Strategy,
    Word,
)
from mathamr.serve.service import Reader, Service, of_index, of_request
from mathamr.systems.ranking import Task

if TYPE_CHECKING:
    from mathamr.search.alignment import AlignedPart, Alignment
    from mathamr.search.formulamatch import FormulaMatch
    from mathamr.search.hits import Hit

router = APIRouter(tags=["search"])
LABEL_WIDTH = 60


@router.get("/search", response_model=SearchAnswer)
async def search_link(
    request: Request,
    service: Reader,
    q: Annotated[str, Query(description="text with `$latex$`")],
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
        SearchRequest(q=q, task=task, strategy=strategy, k=k, offset=offset, exact=exact, filter=where),
    )


@router.post("/search", response_model=SearchAnswer)
async def search(request: Request, service: Reader, body: SearchRequest) -> Any:
    """Hits for a query."""
    return await _search(request, service, body)


@router.get("/explain", response_model=ExplainAnswer)
async def explain_link(
    request: Request, service: Reader, q: str, id: Annotated[Id, Query()], task: Task | None = None
) -> Any:
    """Why a post is found, as a link that can be shared."""
    return await _explain(request, service, ExplainRequest(q=q, id=id, task=task))


@router.post("/explain", response_model=ExplainAnswer)
async def explain(request: Request, service: Reader, body: ExplainRequest) -> Any:
    """Why a post is found."""
    return await _explain(request, service, body)


async def _search(request: Request, service: Service, body: SearchRequest) -> Response:
    """Returns the answer as serialised JSON, which skips FastAPI's validation of the response."""
    request.state.query = body.q
    limits = service.limits
    if body.k > limits.k:
        raise ApiError("invalid", f"k may be at most {limits.k}", "k")
    if body.offset + body.k > limits.depth:
        raise ApiError("invalid", f"offset and k may reach at most place {limits.depth}", "offset")
    task = body.task or service.index.tasks[0]
    _check_strategy(service, body, task)
    where = _filter(service, body.filter)
    answer = await service.search(lambda: _answer(service, body, task, where))
    request.state.stages = answer.seconds
    service.metrics.query(answer.seconds)
    return Response(answer.body, media_type="application/json")


def _check_strategy(service: Service, body: SearchRequest, task: Task) -> None:
    """Raises if the index's system does not support the task or the strategy."""
    if task not in service.index.tasks:
        raise ApiError("invalid", f"this index can search for {', '.join(service.index.tasks)}", "task")
    if body.strategy is None:
        return
    known = service.index.strategies(task)
    if body.strategy not in known:
        raise ApiError("invalid", f"known strategies are {', '.join(known)}", "strategy")


def _answer(service: Service, body: SearchRequest, task: Task, where: Filter) -> WrittenAnswer:
    """Answers a query from the cache, or searches and caches the answer; a cached answer reports 0 seconds for its stages."""
    started = time.perf_counter()
    revision = service.archive.settled_revision
    if revision is None:
        return _search_index(service, body, task, where, started)
    key = f"{revision} {body.model_dump_json()}"
    answer = service.answers.get(key)
    if answer is None:
        answer = _search_index(service, body, task, where, started)
        service.answers.put(key, answer)
        return answer
    no_stages = dict.fromkeys(answer.seconds, 0.0)
    return answer.taking(no_stages | _seconds({}, 0.0, time.perf_counter() - started))


def _search_index(
    service: Service, body: SearchRequest, task: Task, where: Filter, started: float
) -> WrittenAnswer:
    query = _query(service, body.q, task)
    parse = time.perf_counter() - started
    hits = of_index(
        lambda: service.index.search(
            query,
            task=task,
            strategy=body.strategy,
            k=body.k,
            offset=body.offset,
            exact=body.exact,
            where=where,
        )
    )
    drawing = time.perf_counter()
    posts = _posts(service, hits)
    shown = [_hit(hit, posts) | {"open": service.opened(hit.source, hit.place)} for hit in hits]
    answer = {
        "query": _query_shown(query, hits.notes),
        "task": task,
        "strategy": hits.strategy,
        "k": body.k,
        "offset": body.offset,
        "more": hits.more,
        "hits": shown,
    }
    now = time.perf_counter()
    return WrittenAnswer.of(answer, _seconds({**hits.seconds, "parse": parse}, now - drawing, now - started))


async def _explain(request: Request, service: Service, body: ExplainRequest) -> dict[str, Any]:
    request.state.query = body.q
    answer = await service.search(lambda: _explained(service, body))
    request.state.stages = answer["seconds"]
    service.metrics.query(answer["seconds"])
    return answer


def _explained(service: Service, body: ExplainRequest) -> dict[str, Any]:
    started = time.perf_counter()
    task = body.task or service.index.tasks[0]
    query = _query(service, body.q, task)
    match = of_index(lambda: _formula_match(service, query, body)) if task == "formulas" else None
    parts: dict[str, Any] = {"rows": [], "columns": [], "matrix": [], "best": []}
    post_id, formula_id, score = "", match.formula_id if match else None, 0.0
    drawing = time.perf_counter()
    if match is None or service.index.explains_posts:
        alignment = of_index(lambda: _alignment(service, query, body.id))
        drawing = time.perf_counter()
        parts, score = _parts_shown(service, query, alignment), alignment.score
        post_id, formula_id = alignment.post_id, alignment.formula_id
    elif match is not None:
        post_id = match.post_id
        score = sum(view.score for view in match.views) / max(1, len(match.views))
    shown = {
        "query": _query_shown(query, query.notes),
        "id": post_id,
        "formula": formula_id,
        "score": round(score, 6),
        **parts,
        "nodes": _nodes_shown(match) if match else None,
    }
    now = time.perf_counter()
    return shown | {"seconds": _seconds({"search": drawing - started}, now - drawing, now - started)}


def _parts_shown(service: Service, query: SearchQuery, alignment: Alignment) -> dict[str, Any]:
    post = of_index(lambda: service.archive.catalogue.posts([alignment.post_id])).get(alignment.post_id)
    if post is None:  # deleted since it was explained
        raise _unknown()
    rows, columns = (
        [_part(part, post) for part in parts]
        for parts, post in ((alignment.query, query.post), (alignment.post, post))
    )
    best = alignment.similarities.argmax(axis=1)
    return {
        "rows": rows,
        "columns": columns,
        "matrix": [[round(float(value), 4) for value in row] for row in alignment.similarities],
        "best": [
            {"row": row, "column": int(column), "score": round(float(alignment.similarities[row, column]), 4)}
            for row, column in enumerate(best)
        ],
    }


def _formula_match(service: Service, query: SearchQuery, body: ExplainRequest) -> FormulaMatch | None:
    """The nodes of a formula that match; None if the id is that of a post."""
    try:
        return service.index.explain_formula(query, body.id)
    except UnknownPostError:
        return None


def _nodes_shown(match: FormulaMatch) -> dict[str, Any]:
    shown = match.to_json()
    try:
        picture = match.svg()
    except MathAMRError:  # too large to draw: the pairs hold the same information
        picture = None
    return {name: shown[name] for name in ("by", "query", "found", "views")} | {"svg": picture}


def _alignment(service: Service, query: SearchQuery, identifier: str) -> Alignment:
    try:
        return service.index.explain(query, identifier)
    except UnknownPostError as error:
        raise _unknown() from error


def _unknown() -> ApiError:
    return ApiError("unknown_post", "there is no post or formula of that id in the index", "id")


def _query(service: Service, text: str, task: Task) -> SearchQuery:
    """Parses the query as it was typed; every problem with it is reported to the client."""
    limits = service.limits
    if len(text) > limits.query_characters:
        raise _too_long(len(text), limits.query_characters, "characters")
    try:
        query = of_request(lambda: SearchQuery.of_text(text, task), "q")
    except ApiError as error:
        if isinstance(error.__cause__, EmptyQueryError):
            raise ApiError("empty_query", error.message, "q") from error
        if isinstance(error.__cause__, ParseError) and error.offset is not None:
            # The offset counts from the formula's start; the client needs it from the start of the query.
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


def _filter(service: Service, body: FilterRequest) -> Filter:
    if len(body.kinds) + len(body.tags) + len(body.sources) + len(body.folders) > service.limits.filters:
        raise ApiError("invalid", f"a filter may have at most {service.limits.filters} values", "filter")
    where = Filter(
        kinds=tuple(body.kinds),
        tags=tuple(body.tags),
        after=body.after,
        before=body.before,
        minimum_score=body.minimum_score,
        sources=tuple(body.sources),
    )
    of_request(lambda: where.times, "after or before")
    return of_request(lambda: service.index.within(body.folders, where), "folders")


def _posts(service: Service, hits: Iterable[Hit]) -> dict[str, Post]:
    """The posts whose formulas are shown; only a post knows the macros and the MathML of its formulas."""
    ids = dict.fromkeys(id for hit in hits for id in (hit.id, hit.parent) if id)
    return of_index(lambda: service.archive.catalogue.posts(list(ids)))


def _hit(hit: Hit, posts: Mapping[str, Post]) -> dict[str, Any]:
    own = [posts[id] for id in (hit.id, hit.parent) if id and id in posts]
    formulas = {formula.id: (formula, post.macros) for post in reversed(own) for formula in post.formulas}
    shown: dict[str, Any] = {
        name: getattr(hit, name) for name in ("id", "rank", "kind", "parent", "date", "votes")
    }
    found = None
    if hit.formula is not None:
        formula, macros = formulas.get(hit.formula.own_id, (Formula("", hit.formula.latex), ()))
        # It stands alone, so it is set in display style; inline style would give its binomials small parentheses.
        drawn = draw_marked(replace(formula, display=True), macros, hit.formula.matched_nodes)
        found = hit.formula.to_json() | {"mathml": drawn.mathml}
    return shown | {
        "score": round(hit.score, 6),
        "share": round(hit.share, 4),
        "source": source_shown(hit.source),
        "place": place_shown(hit.place),
        "title": fragment_pieces(hit.title, formulas),
        "snippet": fragment_pieces(hit.snippet, formulas),
        "tags": list(hit.tags),
        "evidence": {name: round(float(score), 6) for name, score in hit.evidence.items()},
        "formula": found,
    }


def _part(part: AlignedPart, post: Post) -> dict[str, Any]:
    formulas = {formula.id: (formula, post.macros) for formula in post.formulas}
    is_whole = part.level == "document"
    return {
        "kind": part.level,
        "label": part.label(LABEL_WIDTH),
        "pieces": fragment_pieces(part.fragments, formulas),
        "formula": part.reference if part.level == "formula" else None,
        "field": part.field,
        "start": None if is_whole else part.start,
        "end": None if is_whole else part.end,
    }


def _query_shown(query: SearchQuery, notes: Sequence[str]) -> dict[str, Any]:
    shown = list(shown_pieces(pieces(query.text, query.post.markup)))
    return {"text": query.text, "pieces": shown, "notes": list(notes)}


def _seconds(stages: Mapping[str, float], render: float, total: float) -> dict[str, float]:
    return {name: round(value, 5) for name, value in {**stages, "render": render, "total": total}.items()}
