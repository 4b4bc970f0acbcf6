"""Copies the files of a model from the folder of its stage, without checkpoint and card."""

from __future__ import annotations

import shutil
from pathlib import Path

from mathamr.core.modelfolder import CONFIG, read_config


def copy_model(stage: Path, model: Path) -> None:
    """Copies `config.json` and the files it names; does nothing if the stage has no model yet."""
    if not (stage / CONFIG).exists():
        return
    model.mkdir(parents=True, exist_ok=True)
    for name in (*read_config(stage)["sha256"], CONFIG):
        shutil.copyfile(stage / name, model / name)
