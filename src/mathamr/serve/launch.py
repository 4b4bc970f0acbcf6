"""`serve`: from an index directory to a running server, until it is told to stop."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
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
from mathamr.serve.presence import announced
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
    announce: Callable[[str], None] = print,
) -> None:
    """Serves the index in a folder; with a key for writing the index is opened for changes.

    `announce` is told the address of the page as soon as the server answers there.
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
    with (
        closing(bound(host, port)) as listening,
        _opened(path, keys, device, model) as index,
        _parser(index, allowed) as parser,
    ):
        _say(f"loading the model of {path}")
        if parser is not None:
            index.use_parser(parser)
        index.warm()
        if told := warning(host, bool(keys.read)):
            _say(told)
        where = address(host, listening.getsockname()[1])
        service = Service(index, allowed, keys, editor=editor)
        app = create_app(service, allowed_hosts(host, hosts), log_queries)
        with announced(path, where):
            try:
                server(app, allowed, lambda: announce(where)).run([listening])
            except (KeyboardInterrupt, SystemExit):
                _say("stopped")
            finally:
                service.close()


def bound(host: str, port: int) -> socket.socket:
    """A socket at that address, not yet listening: a port that is taken is known before anything is loaded."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
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
