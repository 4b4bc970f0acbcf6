"""`ReportedGraphPlan`: the plan of an experiment with graph networks, and its tables and pictures."""

from __future__ import annotations

from pathlib import Path

from mathamr_lab.experiments.findings import findings
from mathamr_lab.experiments.graphplan import GraphPlan
from mathamr_lab.experiments.plots import draw
from mathamr_lab.experiments.thesistables import csv_text, markdown


class ReportedGraphPlan(GraphPlan):
    """The stages of an experiment with graph networks, reported in the thesis's form."""

    def markdown(self, folder: Path) -> str:
        """Return the tables; `results.csv` and the pictures go into the folder."""
        found = findings(self)
        (folder / "results.csv").write_text(csv_text(found), encoding="utf-8")
        return markdown(found, draw(self, folder))
