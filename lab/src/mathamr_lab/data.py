"""Finds the evaluation data."""

from __future__ import annotations

import os
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.core.settings import DATA


def data_folder() -> Path:
    """Return the folder of the evaluation data, or raise an error that says how to name it."""
    folder = DATA.path
    folder = folder if folder.is_absolute() else (Path(__file__).resolve().parents[3] / folder).resolve()
    if not folder.is_dir():
        raise MathAMRError(f"this needs the evaluation data: no folder {folder}; set MATHAMR_DATA to it")
    return folder


def environment(name: str) -> str:
    """Return the value of an environment variable that a study requires."""
    if not os.environ.get(name):
        raise MathAMRError(
            f"this study needs the environment variable {name}; its module's docstring says for what"
        )
    return os.environ[name]
