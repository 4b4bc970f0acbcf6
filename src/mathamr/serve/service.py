"""`Service`: the served index and what the routes share: limits, keys, work queues, metrics."""

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
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics
from mathamr.serve.workqueue import WorkQueue

if TYPE_CHECKING:
    from mathamr.index.archive import Archive
    from mathamr.search.searcher import Index

T = TypeVar("T")
LOG = logging.getLogger("mathamr.serve")


@dataclass
class Service:
    """One index and the rules under which it is served.

    Searches, quick work (rendering while someone types) and writes have separate queues, so that none of them waits
    behind the others.
    """

    index: Index
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    metrics: Metrics = field(default_factory=Metrics)
    editor: str | None = None
    """The editor that opens the files of posts, if server and reader share this machine; answers then hold full paths."""

    def opened(self, source: str, place: Place | None) -> str | None:
        """The link that opens a post in the configured editor."""
        return address_in(self.editor, source, place.line if place else 1) if self.editor else None

    def __post_init__(self) -> None:
        limits = self.limits
        self.answers = RememberedAnswers()
        self.searches = WorkQueue("search", limits.workers, limits.waiting)
        self.quick = WorkQueue("quick", limits.workers, limits.waiting)
        self.writes = WorkQueue("write", 1, limits.waiting_writes)
        for queue in self.queues:
            self._watch(queue)

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
    def queues(self) -> tuple[WorkQueue, ...]:
        """The queues of searches, quick work and writes."""
        return self.searches, self.quick, self.writes

    @property
    def writable(self) -> bool:
        """True if a client with the right key can change the index."""
        return bool(self.keys.write) and not self.archive.read_only

    async def search(self, work: Callable[[], T]) -> T:
        """Runs a search within its time limit."""
        return await self.searches.run(lambda: self._in_snapshot(work), self.limits.seconds)

    async def run_quick(self, work: Callable[[], T]) -> T:
        """Runs quick work, such as rendering, within its time limit."""
        return await self.quick.run(lambda: self._in_snapshot(work), self.limits.seconds)

    def _in_snapshot(self, work: Callable[[], T]) -> T:
        """Runs work against one state of the index, so that an answer is consistent."""
        with self.archive.reading():
            return work()

    async def write(self, work: Callable[[], T]) -> T:
        """Runs a write without a time limit and returns when it is durable."""
        return await self.writes.run(work, None)

    def close(self) -> None:
        """Closes all queues."""
        for queue in self.queues:
            queue.close()

    def _watch(self, queue: WorkQueue) -> None:
        name = f"mathamr_{queue.name}"
        gauges = self.metrics.gauges
        gauges[f"{name}_work"] = (f"Work in the {queue.name} queue that runs or waits.", lambda: queue.taken)
        gauges[f"{name}_refused"] = ("Requests refused with 429 since the start.", lambda: queue.refused)
        gauges[f"{name}_timed_out"] = ("Requests that took too long.", lambda: queue.timed_out)


async def service_of(request: Request) -> Service:
    """The service of the application.

    The dependencies here are `async` because FastAPI would run others in a thread, which takes longer than the work itself.
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
    """The key of a request, from either header; empty if it has none."""
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
    """Runs work on the index: an error there is the server's fault, and its text (paths, files) goes to the log only."""
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
    """Runs work on what a client sent: an error there is reported for that field."""
    try:
        return work()
    except MathAMRError as error:
        converted = from_error(error)
        converted.field = converted.field or field_name
        raise converted from error
