"""Runs experiments: every stage that is not done yet, in order.

With several workers, models are trained in separate processes, and the stages after a training run in another one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.core.storage.writerlock import WriterLock
from mathamr_lab.experiments.child import as_child, run_child, stop_children, stopping_children
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.planner import planned
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import PREPARING, ExperimentStages, Mark, Stage

LOG = "measuring.log"


def run(settings: Sequence[ExperimentSetting]) -> list[Plan]:
    """Do the remaining stages of some experiments of one folder; after a kill it continues with the interrupted stage."""
    folder = settings[0].out
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot create the folder {folder}: {error.strerror}") from error
    names = " ".join(setting.experiment.name for setting in settings)
    with WriterLock(folder, f"mathamr experiment {names}"), stopping_children():
        plans = [planned(setting) for setting in settings]
        _Run(plans).go()
    return plans


class _Run:
    """The stages of all plans; shared stages occur once."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._settings = [plan.setting for plan in plans]
        self._stages = ExperimentStages()
        for plan in plans:
            for stage in plan.stages:
                self._stages.add(stage)
        self._number = {stage.mark_path: number for number, stage in enumerate(self._stages, 1)}

    def go(self) -> None:
        """Prepare first and then trains one model after the other; or does both at a time, several models at once."""
        if self._settings[0].workers == 1:
            for stage in (*self._preparing(), *self._stages):
                self._do(stage)
        else:
            self._in_parallel(self._settings[0].workers)

    def _preparing(self) -> Iterator[Stage]:
        return (stage for stage in self._stages if stage.kind in PREPARING)

    def _in_parallel(self, workers: int) -> None:
        """Train models as soon as what they need is prepared, while others are measured, all in separate processes."""
        training, measuring = ThreadPoolExecutor(workers), ThreadPoolExecutor(workers)
        models = [stage for stage in self._stages if stage.kind == "train"]
        followers = {
            model.mark_path: [stage for stage in self._stages if stage.follows(model.mark_path)]
            for model in models
        }
        begun: list[Future[Any]] = []

        def train(model: Stage) -> Future[None]:
            self._do(model)
            measured = measuring.submit(self._measure, model, followers[model.mark_path])
            begun.append(measured)
            return measured

        running: set[Future[Any]] = set()

        def train_ready() -> None:
            for model in [model for model in models if model.digest() is not None]:
                models.remove(model)
                running.add(training.submit(train, model))

        try:
            train_ready()
            for stage in self._preparing():
                self._do(stage)
                train_ready()
                for each in running:
                    if each.done():
                        each.result()  # stops here if a training has failed
            followed = {stage.mark_path for stages in followers.values() for stage in stages}
            for stage in self._stages:
                if stage.kind != "train" and stage.mark_path not in followed:
                    self._do(stage)
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                found = [each.result() for each in done]
                running |= {each for each in found if isinstance(each, Future)}
        finally:
            # Start nothing more; after a failure or an interrupt, stop the running trainings, which save their state.
            for pool in (training, measuring):
                pool.shutdown(wait=False, cancel_futures=True)
            while left := {each for each in (*running, *begun) if not each.done()}:
                stop_children()
                wait(left, timeout=0.1)
            for pool in (training, measuring):
                pool.shutdown()

    def _measure(self, model: Stage, stages: Sequence[Stage]) -> None:
        """Do the stages that follow a training in another process."""
        if any(stage.mark() is None for stage in stages):
            command = [sys.executable, "-m", "mathamr_lab.experiments.runner"]
            rows = [setting.to_json() for setting in self._settings]
            work = json.dumps([rows, str(model.mark_path.resolve())]).encode()
            run_child("measuring", command, model.mark_path.parent, LOG, self._settings[0].threads, work)

    def _do(self, stage: Stage) -> Mark:
        found = stage.mark()
        if found is not None:
            return found
        place = f"[{self._number[stage.mark_path]}/{len(self._stages)}] {stage.name}"
        if stage.kind not in ("run", "evaluate"):
            _say(f"{place} …")
        began = time.monotonic()
        mark = stage.do()
        _say(f"{place}: done in {duration(time.monotonic() - began)}")
        return mark


def threads_of(workers: int) -> int:
    """Return the threads for each of several trainings on this machine, unless the environment sets them."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) else max(1, (os.cpu_count() or 1) // workers)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _measure_followers(work: tuple[list[dict[str, Any]], str]) -> None:
    """Do the stages of experiments that follow the training with this mark."""
    rows, model = work
    for setting in [ExperimentSetting.from_json(row) for row in rows]:
        for stage in planned(setting).stages:
            if stage.follows(Path(model)) and stage.mark() is None:
                began = time.monotonic()
                stage.do()
                _say(f"{stage.name}: done in {duration(time.monotonic() - began)}")


if __name__ == "__main__":
    sys.exit(as_child(_measure_followers))
