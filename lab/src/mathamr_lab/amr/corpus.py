"""`Gold`: the gold graphs that the parser is trained on and measured with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import penman
from penman.models.amr import model as amr_model

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import DATA

PARTS = {"little-prince": "little-prince-train.txt", "bio": "bio-train.txt", "bio-dev": "bio-dev.txt"}
HELD_OUT = 145


def amr_folder() -> Path:
    """Return the folder of gold graphs inside the evaluation data."""
    folder = (DATA.path / "amr").resolve()
    if not folder.is_dir():
        raise MathAMRError(
            f"training needs gold graphs: no folder {folder}; set MATHAMR_DATA to the data's folder"
        )
    return folder


@dataclass(frozen=True)
class Gold:
    """One gold graph and its sentence."""

    corpus: str
    text: str
    graph: penman.Graph


def read_part(name: str) -> list[Gold]:
    """Return all graphs of one file, with their sentences."""
    graphs = penman.load(amr_folder() / PARTS[name], model=amr_model, encoding="utf-8")
    return [Gold(name, graph.metadata["snt"], graph) for graph in graphs]


def split() -> tuple[list[Gold], dict[str, list[Gold]]]:
    """Return training graphs, and the held-out parts: the last 145 of the Little Prince and the bio development part."""
    prince, bio, bio_dev = (read_part(name) for name in PARTS)
    held = {"little-prince": prince[-HELD_OUT:], "bio": bio_dev}
    return prince[:-HELD_OUT] + bio, held
