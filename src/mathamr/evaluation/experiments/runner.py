"""Runs an experiment: every stage that is not done yet, in order, then tables and pictures of what is there."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType

from mathamr.errors import MathAMRError
from mathamr.evaluation.experiments.plan import Plan
from mathamr.evaluation.experiments.setting import Setting
from mathamr.evaluation.experiments.stage import Mark, Stage
from mathamr.evaluation.experiments.training import stop_trainings
from mathamr.index.lock import WriterLock
from mathamr.progress import duration
from mathamr.training.export import listed


def planned(setting: Setting) -> Plan:
    """The plan of an experiment; the posts are read once, to count them and their pairs."""
    questions, answers, posts = set(), [], 0
    for post in setting.collection.posts():
        posts += 1
        if post.kind == "question":
            questions.add(post.id)
        elif post.parent is not None:
            answers.append((post.parent, post.id))
    without = set(setting.collection.without)
    pairs = [
        pair for pair in answers if pair[0] in questions and not any(listed(each, without) for each in pair)
    ]
    return Plan(setting, posts, len(pairs))


def run(setting: Setting) -> Plan:
    """Does what is left to do; a killed experiment goes on with the stage it was killed in."""
    try:
        setting.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot make the folder {setting.out}: {error.strerror}") from error
    with WriterLock(setting.out, f"mathamr experiment {setting.experiment.name}"), _stopping_trainings():
        plan = planned(setting)
        _Run(plan).go()
    return plan


@contextmanager
def _stopping_trainings() -> Iterator[None]:
    """Whatever ends this process politely also ends the trainings it started, with their state saved."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if is_main else None
    if is_main:
        signal.signal(signal.SIGTERM, _end)
    try:
        yield
    except BaseException:
        stop_trainings()
        raise
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def _end(kind: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + kind)


class _Run:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._number = {id(stage): number for number, stage in enumerate(plan.stages, 1)}
        self._training: dict[int, Future[Mark]] = {}

    def go(self) -> None:
        """Graphs first; then one model after the other, or several at a time, each measured as it is ready."""
        stages = self._plan.stages
        for stage in stages:
            if stage.kind == "graphs":
                self._do(stage)
        workers = self._plan.setting.workers
        if workers == 1:
            for stage in stages:
                self._do(stage)
            return
        pool = ThreadPoolExecutor(workers)
        try:
            for stage in stages:
                if stage.kind == "train" and stage.mark() is None:
                    self._training[id(stage)] = pool.submit(self._do, stage)
            for stage in stages:
                if id(stage) in self._training:
                    self._training[id(stage)].result()
                else:
                    self._do(stage)
        finally:
            # Nothing more is started; after a failure or an interrupt, what runs is stopped, its state saved.
            pool.shutdown(wait=False, cancel_futures=True)
            stop_trainings()
            pool.shutdown()

    def _do(self, stage: Stage) -> Mark:
        found = stage.mark()
        if found is not None:
            return found
        place = f"[{self._number[id(stage)]}/{len(self._plan.stages)}] {stage.name}"
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
