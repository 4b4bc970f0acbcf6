"""What the folder of a system that reads formulas alone says about itself: all that is known of it without torch."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.systems.modelhead import CONFIG, WEIGHTS

FORMAT = 1
LABELS = "labels.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaModelHead:
    """What a folder says about itself; `about` is for people, `extra` belongs to the system."""

    system: str
    name: str
    model: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)


def read_formula_head(folder: Path, system: str, extra: tuple[str, ...] = ()) -> FormulaModelHead:
    """What a folder of this system says about itself, after the hashes of its files were checked."""
    path = folder / CONFIG
    with describing(path, "model"):
        row = dict(json.loads(path.read_text(encoding="utf-8")))
        if row["format"] != FORMAT:
            raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
        if row["system"] != system:
            raise MathAMRError(f"{folder} holds a model of the system {row['system']!r}, not {system!r}")
        hashes = {str(name): str(value) for name, value in row["sha256"].items()}
        known = {"format", "system", "name", "model", "sha256", *extra}
        head = FormulaModelHead(
            system=system,
            name=str(row["name"]),
            model=dict(row["model"]),
            extra={name: row[name] for name in extra},
            about={name: value for name, value in row.items() if name not in known},
            hashes=hashes,
        )
    for name in (WEIGHTS, LABELS):
        checked_file(folder / name, hashes)
    return head
