"""Killing processes that build and change an index, at every step at which something reaches the disk.

Work is done in forked children, which a real SIGKILL ends at a chosen step (a commit, a sync, a rename, a deletion of
a folder) or after a chosen time; what they leave behind is compared, part by part, with an index that nobody disturbed.
Only for a process of its own, with one thread: threads do not survive a fork.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What became of a child: its value, or that it was killed; how many steps it came to."""

    value: Any
    killed: bool
    steps: int
    seconds: float


class _Steps:
    """Counts steps, and ends the process at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self.count, self._kill_at = 0, kill_at

    def step(self) -> None:
        self.count += 1
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Makes everything that reaches the disk a step, before and after it happens."""
        step = self.step

        connect = sqlite3.connect

        def counted(*given: Any, factory: Any = sqlite3.Connection, **named: Any) -> Any:
            class Connection(factory):  # type: ignore[misc]
                def execute(self, sql: str, *values: Any) -> Any:
                    if not sql.startswith(("COMMIT", "PRAGMA wal")):
                        return super().execute(sql, *values)
                    step()
                    result = super().execute(sql, *values)
                    step()
                    return result

            return connect(*given, factory=Connection, **named)

        sqlite3.connect = counted  # type: ignore[assignment]
        for owner, name in ((os, "fsync"), (Path, "replace"), (shutil, "rmtree"), (Path, "write_text")):
            setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            self.step()
            result = function(*given, **named)
            self.step()
            return result

        return counted


def in_child(
    work: Callable[[Callable[[Any], None]], Any],
    *,
    kill_at: int | None = None,
    kill_after: float | None = None,
) -> Outcome:
    """Does work in a forked process, which may be killed at a step or after some seconds.

    The work may tell things on the way, to be known even when it is killed: then the value is the list of them.
    """
    reading, writing = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, kill_at, os.fdopen(writing, "wb"))
    os.close(writing)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    reported, value, steps, failure = [], None, 0, None
    with os.fdopen(reading, "rb") as pipe:
        while True:
            try:
                kind, content = pickle.load(pipe)
            except (EOFError, pickle.UnpicklingError):
                break
            if kind == "told":
                reported.append(content)
            elif kind == "done":
                value, steps = content
            else:
                failure = content
    _, status = os.waitpid(child, 0)
    if failure is not None:
        raise RuntimeError(f"the work failed:\n{failure}")
    killed = os.WIFSIGNALED(status)
    if not killed and os.WEXITSTATUS(status):
        raise RuntimeError(f"the child ended with {os.WEXITSTATUS(status)}")
    return Outcome(reported if killed or reported else value, killed, steps, time.monotonic() - started)


def _work(work: Callable[[Callable[[Any], None]], Any], kill_at: int | None, pipe: Any) -> None:
    """The life of a child."""

    def tell(kind: str, content: Any) -> None:
        pickle.dump((kind, content), pipe)
        pipe.flush()

    try:
        steps = _Steps(kill_at)
        steps.install()
        value = work(lambda content: tell("told", content))
        tell("done", (value, steps.count))
    except BaseException:
        tell("failed", traceback.format_exc())
    sys.stdout.flush()
    os._exit(0)


def content(folder: Path) -> dict[str, Any]:
    """Everything in an index that a search could depend on."""
    from mathamr.graphs.store import GraphStore
    from mathamr.index.admin.check import check_index
    from mathamr.index.storage import IndexStorage

    report = check_index(folder, repair=False)
    with IndexStorage.open(folder, device="cpu") as archive:
        catalogue, engine, lexical = archive.catalogue, archive.engine, archive.lexical
        ids = sorted(catalogue.ids())
        graphs = {}
        if archive.has_graphs:
            with GraphStore(folder / "graphs", read_only=True) as store:
                graphs = {name: store.text(name) for name in store.ids()}
        terms = {"stems": ["the", "prove", "sum"], "latex": ["$x", "$="], "paths": ["s V!x n +"]}
        return {
            "problems": [str(problem) for problem in report.problems],
            "posts": {name: catalogue.post(name).to_json() for name in ids},
            "formulas": {name: catalogue.formulas_of(name) for name in ids},
            "tags": dict(catalogue.tags()),
            "inputs": dict(catalogue.inputs()),
            "graphs": graphs,
            "vectors": {
                field.name: engine[field.name].fetch(sorted(engine[field.name].ids()))
                for field in engine.fields
            },
            "payloads": {
                of: engine.payloads(of, sorted(engine.ids(of))) for of in ("posts", "formulas", "visual")
            },
            "words": {hit.id: round(hit.score, 5) for hit in lexical.posts.search(terms, 1000)},
            "visual": {hit.id: round(hit.score, 5) for hit in lexical.formulas.search(terms, 10_000)},
            "entries": (sorted(lexical.posts.ids()), sorted(lexical.formulas.ids())),
            "counts": archive.manifest.counts,
        }


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """In which parts two indexes differ; vectors may differ by rounding."""
    names = []
    for name, value in expected.items():
        if name == "vectors":
            same = found[name].keys() == value.keys() and all(
                _same_rows(found[name][field], rows) for field, rows in value.items()
            )
        else:
            same = found[name] == value
        if not same:
            names.append(name)
    return names


def _same_rows(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return found.keys() == expected.keys() and all(
        each.references == expected[name].references
        and each.levels.tolist() == expected[name].levels.tolist()
        and each.vectors.shape == expected[name].vectors.shape
        and np.allclose(each.vectors, expected[name].vectors, atol=1e-5)
        for name, each in found.items()
    )
