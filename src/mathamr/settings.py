"""Every setting of the environment, declared once: name, default and what it is for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """One environment variable; `mathamr doctor` and the docs list them all."""

    name: str
    default: str
    help: str

    @property
    def value(self) -> str:
        """The value in force: the environment's, or the default."""
        return os.environ.get(self.name, self.default)

    @property
    def path(self) -> Path:
        """The value as a path, with `~` expanded."""
        return Path(self.value).expanduser()


DATA = Setting(
    "MATHAMR_DATA", "../shared/data", "folder of evaluation data for tests, benchmarks and training"
)
CACHE = Setting("MATHAMR_CACHE", "~/.cache/mathamr", "folder for caches that may be deleted at any time")

SETTINGS = (DATA, CACHE)
