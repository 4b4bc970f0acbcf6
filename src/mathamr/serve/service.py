"""`Service`: the index that is served, and what the routes share: limits, keys, lanes, metrics."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from mathamr.core.errors import MathAMRError, VectorsMissingError
from mathamr.index.build.writer import IndexWriter
from mathamr.posts.post import Place
from mathamr.search.editors import address_in
from mathamr.serve.access import Keys
from mathamr.serve.answers import RememberedAnswers
from mathamr.serve.errors import ApiError, from_error
from mathamr.serve.lanes import Lane
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics

if TYPE_CHECKING:
    from mathamr.index.archive import Archive
    from mathamr.search.searcher import Index

T = TypeVar("T")
LOG = logging.getLogger("mathamr.serve")


@dataclass
class Service:
    """One index and the rules under which it is served.

    Searches, quick work (rendering while someone types) and writes have lanes of their own, so that none of them has
    to wait behind the others.
    """

    index: Index
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    metrics: Metrics = field(default_factory=Metrics)
    editor: str | None = None
    """What opens the files of posts on the reader's machine, which is this one; clients are told full paths then."""

    def opened(self, source: str, place: Place | None) -> str | None:
        """The address that opens a post in the editor of whoever runs the server."""
        return address_in(self.editor, source, place.line if place else 1) if self.editor else None

    def __post_init__(self) -> None:
        limits = self.limits
        self.answers = RememberedAnswers()
        self.searches = Lane("search", limits.workers, limits.waiting)
        self.quick = Lane("quick", limits.workers, limits.waiting)
        self.writes = Lane("write", 1, limits.waiting_writes)
        for lane in self.lanes:
            self._watch(lane)

    @property
    def archive(self) -> Archive:
        """The index directory behind the index."""
        return self.index.archive

    def archive_writer(self) -> IndexWriter:
        """The index directory behind the index, for changes."""
        if not isinstance(self.archive, IndexWriter):
            raise ApiError("read_only", "the index is open for reading only")
        return self.archive

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """All lanes."""
        return self.searches, self.quick, self.writes

    @property
    def writable(self) -> bool:
        """Whether a client with the right key can change the index."""
        return bool(self.keys.write) and not self.archive.read_only

    async def search(self, work: Callable[[], T]) -> T:
        """The result of a search, within its time."""
        return await self.searches.run(lambda: self._viewed(work), self.limits.seconds)

    async def visual(self, work: Callable[[], T]) -> T:
        """The result of quick work, within its time."""
        return await self.quick.run(lambda: self._viewed(work), self.limits.seconds)

    def _viewed(self, work: Callable[[], T]) -> T:
        """Everything that one answer says is of one state of the index."""
        with self.archive.reading():
            return work()

    async def write(self, work: Callable[[], T]) -> T:
        """The result of a write, whenever it is durable."""
        return await self.writes.run(work, None)

    def close(self) -> None:
        """Takes no more work."""
        for lane in self.lanes:
            lane.close()

    def _watch(self, lane: Lane) -> None:
        name = f"mathamr_{lane.name}"
        gauges = self.metrics.gauges
        gauges[f"{name}_work"] = (f"Work of the {lane.name} lane that runs or waits.", lambda: lane.taken)
        gauges[f"{name}_refused"] = ("Requests sent away with 429 since the start.", lambda: lane.refused)
        gauges[f"{name}_timed_out"] = ("Requests that took too long.", lambda: lane.timed_out)


async def service_of(request: Request) -> Service:
    """The service that the application was made for.

    Whatever a request needs is told on the event loop: what is not `async` FastAPI would ask of a thread, which takes longer than to tell it.
    """
    return _service_of(request)


def _service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="the server's key")
_bearer = HTTPBearer(auto_error=False, description="the server's key")


async def given_key(
    header: Annotated[str | None, Security(_header)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> str:
    """The key of a request, whichever way it comes; empty where it has none."""
    return header or (bearer.credentials if bearer else "")


async def reader(request: Request, key: Annotated[str, Depends(given_key)]) -> Service:
    """The service, for a client that may read."""
    service = _service_of(request)
    service.keys.check_read(key)
    return service


async def writer(request: Request, key: Annotated[str, Depends(given_key)]) -> Service:
    """The service, for a client that may write."""
    service = _service_of(request)
    service.keys.check_write(key)
    service.archive_writer()
    return service


ServiceOf = Annotated[Service, Depends(service_of)]
Reader = Annotated[Service, Depends(reader)]
Writer = Annotated[Service, Depends(writer)]


def of_index(work: Callable[[], T]) -> T:
    """Work on the index itself: an error there is the server's, and its text (paths, files) is for the log only."""
    try:
        return work()
    except (ApiError, VectorsMissingError) as error:
        raise from_error(error) from error
    except MathAMRError as error:
        LOG.error("the index cannot answer: %s", error)
        raise ApiError(
            "unavailable", "the index cannot answer just now; the server's log says why"
        ) from error


def of_request(work: Callable[[], T], field_name: str) -> T:
    """Work on what a client sent: an error there is about that field."""
    try:
        return work()
    except MathAMRError as error:
        told = from_error(error)
        told.field = told.field or field_name
        raise told from error
