"""`serve`: from an index directory to a running server, until it is told to stop."""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from pathlib import Path
from typing import Any

from mathamr.amr.parser import check_recorded
from mathamr.amr.workers import ParallelParser
from mathamr.core.errors import MathAMRError
from mathamr.core.memory import keep_loaded, limit_thread_memory
from mathamr.core.settings import API_KEY, READ_KEY
from mathamr.core.workers import WorkLimits
from mathamr.index.indexing.writer import IndexWriter
from mathamr.search.collections import collection_names
from mathamr.search.editors import check_editor
from mathamr.search.searcher import Index, load_for_forks
from mathamr.serve.access import Keys, allowed_hosts
from mathamr.serve.accesslog import log_in_background, set_up_log
from mathamr.serve.app import create_app
from mathamr.serve.connections import fit_to_files
from mathamr.serve.follower import following
from mathamr.serve.limits import Limits
from mathamr.serve.server import address, bound_socket, exposure_warning, own_socket, server, shared_port
from mathamr.serve.service import Service
from mathamr.serve.workers import Supervisor, worker_count

PARSER_MEMORY = 2 << 30
"""Bytes that the AMR parser may take for one query, above what it has when it is loaded."""
SWITCH_SECONDS = 0.001
"""How long a thread that computes keeps Python from running another one; the event loop waits as long, for each of them."""
PARSER_SECONDS = 120
"""Wall-clock seconds for one query; on a busy machine the limit on processor time counts, and clients wait less."""


def _print_address(where: str) -> None:
    """Print the address and flush it at once: a program that started the server may wait for it on a pipe."""
    print(where, flush=True)


def serve(
    path: Path,
    *,
    also: Sequence[Path] = (),
    host: str = "127.0.0.1",
    port: int = 8080,
    hosts: Iterable[str] = (),
    model: Path | str | None = None,
    device: str = "auto",
    limits: Iterable[str] = (),
    log_queries: bool = False,
    editor: str | None = None,
    beside: Path | None = None,
    quiet: bool = False,
    json_log: bool = False,
    processes: int | None = 1,
    watch: bool = False,
    announce: Callable[[str], None] = _print_address,
) -> None:
    """Serve the index in a folder; with a key for writing the index is opened for changes.

    `announce` gets the address of the page as soon as the server answers. `processes` is the number of worker
    processes; None starts one a processor where the index allows it. With `watch` the index follows its files. `beside` is another index, in which clients find what
    corresponds to a post. `also` are further collections, which are searched together with the first.
    """
    if editor is not None:
        check_editor(editor)
    keys = Keys(API_KEY.value, READ_KEY.value)
    if also and keys.write:
        raise MathAMRError(f"a server that takes writes has one index: name one, or leave {API_KEY.name} out")
    requested = Limits().changed(limits)
    allowed = fit_to_files(requested)
    set_up_log(quiet=quiet, as_json=json_log)
    sys.setswitchinterval(SWITCH_SECONDS)
    limit_thread_memory()
    faulthandler.enable()  # a file that is cut short while it is mapped ends the process: the log says where
    if allowed.connections < requested.connections:
        _report(
            f"the system allows few open files (ulimit -n), so at most {allowed.connections} connections are kept open"
        )
    signal.signal(signal.SIGTERM, _stop)
    count = worker_count(processes, writes=bool(keys.write))
    if watch and keys.write:
        raise MathAMRError(
            "a server that takes writes cannot watch files, since one process may change the index: leave --watch out"
        )

    with closing(bound_socket(host, port)) as listening, ExitStack() as followed:
        for each in (path, *also) if watch else ():
            followed.enter_context(following(each, device, quiet=quiet))
        where = address(host, listening.getsockname()[1])

        def run(started: Callable[[], None]) -> None:
            with (
                log_in_background(),
                _opened(path, keys, device, model) as index,
                _parser(index, allowed) as parser,
                Index.open(beside, device=device) if beside else nullcontext() as other,
                ExitStack() as further,
            ):
                if parser is not None:
                    index.use_parser(parser)
                index.warm()
                others = [
                    further.enter_context(Index.open(each, device=device, model=model)) for each in also
                ]
                for each in others:
                    if (own_parser := further.enter_context(_parser(each, allowed))) is not None:
                        each.use_parser(own_parser)
                    each.warm()
                keep_loaded()

                with closing(Service(index, allowed, keys, editor=editor, beside=other)) as service:
                    if others:
                        name, *names = collection_names(each.archive.folder for each in (index, *others))
                        service.serve_also(dict(zip(names, others, strict=True)), name)
                    app = create_app(service, allowed_hosts(host, hosts), log_queries=log_queries)
                    own = own_socket(listening) if count > 1 else listening
                    server(app, allowed, started).run([own])

        _report(
            f"loading the model of {', '.join(map(str, (path, *also)))}"
            + (f" in {count} processes" if count > 1 else "")
        )
        shared = [load_for_forks(each, device=device, model=model) for each in (path, *also) if count > 1]
        if warning := exposure_warning(host, has_read_key=bool(keys.read)):
            _report(warning)
        try:
            if count > 1:
                with shared_port(listening):
                    Supervisor(count, run).supervise(lambda: announce(where))
            else:
                run(lambda: announce(where))
        except (KeyboardInterrupt, SystemExit):
            _report("stopped")
        finally:
            del shared


def _opened(path: Path, keys: Keys, device: str, model: Path | str | None) -> Index:
    if keys.write:
        return Index(IndexWriter.open(path, device=device, model=model, purpose="mathamr serve"))
    return Index.open(path, device=device, model=model)


def _parser(index: Index, limits: Limits) -> AbstractContextManager[ParallelParser | None]:
    """Return a process with the index's third-party AMR parser, which is ended when a query takes too long; an empty context
    for the built-in parser.

    The built-in parser needs no more than a query of the allowed length can cost, and shares the reading of its text with the
    text encoder of this process.
    """
    recorded = index.archive.manifest.parser
    if recorded is None or (recorded.name == "builtin" and recorded.model is None):
        return nullcontext()
    check_recorded(recorded.name, recorded.model, index.archive.folder)
    allowance = WorkLimits(
        timeout=max(PARSER_SECONDS, limits.seconds), processor=limits.parsing, memory=PARSER_MEMORY
    )
    return ParallelParser(
        recorded.name, recorded.model, workers=1, batch=limits.sentences, allowance=allowance
    )


def _report(message: str) -> None:
    print(f"mathamr: {message}", file=sys.stderr, flush=True)


def _stop(*_: Any) -> None:
    raise SystemExit(0)
