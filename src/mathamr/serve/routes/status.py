"""The served index, health and readiness."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import Any

from fastapi import APIRouter

from mathamr import __version__
from mathamr.search.examplequeries import examples
from mathamr.search.locations import folder_counts
from mathamr.serve.answers import HealthAnswer, IndexAnswer, ReadyAnswer
from mathamr.serve.commands import shown_macros
from mathamr.serve.service import Reader, Service, ServiceOf, of_index

router = APIRouter(tags=["status"])
TAGS_SHOWN = 200


@router.get("/index", response_model=IndexAnswer)
async def index(service: Reader) -> Any:
    """Return what is indexed, and what may be asked."""
    return await service.read(lambda: of_index(lambda: _about(service)))


@router.get("/health", response_model=HealthAnswer)
async def health() -> Any:
    """Return whether the server is up, without waiting for its index (see `/v1/ready`) and without a key."""
    return {"status": "ok", "version": __version__}


@router.get("/ready", response_model=ReadyAnswer)
async def ready(service: ServiceOf) -> Any:
    """Return whether a search sent now would be answered, without a key; if not, status 503 or 429: send requests elsewhere."""
    posts = await service.search(lambda: of_index(lambda: sum(map(_ready, service.every))))
    return {"status": "ready", "posts": posts, "behind": service.archive.behind or None}


def _ready(service: Service) -> int:
    """Read a little of every part of the index; a part that cannot be read is an error."""
    engine = service.archive.engine
    for field in engine.fields:
        engine[field.name].count()
    service.archive.lexical.posts.count()
    return len(service.archive.catalogue)


def _about(service: Service) -> dict[str, Any]:
    served = service.archive
    catalogue, manifest = served.catalogue, served.manifest
    return {
        "name": served.folder.resolve().name,
        "version": __version__,
        "posts": len(catalogue),
        "formulas": catalogue.count_formulas(),
        "kinds": dict(catalogue.kinds().most_common()),
        "tags": dict(catalogue.tags().most_common(TAGS_SHOWN)),
        "folders": dict(islice(folder_counts(catalogue.sources()).items(), TAGS_SHOWN)),
        "examples": [
            asdict(example)
            for example in examples(catalogue, service.index.macros)
            if example.task in service.index.tasks
        ],
        "macros": shown_macros(service.index.macros),
        "model": manifest.model.name,
        "engine": manifest.engine.name,
        "updated": manifest.updated,
        "tasks": list(service.index.tasks),
        "strategies": list(
            dict.fromkeys(name for task in service.index.tasks for name in service.index.strategies(task))
        ),
        "limits": service.limits.shown(),
        "graphs": manifest.parser is not None,
        "writable": service.writable,
        "read_key_needed": bool(service.keys.read),
        "collections": {name: len(each.archive.catalogue) for name, each in service.collections.items()},
    }
