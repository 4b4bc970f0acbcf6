"""Entries that say nearly the same."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from mathamr.search.hitbuilder import titled
from mathamr.search.similarposts import SIMILAR, SimilarPair, similar_posts, similar_to
from mathamr.search.snippet import title_of
from mathamr.serve.answers import SimilarAnswer, SimilarToAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.pieces import formulas_with_macros, fragment_pieces
from mathamr.serve.requests import Id
from mathamr.serve.routes import ANY
from mathamr.serve.routes.search import shown_hits
from mathamr.serve.service import Reader, Service, of_index

router = APIRouter(tags=["similar"])
MOST_POSTS = 5_000
"""Posts that a server compares with each other; `mathamr similar` compares more."""


@router.get("/similar", response_model=SimilarAnswer)
async def similar(
    service: Reader,
    least: Annotated[float, Query(ge=0.5, le=1)] = SIMILAR,
    k: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Any:
    """Return pairs of entries that say nearly the same, in other words or with renamed variables."""
    return await service.search(lambda: JSONResponse({"pairs": _pairs(service, least, k)}))


@router.get(f"/similar/{{id:{ANY}}}", response_model=SimilarToAnswer)
async def similar_entries(
    service: Reader, id: Annotated[Id, Path()], k: Annotated[int, Query(ge=1, le=50)] = 5
) -> Any:
    """Return entries that say something similar to one of the index."""
    return await service.search(lambda: JSONResponse({"hits": _similar_to(service, id, k)}))


def _pairs(service: Service, least: float, k: int) -> list[dict[str, Any]]:
    if len(service.archive.catalogue) > MOST_POSTS:
        raise ApiError(
            "too_complex",
            f"a server compares at most {MOST_POSTS:,} entries; compare more on the command line with: mathamr similar",
        )
    return [_pair(service, each) for each in of_index(lambda: similar_posts(service.index, least, k))]


def _pair(service: Service, pair: SimilarPair) -> dict[str, Any]:
    posts = (pair.first, pair.second)
    parents = service.archive.catalogue.posts([post.parent for post in posts if post.parent])
    shown = []
    for post in posts:
        named = titled(post, parents)
        shown.append(
            {
                "id": post.id,
                "kind": post.kind,
                "title": fragment_pieces(title_of(named), formulas_with_macros(named)),
                **service.origin(post.source, post.place),
            }
        )
    return {"similarity": round(pair.similarity, 4), "posts": shown}


def _similar_to(service: Service, id: str, k: int) -> list[dict[str, Any]]:
    post = of_index(lambda: service.archive.catalogue.posts([id])).get(id)
    if post is None:
        raise ApiError("unknown_post", "there is no post of that id in the index", "id")
    return shown_hits(service, of_index(lambda: similar_to(service.index, post, k)))
