"""Folders of systems that read only formulas: weights in sixteen bits, and `labels.txt` with one node label per line.

Nothing here imports torch, so that a model can be read with numpy alone.
"""

from __future__ import annotations

from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import WEIGHTS, ModelFolder
from mathamr.graphs.formulashard import FormulaLabels

LABELS = "labels.txt"


def read_formula_folder(path: Path, system: str) -> tuple[ModelFolder, FormulaLabels]:
    """Read the folder of a model of this system and its labels, after checking the hashes of all files."""
    folder = ModelFolder.read(path)
    with folder.parsing():
        found = folder.config["system"]
    if found != system:
        raise MathAMRError(f"{path} holds a model of the system {found!r}, not {system!r}")
    folder.file(WEIGHTS)
    return folder, FormulaLabels.load(folder.file(LABELS))
