"""Formulas with their trees: the gold set of readings, written by hand and reviewed, and the published trees of the evaluation data.

A row of the gold set is a topic, a formula, the published reading (`=` where it is the same) and a mathematician's, empty where it takes a rule that
the reading no longer has. `seen.tsv` was at hand while the reading was made; `heldout.tsv` was written before it.
"""

from __future__ import annotations

import csv
import gzip
import json
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


def json_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file of JSON lines, compressed or not."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.splitlines()]


def published(data: Path) -> list[dict[str, str]]:
    """The published trees of over 4,000 formulas, with LaTeXML's markup."""
    return [row for name in ("golden.jsonl", "pool.jsonl.gz") for row in json_rows(data / "formulas" / name)]
