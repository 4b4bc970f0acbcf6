"""Writes what an experiment found: `results.md`, `results.csv` and pictures."""

from __future__ import annotations

from pathlib import Path

from mathamr.errors import MathAMRError
from mathamr.experiments.findings import Findings, findings
from mathamr.experiments.plan import Plan
from mathamr.experiments.plots import draw
from mathamr.experiments.tables import csv_text, markdown


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
