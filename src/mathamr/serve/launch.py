"""`serve`: opens an index directory and runs a server for it until it is stopped."""

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
from mathamr.serve.jsonlog import set_up_log
from mathamr.serve.limits import Limits
from mathamr.serve.metrics import Metrics
from mathamr.serve.presence import announced
from mathamr.serve.processes import process_count, siblings
from mathamr.serve.server import address, server, warning
from mathamr.serve.service import Service
from mathamr.serve.sockets import bound, handed_over
from mathamr.serve.tracing import tracer

PARSER_MEMORY = 2 << 30
"""Bytes that the AMR parser may allocate for one query, in addition to its loaded model."""
PARSER_PATIENCE = 120
"""Wall-clock seconds for one query. It is generous because on a busy machine the limit on processor time decides, and
clients wait no longer than their own limit."""


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

    `announce` is called with the address of the page as soon as the server answers there. `processes` serve side by side;
    None means one per processor, if the index allows it. When the server is stopped, it reports for `drain` seconds that
    it is not ready but still answers, so that a load balancer can send requests elsewhere.
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
    stop_siblings: list[Callable[[], None]] = []

    with (
        closing(handed or bound(host, port)) as listening,
        TemporaryDirectory(prefix="mathamr-serve-") as folder,
    ):
        where = address(*listening.getsockname()[:2] if handed else (host, listening.getsockname()[1]))
        metrics_folder = Path(folder) if count > 1 else None
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
                metrics = Metrics(metrics_folder)
                service = Service(index, allowed, keys, metrics, editor=editor)
                app = create_app(service, allowed_hosts(host, hosts), log_queries, tracer())

                def listens() -> None:
                    counts.tell(0)
                    started()

                try:
                    server(app, allowed, listens, drain, stop_siblings, counts.tell).run([own])
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
                stop_siblings.append(stop)
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
    """The index's AMR parser in its own process, which is killed if it takes too long to parse a query.

    The value is None if the index has no graphs.
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
