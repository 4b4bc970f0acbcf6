"""`planned`: the plan that an experiment's kind calls for, and its report as files."""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.registry import Registry
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.setting import ExperimentSetting

PLANS: Registry[type[Plan]] = Registry(
    "kind of experiment",
    {
        "graphs": "mathamr_lab.experiments.graphplan:GraphPlan",
        "formulas": "mathamr_lab.experiments.formulaplan:FormulaPlan",
        "contexts": "mathamr_lab.experiments.contextplan:ContextPlan",
        "marf": "mathamr_lab.experiments.marfplan:MarfPlan",
        "systems": "mathamr_lab.experiments.systemplan:SystemPlan",
    },
)


def planned(setting: ExperimentSetting) -> Plan:
    """Return the plan of an experiment, which refuses changes that its trainings do not have."""
    return PLANS[setting.experiment.kind](setting)


def write_report(plan: Plan) -> Path:
    """Write `results.md` into the experiment's folder, and return that folder."""
    folder = plan.setting.out / plan.setting.experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "results.md").write_text(plan.markdown(), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the results in {folder}: {error}") from error
    return folder
