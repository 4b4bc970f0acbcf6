"""`planned`: the plan that an experiment's kind calls for, and its report as files."""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments.experiment import FormulaExperiment, GraphExperiment
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.setting import ExperimentSetting


def planned(setting: ExperimentSetting) -> Plan:
    """Returns the plan of an experiment."""
    if isinstance(setting.experiment, GraphExperiment):
        from mathamr_lab.experiments.graphreport import ReportedGraphPlan

        return ReportedGraphPlan.of(setting)
    if isinstance(setting.experiment, FormulaExperiment):
        from mathamr_lab.experiments.formulaplan import FormulaPlan

        return FormulaPlan(setting)
    from mathamr_lab.experiments.trials.trialplan import TrialPlan

    return TrialPlan(setting)


def write_report(plan: Plan) -> Path:
    """Write `results.md` and what belongs to it into the experiment's folder, and return that folder."""
    folder = plan.setting.out / plan.setting.experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.md").write_text(plan.markdown(folder), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the results in {folder}: {error}") from error
    return folder
