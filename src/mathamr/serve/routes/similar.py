"""Entries that say something similar to one."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from mathamr.search.similarposts import similar_to
from mathamr.serve.answers import SimilarToAnswer
from mathamr.serve.errors import ApiError
from mathamr.serve.requests import Id
from mathamr.serve.routes import ANY
from mathamr.serve.routes.search import shown_hits
from mathamr.serve.service import Reader, Service, of_index

router = APIRouter(tags=["similar"])


@router.get(f"/similar/{{id:{ANY}}}", response_model=SimilarToAnswer)
async def similar_entries(
    service: Reader, id: Annotated[Id, Path()], k: Annotated[int, Query(ge=1, le=50)] = 5
) -> Any:
    """Return entries that say something similar to one of the index."""
    return await service.search(lambda: JSONResponse({"hits": _similar_to(service, id, k)}))


def _similar_to(service: Service, id: str, k: int) -> list[dict[str, Any]]:
    post = of_index(lambda: service.archive.catalogue.posts([id])).get(id)
    if post is None:
        raise ApiError("unknown_post", "there is no post of that id in the index", "id")
    return shown_hits(service, of_index(lambda: similar_to(service.index, post, k)))
