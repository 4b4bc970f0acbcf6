"""The sample corpus: a small mathematics forum of our own, in ARQMath's formats, for the demo and the tests."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def folder() -> Path:
    """Return the folder with `Posts.xml`, `formulas.tsv`, `PostLinks.tsv`, `topics/` and `qrels/`."""
    return Path(str(files(__name__)))
