"""Every environment variable that mathamr reads, declared once: name, default and purpose."""

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
    secret: bool = False

    @property
    def value(self) -> str:
        """The value in force: the environment's, or the default."""
        return os.environ.get(self.name, self.default)

    @property
    def shown(self) -> str:
        """The value for a report that others may see."""
        return ("set" if self.value else "not set") if self.secret else self.value

    @property
    def path(self) -> Path:
        """The value as a path, with `~` expanded."""
        return Path(self.value).expanduser()


DATA = Setting(
    "MATHAMR_DATA", "../shared/data", "folder of evaluation data for tests, benchmarks and training"
)
CACHE = Setting("MATHAMR_CACHE", "~/.cache/mathamr", "folder for caches that may be deleted at any time")
ENCODER = Setting(
    "MATHAMR_ENCODER",
    "",
    "encoder of other people that indexes made with it may use, as --model names it (st:NAME, pylate:NAME, http://HOST#NAME)",
)
MINILM = Setting(
    "MATHAMR_MINILM", "", "folder with all-MiniLM-L6-v2; empty takes the one of the installed package"
)

API_KEY = Setting(
    "MATHAMR_API_KEY", "", "key that clients of `mathamr serve` need to add or delete posts", secret=True
)
READ_KEY = Setting(
    "MATHAMR_READ_KEY",
    "",
    "key that clients of `mathamr serve` need to search; empty asks for none",
    secret=True,
)
QDRANT_URL = Setting(
    "MATHAMR_QDRANT_URL", "", "Qdrant server for the engine `qdrant`, like http://localhost:6333"
)
QDRANT_API_KEY = Setting(
    "MATHAMR_QDRANT_API_KEY", "", "API key of that server; it is never written to disk", secret=True
)
POSTGRES_URL = Setting(
    "MATHAMR_POSTGRES_URL",
    "",
    "Postgres server with pgvector for the engine `postgres`, like postgresql://user:password@host/database; it is never"
    " written to disk",
    secret=True,
)

TEXT = Setting(
    "MATHAMR_TEXT",
    "auto",
    "backend of the text encoder: onnx (ONNX Runtime, eight bits) or float (torch); auto is the one that an index was built with, and"
    " for a new index float on a GPU, onnx otherwise",
)
TREES = Setting(
    "MATHAMR_TREES",
    "latex",
    "where the trees of formulas come from: latex, or mathml, which takes them from the MathML of a collection where it has some, as the thesis"
    " does; use another folder for each",
)

SETTINGS = (
    DATA,
    CACHE,
    ENCODER,
    MINILM,
    TEXT,
    TREES,
    API_KEY,
    READ_KEY,
    QDRANT_URL,
    QDRANT_API_KEY,
    POSTGRES_URL,
)
