"""`serve`: from an index directory to a running server, until it is told to stop."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mathamr.amr.parser import check_recorded
from mathamr.amr.workers import ParallelParser
from mathamr.errors import MathAMRError
from mathamr.index.making.writer import IndexWriter
from mathamr.search.editors import check_editor
from mathamr.search.library import Index
from mathamr.serve.access import Keys, allowed_hosts
from mathamr.serve.app import create_app
from mathamr.serve.descriptors import fitting
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics
from mathamr.serve.presence import announced
from mathamr.serve.processes import process_count, shared, siblings
from mathamr.serve.server import address, server, set_up_log, warning
from mathamr.serve.service import Service
from mathamr.settings import API_KEY, READ_KEY
from mathamr.workers import Allowance

PARSER_MEMORY = 2 << 30
"""Bytes that the AMR parser may take for one query, above what it has when it is loaded."""
PARSER_PATIENCE = 120
"""Seconds of the clock for one query: on a busy machine it is the processor's that count, and clients wait no longer
than they may."""


def serve(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    hosts: Iterable[str] = (),
    model: Path | str | None = None,
    device: str = "auto",
    limits: Iterable[str] = (),
    log_queries: bool = False,
    editor: str | None = None,
    quiet: bool = False,
    processes: int | None = 1,
    announce: Callable[[str], None] = print,
) -> None:
    """Serves the index in a folder; with a key for writing the index is opened for changes.

    `announce` is told the address of the page as soon as the server answers there. `processes` serve side by side;
    None is as many as there are processors, where the index allows it.
    """
    if editor is not None:
        check_editor(editor)
    keys = Keys(API_KEY.value, READ_KEY.value)
    wanted = Limits().changed(limits)
    allowed = fitting(wanted)
    set_up_log(quiet)
    if allowed.connections < wanted.connections:
        _say(
            f"the system allows few open files (ulimit -n), so at most {allowed.connections} connections are kept open"
        )
    signal.signal(signal.SIGTERM, _stop)
    count = process_count(processes, path, writes=bool(keys.write))

    with (
        closing(bound(host, port, shares=count > 1)) as listening,
        TemporaryDirectory(prefix="mathamr-serve-") as folder,
    ):
        where = address(host, listening.getsockname()[1])
        told = Path(folder) if count > 1 else None

        def run(own: socket.socket, started: Callable[[], None]) -> None:
            with _opened(path, keys, device, model) as index, _parser(index, allowed) as parser:
                if parser is not None:
                    index.use_parser(parser)
                index.warm()
                metrics = Metrics(told)
                service = Service(index, allowed, keys, metrics, editor=editor)
                app = create_app(service, allowed_hosts(host, hosts), log_queries)
                try:
                    server(app, allowed, started).run([own])
                finally:
                    metrics.close()
                    service.close()

        def sibling() -> None:
            with closing(shared(listening)) as own:
                listening.close()  # or it would hold connections that nobody takes when the first process is gone
                run(own, lambda: None)

        _say(f"loading the model of {path}" + (f" in {count} processes" if count > 1 else ""))
        with siblings(count - 1, sibling) if count > 1 else nullcontext(), announced(path, where):
            if warned := warning(host, bool(keys.read)):
                _say(warned)
            try:
                run(listening, lambda: announce(where))
            except (KeyboardInterrupt, SystemExit):
                _say("stopped")


def bound(host: str, port: int, *, shares: bool = False) -> socket.socket:
    """A socket at that address, not yet listening: a port that is taken is known before anything is loaded.

    With `shares` other sockets of this user may join it there.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        if shares:  # only a port that was free alone is shared: no other server's is joined by mistake
            taken = listening.getsockname()
            listening.close()
            listening = socket.socket(family, kind, protocol)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listening.bind(taken)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise MathAMRError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --port"
        ) from error
    return listening


def _opened(path: Path, keys: Keys, device: str, model: Path | str | None) -> Index:
    if keys.write:
        return Index(IndexWriter.open(path, device=device, model=model, purpose="mathamr serve"))
    return Index.open(path, device=device, model=model)


def _parser(index: Index, limits: Limits) -> AbstractContextManager[ParallelParser | None]:
    """The index's AMR parser in a process of its own, which is ended when a query takes too long to read.

    There is none where the index has no graphs.
    """
    recorded = index.archive.manifest.parser
    if recorded is None:
        return nullcontext()
    check_recorded(recorded.name, recorded.model, index.archive.folder)
    allowance = Allowance(
        timeout=max(PARSER_PATIENCE, limits.seconds), processor=limits.parsing, memory=PARSER_MEMORY
    )
    return ParallelParser(
        recorded.name, recorded.model, workers=1, batch=limits.sentences, allowance=allowance
    )


def _say(message: str) -> None:
    print(f"mathamr: {message}", file=sys.stderr, flush=True)


def _stop(*_: Any) -> None:
    raise SystemExit(0)
