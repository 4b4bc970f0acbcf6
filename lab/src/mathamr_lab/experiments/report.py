"""Writes what an experiment found: `results.md`, `results.csv` and pictures."""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments.findings import Findings, findings
from mathamr_lab.experiments.plan import Plan
from mathamr_lab.experiments.plots import draw
from mathamr_lab.experiments.tables import csv_text, markdown


def write_report(plan: Plan) -> tuple[Path, Findings]:
    """The folder of the report, and what it says; made anew from whatever is measured by now."""
    found = findings(plan)
    folder = plan.setting.out / plan.setting.experiment.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = draw(plan, found, folder)
        (folder / "results.md").write_text(markdown(found, pictures), encoding="utf-8")
        (folder / "results.csv").write_text(csv_text(found), encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the results in {folder}: {error}") from error
    return folder, found
