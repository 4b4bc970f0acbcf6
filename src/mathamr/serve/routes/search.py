"""The routes of search."""

from __future__ import annotations

import logging
import time
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from mathamr.index.engines.entry import Filter
from mathamr.posts.post import Formula, Post
from mathamr.posts.postkind import PostKind
from mathamr.posts.rendering.drawing import LONGEST_FORMULA, Drawn, draw_formula, draw_marked
from mathamr.search.collections import Collections
from mathamr.search.fragment import shortened
from mathamr.search.grouping import Grouping
from mathamr.serve.answercache import JsonAnswer
from mathamr.serve.answers import SearchAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.pieces import (
    FormulasById,
    formulas_with_macros,
    fragment_pieces,
)
from mathamr.serve.queryreading import query_shown, read_query, rounded_seconds
from mathamr.serve.requests import Date, FilterRequest, SearchRequest, Strategy, Word
from mathamr.serve.service import Reader, Service, of_index, of_request
from mathamr.systems.ranking import Task

if TYPE_CHECKING:
    from mathamr.search.filtercounts import FilterCounts
    from mathamr.search.hits import FormulaHit, Hit, Hits
    from mathamr.search.query import Query as AskedQuery
    from mathamr.search.searcher import Index

router = APIRouter(tags=["search"])
LOG = logging.getLogger("mathamr.serve")
TITLE_WIDTH = 1000
"""Characters of a title that a hit shows."""
MOST_TAGS = 100
"""Tags of a post that a hit shows."""
COUNTED = 200
"""Results of which kinds, tags and folders are counted."""
MOST_COUNTS = 200
"""The most kinds, tags and folders, each, whose counts an answer lists."""


@router.get("/search", response_model=SearchAnswer)
async def search_link(
    request: Request,
    service: Reader,
    q: Annotated[
        str, Query(description="text with `$latex$` and conditions, such as `tag:name` and `-word`")
    ],
    task: Annotated[
        Task | None,
        Query(
            description="`answers` (the usual one, if the index has posts) finds posts, `formulas` finds formulas and the posts they stand in"
        ),
    ] = None,
    strategy: Annotated[
        Strategy | None,
        Query(
            description="`hybrid` (the usual one), `fused` (answers alone), `maxsim`, `rerank`, `single` or `lexical`"
        ),
    ] = None,
    k: Annotated[int, Query(ge=1, le=2**31, description="how many hits")] = 10,
    offset: Annotated[int, Query(ge=0, le=2**31, description="from which place on")] = 0,
    *,
    exact: Annotated[
        bool | None,
        Query(description="exact vector search instead of approximate: true unless vectors are on a server"),
    ] = None,
    kind: Annotated[
        Sequence[PostKind],
        Query(description="`question`, `answer`, `theorem` and other kinds: any of them; repeatable"),
    ] = (),
    tag: Annotated[Sequence[Word], Query(description="posts that have all of them; repeatable")] = (),
    source: Annotated[Sequence[Word], Query(description="any of these sources; repeatable")] = (),
    folder: Annotated[
        Sequence[Word],
        Query(description="files in any of these folders, named by any part of their paths; repeatable"),
    ] = (),
    after: Annotated[
        Date | None, Query(description="a date as ISO 8601: `2020`, `2020-05`, `2020-05-01`")
    ] = None,
    before: Annotated[Date | None, Query(description="a date as ISO 8601")] = None,
    minimum_score: Annotated[
        int | None, Query(ge=-(2**53), le=2**53, description="the least number of votes")
    ] = None,
    counts: Annotated[
        bool, Query(description="count kinds, tags and folders of the best 200 results")
    ] = False,
    group: Annotated[
        Grouping | None,
        Query(
            description="`document`: further sections of a document, or answers of a question, are in `others` of the best; `k` and `offset` count groups; not for formulas"
        ),
    ] = None,
) -> Any:
    """Return hits for a query, as a link that can be shared."""
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
    """Return hits for a query."""
    return await _search(request, service, options)


