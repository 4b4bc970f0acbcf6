"""`BuildConstants`: what a post costs at each stage of a build, and where that was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from mathamr.errors import MathAMRError

FILE = "constants.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingConstants:
    """Seconds that the vectors of a post take, on a processor or on an accelerator; `None` where nobody has measured it."""

    processor: float | None = None
    accelerator: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConstants:
    """Costs of one post as the measured ones were: seconds of one processor, bytes on disk."""

    model: str
    engine: str
    measured_on: str
    posts: int
    letters_per_post: float
    formulas_per_post: float
    read_seconds: float
    keys_seconds: float
    terms_seconds: float
    graphs_seconds: float
    encoding: EncodingConstants
    write_seconds: float
    """What the one who writes takes for a post, whoever made it: catalogue, graphs, terms, vectors."""
    bytes_per_post: Mapping[str, float] = field(default_factory=dict)
    vectors_per_post: float = 0.0
    worker_bytes: float = 0.0
    """Memory of one worker with its model and its AMR parser."""
    command: str = "mathamr plan --measure"

    def to_json(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any], where: str) -> BuildConstants:
        """The inverse of `to_json`."""
        try:
            return cls(**{**row, "encoding": EncodingConstants(**row["encoding"])})
        except (KeyError, TypeError) as error:
            raise MathAMRError(f"{where} holds no constants of a build: {error}") from error


def known_constants() -> list[BuildConstants]:
    """Those that come with the package, one for each model that was measured, the default model first."""
    path = Path(str(resources.files("mathamr.index.making") / FILE))
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [BuildConstants.from_json(row, str(path)) for row in rows["builds"]]
