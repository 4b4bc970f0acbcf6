"""Visual ids from ARQMath's formula tables: formulas that look the same share one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.posts.formats.stackexchange.tables import table, table_kind
from mathamr.posts.inputs import head, walk
from mathamr.posts.report import Report


def read_visual_ids(path: Path | str, report: Report | None = None) -> Mapping[str, str]:
    """Map formula ids to visual ids, from a table of formulas or a folder of tables.

    The header names the columns (`id` and `visual_id`). `report` counts damaged rows.
    """
    report = report or Report()
    path = Path(path)
    visual_ids: dict[str, str] = {}
    for file in _tables(path, report):
        for row in table(file, report):
            if "visual_id" not in row:
                raise MathAMRError(
                    f"{file}: expected a table with the columns id and visual_id, tab-separated"
                )
            if row["id"] and row["visual_id"]:
                visual_ids[row["id"]] = row["visual_id"]
    if not visual_ids:
        raise MathAMRError(
            f"{path}: no visual ids; expected tables with the columns id, visual_id and formula"
        )
    return visual_ids


def _tables(path: Path, report: Report) -> Iterator[Path]:
    files = walk(path, report) if path.is_dir() else [path]
    for file in files:
        if table_kind(head(file)) == "formulas":
            yield file
