"""Runs experiments: every stage that is not done yet, in order."""

from __future__ import annotations

import time
from collections.abc import Sequence

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration
from mathamr.core.storage.writerlock import WriterLock
from mathamr_lab.experiments.child import exiting_when_terminated
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.planner import planned
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import PREPARING, ExperimentStages
from mathamr_lab.recipes.prepared import say


def run(settings: Sequence[ExperimentSetting]) -> list[Plan]:
    """Do the remaining stages of some experiments of one folder, first those that prepare; shared stages are done once.

    After a kill it continues with the interrupted stage.
    """
    folder = settings[0].out
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MathAMRError(f"cannot create the folder {folder}: {error.strerror}") from error
    names = " ".join(setting.experiment.name for setting in settings)
    with WriterLock(folder, f"mathamr experiment {names}"), exiting_when_terminated():
        plans = [planned(setting) for setting in settings]
        for plan in plans:
            plan.check()
        stages = ExperimentStages()
        for plan in plans:
            for stage in plan.stages:
                stages.add(stage)
        _do(stages)
    return plans


def _do(stages: ExperimentStages) -> None:
    places = {stage.mark_path: f"[{number}/{len(stages)}]" for number, stage in enumerate(stages, 1)}
    for stage in (*(stage for stage in stages if stage.kind in PREPARING), *stages):
        if stage.mark() is not None:
            continue
        place = f"{places[stage.mark_path]} {stage.name}"
        if stage.kind != "run":
            say(f"{place} …")
        began = time.monotonic()
        stage.do()
        say(f"{place}: done in {duration(time.monotonic() - began)}")
