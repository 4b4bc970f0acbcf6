"""The gold set of readings: formulas of our own with both readings, written by hand and reviewed.

A row is a topic, a formula, the other formulas of its post (` ;; ` between them), the published reading (`=` where it is
the same) and a mathematician's, as terms. `seen.tsv` was at hand while the reading was made; `heldout.tsv` was written before
it, and what it got wrong at first was looked at only in the end.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class GoldRow(NamedTuple):
    """One formula with its readings."""

    topic: str
    latex: str
    post: tuple[str, ...]
    published: str
    mathematician: str


def gold(name: str) -> list[GoldRow]:
    """The rows of one part, `seen` or `heldout`."""
    with (Path(__file__).parent / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        GoldRow(
            row["topic"],
            row["latex"],
            tuple(row["post"].split(" ;; ")) if row["post"] else (),
            row["mathematician"] if row["published"] == "=" else row["published"],
            row["mathematician"],
        )
        for row in rows
    ]
