"""Runs several trainings in parallel, one process each: small networks leave most of a GPU unused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

from mathamr.core.errors import MathAMRError

LOG = "training.log"


def train_side_by_side(folders: Sequence[Path], out: Path, options: Sequence[str], at_once: int) -> list[str]:
    """Trains every prepared folder into a folder of its name below `out`; returns the names of those that failed.

    Rows carry the name of their training; so do lines of progress, which are also written to `training.log`. A failed
    training does not stop the others. An interrupt reaches all: each finishes its step and saves its state.
    """
    names = [folder.resolve().name for folder in folders]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise MathAMRError(f"two prepared folders have the same name, {twice[0]!r}: their models would mix")
    trainings = _Trainings(out, options)
    before = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}
    in_main = threading.current_thread() is threading.main_thread()
    if in_main:
        for kind in before:
            signal.signal(kind, lambda *_: trainings.stop())
    try:
        with ThreadPoolExecutor(max(1, at_once), thread_name_prefix="trainings") as pool:
            codes = list(pool.map(trainings.train, names, folders))
    finally:
        if in_main:
            for kind, handler in before.items():
                signal.signal(kind, handler)
    return [name for name, code in zip(names, codes, strict=True) if code]


class _Trainings:
    """The training processes and their common output."""

    def __init__(self, out: Path, options: Sequence[str]) -> None:
        self._out, self._options = out, options
        self._voice, self._running, self._stopped = threading.Lock(), set[subprocess.Popen[str]](), False

    def train(self, name: str, folder: Path) -> int:
        """Trains one folder to its end and returns the exit code."""
        out = self._out / name
        command = [sys.executable, "-m", "mathamr_lab.recipes", str(folder), "--out", str(out)]
        try:
            out.mkdir(parents=True, exist_ok=True)
            log = (out / LOG).open("a", encoding="utf-8")
        except OSError as error:
            self._say(f"{name}: cannot write {out}: {error}", sys.stderr)
            return 1
        with log:
            with self._voice:
                if self._stopped:
                    return 0
                process = subprocess.Popen(
                    [*command, *self._options],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"PYTHONUNBUFFERED": "1"},
                    # An interrupt of the terminal reaches them only through `stop`, once.
                    start_new_session=True,
                )
                self._running.add(process)
            rows = threading.Thread(target=self._rows, args=(name, process))
            rows.start()
            for line in process.stderr or ():
                log.write(line)
                log.flush()
                self._say(f"{name}: {line.rstrip()}", sys.stderr)
            rows.join()
            code = process.wait()
        with self._voice:
            self._running.discard(process)
        return code

    def stop(self) -> None:
        """Asks all to finish their step and save their state; trainings that have not begun do not begin."""
        self._stopped = True
        for process in list(self._running):
            process.send_signal(signal.SIGTERM)

    def _rows(self, name: str, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            self._say(json.dumps({"training": name, **json.loads(line)}), sys.stdout)

    def _say(self, line: str, stream: IO[str]) -> None:
        with self._voice:
            print(line, file=stream, flush=True)
