"""`Service`: the index that is served, and what the routes share: limits, keys, queues."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Query, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing.writer import IndexWriter
from mathamr.posts.post import Place
from mathamr.search.editors import address_in
from mathamr.serve.access import Keys
from mathamr.serve.answercache import answer_cache
from mathamr.serve.errors import ApiError, from_error
from mathamr.serve.limits import Limits
from mathamr.serve.pieces import place_shown, source_shown
from mathamr.serve.queue import WorkQueue

if TYPE_CHECKING:
    from mathamr.index.storage import IndexStorage
    from mathamr.search.searcher import Index
    from mathamr.serve.indexnotation import IndexNotation

T = TypeVar("T")
LOG = logging.getLogger("mathamr.serve")


_QUEUES = ("searches", "reads", "rendering", "drawing", "writes")


@dataclass
class Service:
    """One index and the rules under which it is served.

    Nothing that can wait for the index, the disk or the parser runs on the event loop. Searches, short reads of the
    index, graphs, writes, and work without the index (rendering while someone types) have queues of their own, so that
    none waits behind another; only the last never waits for the index's lock.
    """

    index: Index
    limits: Limits = field(default_factory=Limits)
    keys: Keys = field(default_factory=Keys)
    editor: str | None = None
    """The editor that opens files of posts on the reader's machine, which is this one; responses have full paths then."""
    beside: Index | None = None
    """Another index, in which clients find what corresponds to a post of this one."""
    host: Service | None = None
    """The service of the first collection, whose queues this one shares, where several collections are served."""

    def __post_init__(self) -> None:
        self.collections: dict[str, Service] = {}
        """The services of all collections by name, this one first; empty where one index is served."""
        self.notation: IndexNotation | None = None
        """What the symbols of the index are introduced as, once somebody asked."""
        if self.host is not None:
            self.__dict__.update({name: getattr(self.host, name) for name in _QUEUES})
            self.answers = answer_cache()
            return
        limits = self.limits
        self.answers = answer_cache()
        self.searches = WorkQueue("search", limits.workers, limits.waiting, reserve=1)
        self.reads = WorkQueue("quick", limits.workers, limits.waiting, reserve=1)
        self.rendering = WorkQueue("render", limits.workers, limits.waiting, reserve=1)
        self.drawing = WorkQueue("graph", 1, limits.waiting)
        self.writes = WorkQueue("write", 1, limits.waiting_writes)

    def serve_also(self, others: Mapping[str, Index], name: str) -> None:
        """Serve further collections, beside this one of that name."""
        self.collections = {name: self} | {
            each: Service(index, self.limits, self.keys, self.editor, host=self)
            for each, index in others.items()
        }

    @property
    def every(self) -> tuple[Service, ...]:
        """The services of all collections."""
        return tuple(self.collections.values()) or (self,)

    @property
    def queues(self) -> tuple[WorkQueue, ...]:
        """All queues."""
        return self.searches, self.reads, self.rendering, self.drawing, self.writes

    @property
    def archive(self) -> IndexStorage:
        """The index directory."""
        return self.index.archive

    def archive_writer(self) -> IndexWriter:
        """Return the index directory, for changes."""
        if not isinstance(self.archive, IndexWriter):
            raise ApiError("read_only", "the index is open for reading only")
        return self.archive

    @property
    def beside_name(self) -> str | None:
        """The name of the other index."""
        return None if self.beside is None else self.beside.archive.folder.resolve().name

    @property
    def writable(self) -> bool:
        """True if a client with the right key can change the index."""
        return bool(self.keys.write) and not self.archive.read_only

    def origin(self, source: str, place: Place | None) -> dict[str, Any]:
        """Return the JSON of where a post came from."""
        return {
            "source": source_shown(source),
            "place": place_shown(place),
            "open": self.editor_link(source, place),
        }

    def editor_link(self, source: str, place: Place | None) -> str | None:
        """Return the address that opens a post in the editor."""
        return address_in(self.editor, source, place.line if place else 1) if self.editor else None

    async def search(self, work: Callable[[], T]) -> T:
        """Run a search on one revision of the index."""
        return await self.searches.run(lambda: self._at_one_revision(work), self.limits.seconds)

    async def read(self, work: Callable[[], T]) -> T:
        """Run a short read on one revision of the index."""
        return await self.reads.run(lambda: self._at_one_revision(work), self.limits.seconds)

    async def draw(self, work: Callable[[], T]) -> T:
        """Run work on the graph of a post, which may have to be made, on one revision of the index."""
        return await self.drawing.run(lambda: self._at_one_revision(work), self.limits.seconds)

    async def compute(self, work: Callable[[], T]) -> T:
        """Run work that does not use the index."""
        return await self.rendering.run(work, self.limits.seconds)

    async def write(self, work: Callable[[], T]) -> T:
        """Run a write, and return when it is durable."""
        return await self.writes.run(work, None)

    def close(self) -> None:
        """Accept no more work."""
        for queue in self.queues:
            queue.close()

    def _at_one_revision(self, work: Callable[[], T]) -> T:
        with ExitStack() as stack:
            of_index(lambda: stack.enter_context(self.archive.reading()))
            return work()


async def service_of(
    request: Request,
    collection: Annotated[
        str | None,
        Query(description="one of several served collections; a search without it is of all", max_length=500),
    ] = None,
) -> Service:
    """Return the service of the application; `async`, because FastAPI would run a plain function in a thread."""
    service: Service = request.app.state.service
    if collection is None:
        return service
    if collection not in service.collections:
        known = ", ".join(service.collections) or "none, since one index is served"
        raise ApiError("invalid", f"unknown collection; known are {known}", "collection")
    return service.collections[collection]


ServiceOf = Annotated[Service, Depends(service_of)]
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="the server's key")
_bearer = HTTPBearer(auto_error=False, description="the server's key")


async def request_key(
    header: Annotated[str | None, Security(_header)],
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> str:
    """Return the key of a request from either header; empty if it has none."""
    return header or (bearer.credentials if bearer else "")


async def reader(service: ServiceOf, key: Annotated[str, Depends(request_key)]) -> Service:
    """Return the service, for a client that may read."""
    service.keys.check_read(key)
    return service


async def writer(service: ServiceOf, key: Annotated[str, Depends(request_key)]) -> Service:
    """Return the service, for a client that may write."""
    service.keys.check_write(key)
    service.archive_writer()
    return service


Reader = Annotated[Service, Depends(reader)]
Writer = Annotated[Service, Depends(writer)]


def of_index(work: Callable[[], T]) -> T:
    """Run work on the index; an error there is the server's, and its text (paths, files) goes to the log only."""
    try:
        return work()
    except ApiError:
        raise
    except MathAMRError as error:
        LOG.error("the index cannot answer: %s", error)
        raise ApiError(
            "unavailable", "the index cannot answer just now; the server's log says why"
        ) from error


def of_request(work: Callable[[], T], field_name: str) -> T:
    """Run work on what a client sent; an error there is about that field."""
    try:
        return work()
    except MathAMRError as error:
        converted = from_error(error)
        converted.field = converted.field or field_name
        raise converted from error
