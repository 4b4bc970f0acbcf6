"""Runs experiments: every stage that is not done yet, in order; tables and pictures come after."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.core.storage.writerlock import WriterLock
from mathamr_lab.experiments.child import stop_children, stopping_children
from mathamr_lab.experiments.measuring import measure_apart
from mathamr_lab.experiments.plan import Plan, planned
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import ExperimentStages, Mark, Stage


def run(settings: Sequence[ExperimentSetting]) -> list[Plan]:
    """Does what is left to do for some experiments of one folder; after a kill it goes on with the stage it was in."""
    folder = settings[0].out
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot make the folder {folder}: {error.strerror}") from error
    names = " ".join(setting.experiment.name for setting in settings)
    with WriterLock(folder, f"mathamr experiment {names}"), stopping_children():
        plans = [planned(setting) for setting in settings]
        _Run(plans).go()
    return plans


class _Run:
    """The stages of all plans, those that they share once."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._settings = [plan.setting for plan in plans]
        self._stages = ExperimentStages()
        for plan in plans:
            for stage in plan.stages:
                self._stages.add(stage)
        self._number = {stage.mark_path: number for number, stage in enumerate(self._stages, 1)}

    def go(self) -> None:
        """Graphs first; then one model after the other, or several at a time, each measured as it is ready."""
        for stage in self._stages:
            if stage.kind == "graphs":
                self._do(stage)
        if self._settings[0].workers == 1:
            for stage in self._stages:
                self._do(stage)
        else:
            self._side_by_side(self._settings[0].workers)

    def _side_by_side(self, workers: int) -> None:
        """Some models learn while others are measured, all in processes of their own."""
        learning, measuring = ThreadPoolExecutor(workers), ThreadPoolExecutor(workers)
        models = [stage for stage in self._stages if stage.kind == "train"]
        followers = {
            model.mark_path: [stage for stage in self._stages if stage.follows(model.mark_path)]
            for model in models
        }

        begun: list[Future[Any]] = []

        def learn(model: Stage) -> Future[None]:
            self._do(model)
            measured = measuring.submit(self._measure, model, followers[model.mark_path])
            begun.append(measured)
            return measured

        going: set[Future[Any]] = {learning.submit(learn, model) for model in models}
        try:
            followed = {stage.mark_path for stages in followers.values() for stage in stages}
            for stage in self._stages:
                if stage.kind != "train" and stage.mark_path not in followed:
                    self._do(stage)
            while going:
                done, going = wait(going, return_when=FIRST_COMPLETED)
                found = [each.result() for each in done]
                going |= {each for each in found if isinstance(each, Future)}
        finally:
            # Nothing more is started; after a failure or an interrupt, what runs is stopped, its state saved.
            for pool in (learning, measuring):
                pool.shutdown(wait=False, cancel_futures=True)
            while left := {each for each in (*going, *begun) if not each.done()}:
                stop_children()
                wait(left, timeout=0.1)
            for pool in (learning, measuring):
                pool.shutdown()

    def _measure(self, model: Stage, stages: Sequence[Stage]) -> None:
        if any(stage.mark() is None for stage in stages):
            measure_apart(self._settings, model.mark_path)

    def _do(self, stage: Stage) -> Mark:
        found = stage.mark()
        if found is not None:
            return found
        place = f"[{self._number[stage.mark_path]}/{len(self._stages)}] {stage.name}"
        if stage.kind in ("graphs", "train", "index"):
            _say(f"{place} …")
        began = time.monotonic()
        mark = stage.do()
        _say(f"{place}: done in {duration(time.monotonic() - began)}")
        return mark


def threads_of(workers: int) -> int:
    """The threads of each of several trainings on this machine, unless the environment says otherwise."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdigit() and int(given) else max(1, (os.cpu_count() or 1) // workers)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
