"""Posts: read, put, delete, and their graphs."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse

from mathamr.core.errors import MathAMRError
from mathamr.graphs import notation
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.guarded import TooMuchWorkError
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.picture import picture
from mathamr.graphs.virtual import flatten
from mathamr.index.indexing.analysis import AnalysedPost, Unusable
from mathamr.index.indexing.guarded import MOST_REPAIRS, GuardedReading, ReadPost
from mathamr.posts.decoding import clean_text
from mathamr.posts.formats.jsonlines import markup_of
from mathamr.posts.identifiers import check_id
from mathamr.posts.post import Post
from mathamr.posts.rendering.drawing import draw_formula
from mathamr.posts.rendering.posthtml import body_html, title_html
from mathamr.posts.report import Report
from mathamr.search.fragment import plain
from mathamr.search.library import PROFILE, close_enough
from mathamr.search.searcher import Index
from mathamr.search.similarposts import beginning
from mathamr.serve.answers import BesideAnswer, DeleteAnswer, PostAnswer, PostsAnswer, PutAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.pieces import formula_piece, title_shown
from mathamr.serve.relatedposts import references, related_posts
from mathamr.serve.requests import GraphFormat, Id, PostRequest, PostsRequest, Trees
from mathamr.serve.routes import ANY
from mathamr.serve.service import Reader, Service, Writer, of_index

router = APIRouter(tags=["posts"])
PICTURE = "image/svg+xml"
LONGEST_TITLE = 10_000
"""Characters of a title that are shown."""
MOST_LINKS = 500
"""Links and tags of a post that are shown, each."""
AT_A_TIME = 100_000
"""Characters of posts for whose graphs a write may take the seconds of one piece of work once more."""
_UNREACHABLE = frozenset([".", ".."])
_TEXTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {PICTURE: {"schema": {"type": "string"}}, "text/plain": {"schema": {"type": "string"}}}}
}


@router.get(f"/posts/{{id:{ANY}}}", response_model=PostAnswer)
async def post(service: Reader, id: Annotated[Id, Path()]) -> Any:
    """Return a post: safe HTML with MathML, its formulas, and its text as it was written."""
    return await service.read(lambda: JSONResponse(_shown(service, id)))


@router.put(f"/posts/{{id:{ANY}}}", response_model=PutAnswer, responses={201: {"model": PutAnswer}})
async def put(service: Writer, response: Response, id: Annotated[Id, Path()], fields: PostRequest) -> Any:
    """Add a post or replace it; when this answers, it is on disk and every later search finds it."""
    started = time.perf_counter()
    post = _post(id, fields)
    (written,) = await service.write(lambda: _put(service, [post]))
    response.status_code = 201 if written["created"] else 200
    return written | {"seconds": round(time.perf_counter() - started, 4)}


@router.post("/posts", response_model=PostsAnswer)
async def put_many(service: Writer, batch: PostsRequest) -> Any:
    """Add or replace several posts, all of them or none."""
    started = time.perf_counter()
    if len(batch.posts) > service.limits.posts:
        raise ApiError("invalid", f"one write may have at most {service.limits.posts} posts", "posts")
    if len({each.id for each in batch.posts}) < len(batch.posts):
        raise ApiError("invalid", "two of the posts have the same id", "posts")
    posts = [_post(each.id, each) for each in batch.posts]
    written = await service.write(lambda: _put(service, posts))
    return {"posts": written, "seconds": round(time.perf_counter() - started, 4)}


@router.delete(f"/posts/{{id:{ANY}}}", response_model=DeleteAnswer)
async def delete(service: Writer, id: Annotated[Id, Path()]) -> Any:
    """Delete a post; when this answers, no later search finds it."""
    if not await service.write(lambda: of_index(lambda: service.archive_writer().delete([id]))):
        raise _unknown()
    return {"id": id, "deleted": True}


@router.get(f"/graphs/{{id:{ANY}}}", response_class=Response, responses=_TEXTS)
async def graph(
    service: Reader, id: Annotated[Id, Path()], format: GraphFormat = "penman", formulas: Trees = "both"
) -> Any:
    """Return the MathAMR+ graph of a post, as Penman text or as a picture."""
    return await service.draw(lambda: _graph(service, id, format, formulas))


@router.get(f"/beside/{{id:{ANY}}}", response_model=BesideAnswer)
async def beside(
    service: Reader, id: Annotated[Id, Path()], k: Annotated[int, Query(ge=1, le=20)] = 5
) -> Any:
    """Return the posts of the other index that correspond to a post: for a theorem of notes its declarations in a formal
    library, or the reverse.
    """
    if service.beside is None:
        raise ApiError("unknown_post", "the server has no other index; start it with --beside DIR", "id")
    other, asked = service.beside, await service.read(lambda: _stored(service, id))
    return await service.search(lambda: of_index(lambda: _corresponding(service, other, asked, k)))


def _corresponding(service: Service, other: Index, asked: Post, k: int) -> JSONResponse:
    hits = other.search(beginning(asked), k=k)
    posts = other.archive.catalogue.posts([hit.id for hit in hits])
    shown = [
        {
            "id": hit.id,
            "kind": hit.kind,
            "title": plain(hit.title),
            "html": body_html(posts[hit.id], service.limits.shown_characters),
            "match": hit.match,
            **service.origin(hit.source, hit.place),
            "documentation": PROFILE.address(posts[hit.id]),
        }
        for hit in hits
        if hit.id in posts
    ]
    return JSONResponse({"index": service.beside_name, "found": close_enough(hits), "hits": shown})


def _unknown() -> ApiError:
    return ApiError("unknown_post", "there is no post of that id in the index", "id")


def _stored(service: Service, id: str) -> Post:
    found = of_index(lambda: service.archive.catalogue.posts([id])).get(id)
    if found is None:
        raise _unknown()
    return found


def _shown(service: Service, id: str) -> dict[str, Any]:
    catalogue, longest = service.archive.catalogue, service.limits.shown_characters
    stored = _stored(service, id)
    entries = of_index(lambda: catalogue.formulas_of(id))
    answers = of_index(lambda: catalogue.answers(id))
    names = [entry.id for entry in sorted(entries, key=lambda entry: entry.position)]
    if len(stored.title) > LONGEST_TITLE:  # without its formulas, whose numbers begin with those of the title
        stored = replace(stored, title=stored.title[:LONGEST_TITLE], formulas=())
    return {
        "id": id,
        "kind": stored.kind,
        "title": title_shown(stored, names),
        "title_html": title_html(stored, names),
        "html": body_html(stored, longest, names, of_index(lambda: references(catalogue, stored))),
        "truncated": len(stored.body) > longest,
        "markup": stored.markup,
        "source_title": stored.title,
        "source_body": stored.body[:longest],
        "tags": list(stored.tags[:MOST_LINKS]),
        "parent": stored.parent,
        "accepted_answer": stored.accepted_answer,
        "answers": [answer.id for answer in answers],
        "neighbours": of_index(lambda: related_posts(catalogue, stored, answers)),
        "date": stored.date,
        "votes": stored.score,
        **service.origin(stored.source, stored.place),
        "documentation": PROFILE.address(stored),
        "beside": service.beside_name,
        "links": [
            {"target": link.target, "type": link.type, "words": link.words, "label": link.label}
            for link in stored.links[:MOST_LINKS]
        ],
        "formulas": [
            formula_piece(
                entry.formula.latex,
                draw_formula(entry.formula, stored.macros),
                entry.id,
                display=entry.formula.display,
            )
            for entry in entries[: service.limits.drawn_nodes]
        ],
    }


def _post(id: str, fields: PostRequest) -> tuple[Post, list[str]]:
    """Return the post as a reader of files would make it, but for its formulas, and what had to be repaired."""
    if id in _UNREACHABLE:
        raise ApiError("invalid", 'an id may not be "." or "..": no URL can name such a post', "id")
    if not (fields.body.strip() or fields.title.strip()):
        raise ApiError("invalid", "a post needs a body or a title", "body")
    for name, identifier in (
        ("id", id),
        ("parent", fields.parent),
        ("accepted_answer", fields.accepted_answer),
    ):
        if identifier is not None:
            _check_id(identifier, name)
    report = Report()
    body, title = clean_text(fields.body, report), clean_text(fields.title, report)
    markup = fields.markup or markup_of(body)
    post = Post(
        id=id,
        kind=fields.kind or ("answer" if fields.parent else "note"),
        body=body,
        title=title,
        markup=markup,
        parent=fields.parent,
        accepted_answer=fields.accepted_answer,
        tags=tuple(clean_text(tag, report) for tag in fields.tags),
        score=fields.score,
        date=fields.date,
        source=clean_text(fields.source, report),
        macros=tuple(clean_text(macro, report) for macro in fields.macros),
    )
    return post, report.lines()


def _check_id(identifier: str, field: str) -> None:
    try:
        check_id(identifier)
    except MathAMRError as error:
        raise ApiError("invalid", str(error), field) from error


def _put(service: Service, posts: list[tuple[Post, list[str]]]) -> list[dict[str, Any]]:
    catalogue = service.archive.catalogue
    known = of_index(lambda: {post.id for post, _ in posts if post.id in catalogue})
    read = of_index(lambda: _write(service, [post for post, _ in posts]))
    return [
        {
            "id": found.post.id,
            "created": found.post.id not in known,
            "formulas": len(found.post.formulas),
            "notes": (cleaned + found.repairs)[:MOST_REPAIRS],
        }
        for found, (_, cleaned) in zip(read, posts, strict=True)
    ]


def _write(service: Service, posts: list[Post]) -> list[ReadPost]:
    try:
        limits = service.limits
        read = GuardedReading.within(limits.seconds).read(posts, limits.written_formulas)
        analysed: list[AnalysedPost] = []
        for found in read:
            if isinstance(found.analysed, Unusable):
                raise ApiError("invalid", found.analysed.message, "body")
            analysed.append(found.analysed)
        written = [found.post for found in read]
        length = sum(len(post.title) + len(post.body) for post in written)
        service.archive_writer().put(written, analysed, limits.seconds * (1 + length / AT_A_TIME))
    except TooMuchWorkError as error:
        raise ApiError("too_complex", str(error), "body") from error
    return read


def _made(service: Service, id: str) -> MathGraph:
    try:
        return service.archive.graph(id)
    except TooMuchWorkError as error:
        raise ApiError("too_complex", str(error)) from error


def _graph(service: Service, id: str, format: GraphFormat, formulas: Trees) -> Any:
    _stored(service, id)
    try:
        found: MathGraph = of_index(lambda: _made(service, id))
    except ApiError:
        _stored(service, id)  # it may have been deleted meanwhile
        raise
    flat = flatten(found, GraphConfiguration(formulas=formulas))
    if len(flat.labels) > service.limits.drawn_nodes:
        raise ApiError(
            "too_complex",
            f"the graph has {len(flat.labels)} nodes; at most {service.limits.drawn_nodes} are shown",
        )
    if format == "svg":
        return Response(picture(found, formulas).encode("utf-8", "replace"), media_type=PICTURE)
    return Response(notation.write(found, formulas).encode("utf-8", "replace"), media_type="text/plain")
