"""Settings with which MathAMR+ is trained in a few seconds."""

from __future__ import annotations

from pathlib import Path

from mathamr_lab.recipes.prepared import prepare
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources

CHANGES = ("graph.epochs=1", "graph.batch_size=8", "graph.validation=0.2", "join.shares=0.7,0.8,0.9")
SETTINGS = TrainingSettings(config="small", changes=CHANGES)


def sources(text_files: Path) -> TrainingSources:
    return TrainingSources(path=text_files / "graphs", base=text_files / "base")


def prepared(text_files: Path, folder: Path, *more: str, stages: tuple[str, ...] = ()) -> Path:
    settings = TrainingSettings(config="small", changes=(*CHANGES, *more), stages=stages)
    read = TrainingSources(path=text_files / "graphs") if stages == ("graph",) else sources(text_files)
    prepare("mathamrplus", read, settings, folder, say=lambda line: None)
    return folder
