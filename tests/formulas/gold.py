"""The gold set of readings: formulas of our own with both readings as terms, written by hand and reviewed.

A row is a topic, a formula, the published reading (`=` where it is the same) and a mathematician's, empty where it takes a rule that
the reading no longer has. `seen.tsv` was at hand while the reading was made; `heldout.tsv` was written before it.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class GoldRow(NamedTuple):
    """One formula with its readings."""

    topic: str
    latex: str
    published: str
    mathematician: str


def gold(name: str) -> list[GoldRow]:
    """The rows of one part, `seen` or `heldout`."""
    with (Path(__file__).parent / f"{name}.tsv").open(encoding="utf-8", newline="") as lines:
        rows = [GoldRow(**row) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [row._replace(published=row.mathematician) if row.published == "=" else row for row in rows]
