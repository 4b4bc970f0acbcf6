"""`planned`: the plan that an experiment's kind calls for, and its report as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.registry import Registry
from mathamr_lab.experiments.experiment import TrialExperiment
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.setting import ExperimentSetting

PLANS: Registry[type[Plan]] = Registry(
    "kind of experiment",
    {
        "graphs": "mathamr_lab.experiments.graphplan:GraphPlan",
        "formulas": "mathamr_lab.experiments.formulaplan:FormulaPlan",
        "trial": "mathamr_lab.experiments.trials.trialplan:TrialPlan",
    },
)


def planned(setting: ExperimentSetting) -> Plan:
    """Return the plan of an experiment, whose changes are known fields."""
    experiment = setting.experiment
    if isinstance(experiment, TrialExperiment) and setting.changes:
        _check_trial(experiment.trial, setting.changes)
    return PLANS[experiment.kind].of(setting)


def _check_trial(trial: str, changes: Sequence[str]) -> None:
    """Refuse a field that a trial does not have, before anything is prepared for it."""
    from mathamr.core.configured import changed
    from mathamr_lab.experiments.trials.contexts import ContextTraining
    from mathamr_lab.experiments.trials.marf import MarfPaper
    from mathamr_lab.recipes.recipe import TrainingSettings

    settings = TrainingSettings(config="", changes=tuple(changes)).checked((trial,))
    changed({trial: ContextTraining() if trial == "contexts" else MarfPaper()}, settings.of(trial))


def write_report(plan: Plan) -> Path:
    """Write `results.md` and what belongs to it into the experiment's folder, and return that folder."""
    folder = plan.setting.out / plan.setting.experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.md").write_text(plan.markdown(folder), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the results in {folder}: {error}") from error
    return folder
