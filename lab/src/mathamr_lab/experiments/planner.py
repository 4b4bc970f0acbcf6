"""`planned`: the plan that an experiment's kind calls for, and its report as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments.experiment import FormulaExperiment, GraphExperiment, TrialExperiment
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.setting import ExperimentSetting


def planned(setting: ExperimentSetting) -> Plan:
    """Returns the plan of an experiment, whose changes are known fields."""
    if isinstance(setting.experiment, GraphExperiment):
        from mathamr_lab.experiments.graphreport import ReportedGraphPlan

        return ReportedGraphPlan.of(setting)
    if isinstance(setting.experiment, FormulaExperiment):
        from mathamr_lab.experiments.formulaplan import FormulaPlan
        from mathamr_lab.recipes.recipe import RECIPES

        plan = FormulaPlan(setting)
        for variant in plan.experiment.variants:
            if variant.system:
                RECIPES[variant.system].check(plan.model(variant, 0).settings)
        return plan
    from mathamr_lab.experiments.trials.trialplan import TrialPlan

    assert isinstance(setting.experiment, TrialExperiment)
    if setting.changes:
        _check_trial(setting.experiment.trial, setting.changes)
    return TrialPlan(setting)


def _check_trial(trial: str, changes: Sequence[str]) -> None:
    """Refuses a field that a trial does not have, before anything is prepared for it."""
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