async def _search(request: Request, service: Service, options: SearchRequest) -> Response:
    """Search, and return JSON that is not validated against the schema once more."""
    request.state.query = options.q
    limits = service.limits
    if options.k > limits.k:
        raise ApiError("invalid", f"k may be at most {limits.k}", "k")
    if options.offset + options.k > limits.depth:
        raise ApiError("invalid", f"offset + k may be at most {limits.depth}", "offset")
    where = _filter(service, options.filter)
    work = _answered if not service.collections or "collection" in request.query_params else _of_all
    if unknown := set(options.filter.collections) - service.collections.keys():
        known = ", ".join(service.collections) or "this server has one index"
        raise ApiError("invalid", f"no collection {min(unknown)!r}: {known}", "collections")
    answer = await service.search(lambda: work(service, options, where))
    request.state.stages = answer.seconds
    return Response(answer.body, media_type="application/json")


def _checked_task(service: Service, options: SearchRequest) -> Task:
    """Return the task; refuse a task or a strategy that the system of the index does not have."""
    task = options.task or service.index.tasks[0]
    if task not in service.index.tasks:
        raise ApiError(
            "invalid", f"unknown task; this index supports {', '.join(service.index.tasks)}", "task"
        )
    if options.group and task != "answers":
        raise ApiError("invalid", "formulas are not grouped; leave group out", "group")
    if options.strategy is None:
        return task
    known = of_index(lambda: service.index.strategies(task))
    if options.strategy not in known:
        raise ApiError("invalid", f"unknown strategy; known are {', '.join(known)}", "strategy")
    return task


def _answered(service: Service, options: SearchRequest, where: Filter) -> JsonAnswer:
    """Return the answer to a query, from the cache if it was given for the same state of the index."""
    started = time.perf_counter()
    task = _checked_task(service, options)
    state = service.archive.settled_state
    if state is None:
        return _searched(service, options, task, where, started)
    key = f"{state} {options.model_dump_json()}"
    answer = service.answers.get(key)
    if answer is None:
        answer = _searched(service, options, task, where, started)
        if answer.lasts:
            service.answers.put(key, answer)
        return answer
    no_time = dict.fromkeys(answer.seconds, 0.0)
    return answer.with_seconds(no_time | rounded_seconds({}, 0.0, time.perf_counter() - started))


def _of_all(service: Service, options: SearchRequest, where: Filter) -> JsonAnswer:
    """Return the joined hits of all collections."""
    started = time.perf_counter()
    chosen = options.filter.collections
    served = {name: each for name, each in service.collections.items() if not chosen or name in chosen}
    tasks = {_checked_task(each, options) for each in served.values()}
    task = options.task or ("answers" if tasks == {"answers"} else "formulas")
    together = Collections({name: each.index for name, each in service.collections.items()})
    queries = {id(each.index): read_query(each, options.q, task) for each in served.values()}
    query = next(iter(queries.values()))
    for each in served.values():
        of_request(partial(each.index.narrowed, queries[id(each.index)], where), "q")

    def arguments(index: Index) -> dict[str, Any]:
        narrowed = of_request(lambda: index.within(options.filter.folders, where), "folders")
        counted = COUNTED if options.counts else 0
        return {"exact": options.exact, "where": narrowed, "group": options.group, "counted": counted}

    hits = of_index(
        lambda: together.search(
            lambda index: queries[id(index)],
            task,
            options.strategy,
            options.k,
            offset=options.offset,
            options=arguments,
            names=served,
        )
    )
    drawing = time.perf_counter()
    shown = {
        name: iter(shown_hits(each, [hit for hit in hits if hit.collection == name]))
        for name, each in served.items()
    }
    answer = _answer(options, task, query, hits, [next(shown[hit.collection]) for hit in hits])
    now = time.perf_counter()
    return JsonAnswer.of(answer, rounded_seconds(hits.seconds, now - drawing, now - started), lasts=False)


def _answer(
    options: SearchRequest, task: Task, query: AskedQuery, hits: Hits, shown: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "query": query_shown(query, hits.notes),
        "task": task,
        "strategy": hits.strategy,
        "k": options.k,
        "offset": options.offset,
        "more": hits.more,
        "found": hits.found,
        "absent": list(hits.absent),
        "checked": hits.checked.to_json() if hits.checked else None,
        "collections": dict(hits.collections),
        "counts": _counts_shown(hits.counts) if hits.counts else None,
        "hits": shown,
    }


