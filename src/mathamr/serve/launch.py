"""`serve`: from an index directory to a running server, until it is told to stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mathamr.amr.parser import check_recorded
from mathamr.amr.workers import ParallelParser
from mathamr.core.settings import API_KEY, READ_KEY
from mathamr.core.workers import Allowance
from mathamr.index.build.writer import IndexWriter
from mathamr.search.editors import check_editor
from mathamr.search.searcher import Index
from mathamr.serve.access import Keys, allowed_hosts
from mathamr.serve.app import create_app
from mathamr.serve.descriptors import fitting
from mathamr.serve.fairshare import ConnectionCounts, FairListener
from mathamr.serve.journal import set_up_log
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics
from mathamr.serve.presence import announced
from mathamr.serve.processes import process_count, siblings
from mathamr.serve.server import address, server, warning
from mathamr.serve.service import Service
from mathamr.serve.sockets import bound, handed_over
from mathamr.serve.tracing import tracer

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
    json_log: bool = False,
    drain: float = 0.0,
    processes: int | None = 1,
    announce: Callable[[str], None] = print,
) -> None:
    """Serves the index in a folder; with a key for writing the index is opened for changes.

    `announce` is told the address of the page as soon as the server answers there. `processes` serve side by side;
    None is as many as there are processors, where the index allows it. Told to stop, it says for `drain` seconds that
    it is not ready, and answers nevertheless, so that a balancer can send requests elsewhere.
    """
    if editor is not None:
        check_editor(editor)
    keys = Keys(API_KEY.value, READ_KEY.value)
    wanted = Limits().changed(limits)
    allowed = fitting(wanted)
    set_up_log(quiet, json_log)
    if allowed.connections < wanted.connections:
        _say(
            f"the system allows few open files (ulimit -n), so at most {allowed.connections} connections are kept open"
        )
    signal.signal(signal.SIGTERM, _stop)
    count = process_count(processes, path, writes=bool(keys.write))
    handed = handed_over()
    tell_siblings: list[Callable[[], None]] = []

    with (
        closing(handed or bound(host, port)) as listening,
        TemporaryDirectory(prefix="mathamr-serve-") as folder,
    ):
        where = address(*listening.getsockname()[:2] if handed else (host, listening.getsockname()[1]))
        told = Path(folder) if count > 1 else None
        counts = ConnectionCounts(count)

        def run(started: Callable[[], None]) -> None:
            with (
                closing(FairListener(listening, counts)) as own,
                _opened(path, keys, device, model) as index,
                _parser(index, allowed) as parser,
            ):
                if parser is not None:
                    index.use_parser(parser)
                index.warm()
                metrics = Metrics(told)
                service = Service(index, allowed, keys, metrics, editor=editor)
                app = create_app(service, allowed_hosts(host, hosts), log_queries, tracer())

                def listens() -> None:
                    counts.tell(0)
                    started()

                try:
                    server(app, allowed, listens, drain, tell_siblings, counts.tell).run([own])
                finally:
                    counts.leave()
                    metrics.close()
                    service.close()

        def sibling(number: int) -> None:
            counts.own = number
            run(lambda: None)

        _say(f"loading the model of {path}" + (f" in {count} processes" if count > 1 else ""))
        with siblings(count - 1, sibling) if count > 1 else nullcontext() as stop, announced(path, where):
            if stop is not None:
                tell_siblings.append(stop)
            if warned := warning(host, bool(keys.read)):
                _say(warned)
            try:
                run(lambda: announce(where))
            except (KeyboardInterrupt, SystemExit):
                _say("stopped")


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