def _searched(
    service: Service, options: SearchRequest, task: Task, where: Filter, started: float
) -> JsonAnswer:
    query = read_query(service, options.q, task)
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
    answer = _answer(options, task, query, hits, shown_hits(service, hits))
    now = time.perf_counter()
    return JsonAnswer.of(
        answer,
        rounded_seconds({**hits.seconds, "parse": parse}, now - drawing, now - started),
        lasts=not hits.absent and hits.found not in ("similar", "nothing"),
    )


def shown_hits(service: Service, hits: Iterable[Hit]) -> list[dict[str, Any]]:
    """Return hits as JSON, with their formulas drawn."""
    hits = list(hits)
    every = [each for hit in hits for each in (hit, *hit.others)]
    formulas = {id: formulas_with_macros(post) for id, post in _posts(service, every).items()}

    def shown(hit: Hit) -> dict[str, Any]:
        origin = service.origin(hit.source, hit.place)
        own = {"collection": hit.collection or None, "others": list(map(shown, hit.others))}
        return _hit(hit, formulas) | origin | own

    return list(map(shown, hits))


def _counts_shown(counts: FilterCounts) -> dict[str, Any]:
    shown = asdict(counts)
    return {
        name: dict(islice(value.items(), MOST_COUNTS)) if isinstance(value, dict) else value
        for name, value in shown.items()
    }


def _filter(service: Service, options: FilterRequest) -> Filter:
    """Return the filter without its folders, which only the index knows; it is checked without the index."""
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
    """Return the posts of hits that show a formula without LaTeX: only the post knows its MathML."""
    ids = dict.fromkeys(id for hit in hits if _needs_mathml(hit) for id in (hit.id, hit.parent) if id)
    return of_index(lambda: service.archive.catalogue.posts(list(ids))) if ids else {}


def _needs_mathml(hit: Hit) -> bool:
    shown = (each.text for each in (*hit.title, *hit.snippet) if each.kind == "formula")
    return not all(map(str.strip, (*shown, hit.formula.latex if hit.formula else "x")))


def _hit(hit: Hit, by_post: Mapping[str, FormulasById]) -> dict[str, Any]:
    formulas = ChainMap(*(by_post[id] for id in (hit.id, hit.parent) if id and id in by_post))
    shown: dict[str, Any] = {
        name: getattr(hit, name)
        for name in (
            "id",
            "rank",
            "match",
            "reason",
            "kind",
            "parent",
            "date",
            "votes",
            "as_of",
            "is_deleted",
        )
    }
    found = None
    if hit.formula is not None:
        formula, macros = formulas.get(hit.formula.own_id, (Formula("", hit.formula.latex), hit.macros))
        # A formula that stands alone is set in display style; in text style a binomial has smaller parentheses.
        drawn = _drawn_hit(replace(formula, display=True), macros, hit.formula)
        found = hit.formula.to_json() | {"mathml": drawn.mathml, "latex": hit.formula.latex[:LONGEST_FORMULA]}
    return shown | {
        "score": round(hit.score, 6),
        "share": round(hit.share, 4),
        "title": fragment_pieces(shortened(hit.own_title, TITLE_WIDTH), formulas, hit.macros),
        "headings": fragment_pieces(shortened(hit.headings, TITLE_WIDTH), formulas, hit.macros),
        "snippet": fragment_pieces(hit.snippet, formulas, hit.macros),
        "tags": list(hit.tags[:MOST_TAGS]),
        "evidence": {name: round(float(score), 6) for name, score in hit.evidence.items()},
        "formula": found,
    }


def _drawn_hit(formula: Formula, macros: tuple[str, ...], found: FormulaHit) -> Drawn:
    """Return the formula with its matched parts marked; one that cannot be marked loses only its marks."""
    try:
        return draw_marked(formula, macros, found.matched_nodes, found.taken_nodes)
    except Exception:
        LOG.exception("formula %s cannot be marked", formula.id)
        return draw_formula(formula, macros)
