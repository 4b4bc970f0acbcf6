"""Measured costs of a post at each stage of a build and in each engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError, UnknownNameError

FILE = "constants.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingConstants:
    """Seconds to compute the vectors of a post, on a processor or on an accelerator; `None` if not measured."""

    processor: float | None = None
    accelerator: float | None = None
    beside: float = 0.0
    """Processor seconds per post in addition to the accelerator."""
    accelerator_measured: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConstants:
    """Costs of one post of the measured kind: seconds of one processor, bytes on disk."""

    model: str
    engine: str
    measured_on: str
    posts: int
    letters_per_post: float
    """Characters of title and body, including markup."""
    formulas_per_post: float
    read_seconds: float
    keys_seconds: float
    terms_seconds: float
    graphs_seconds: float
    encoding: EncodingConstants
    write_seconds: float
    """Seconds of the writing process per post: catalogue, graphs, terms, vectors."""
    bytes_per_post: Mapping[str, float] = field(default_factory=dict)
    vectors_per_post: float = 0.0
    vector_size: float = 1.0
    """Mean number of components of a vector."""
    worker_bytes: float = 0.0
    """Memory of one worker with its model and its AMR parser."""
    command: str = "mathamr plan --measure"

    def to_json(self) -> dict[str, Any]:
        """The constants as JSON for a file."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any], where: str) -> BuildConstants:
        """The inverse of `to_json`."""
        try:
            return cls(**{**row, "encoding": EncodingConstants(**row["encoding"])})
        except (KeyError, TypeError) as error:
            raise MathAMRError(f"{where} does not hold the constants of a build: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConstants:
    """Measured costs of an engine for a collection of a certain size; all figures are for the whole collection."""

    engine: str
    measured_on: str
    command: str
    posts: int
    vectors: int
    size: int
    """Number of components of a vector."""
    load_seconds: float
    """Seconds to write them and prepare them for search."""
    bytes: float
    memory_bytes: float | None = None
    """Bytes of memory with which no search waits for the disk; `None` if not measured."""
    query_seconds: float | None = None
    """Core seconds for one MaxSim query over all of them, or for the stages that `strategy` names."""
    strategy: str = "exact MaxSim"

    @classmethod
    def from_json(cls, row: Mapping[str, Any], where: str) -> EngineConstants:
        """Reads the constants from a row of a file."""
        try:
            return cls(**row)
        except TypeError as error:
            raise MathAMRError(f"{where} does not hold the constants of an engine: {error}") from error


@dataclass(frozen=True, slots=True)
class KnownConstants:
    """The constants of a file: builds by model, and engines."""

    builds: tuple[BuildConstants, ...]
    engines: tuple[EngineConstants, ...]

    @classmethod
    def read(cls, path: Path | None = None) -> KnownConstants:
        """Reads the constants of a file, or those of the package."""
        path = path or Path(str(resources.files("mathamr.index.indexing") / FILE))
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(rows, dict):
                raise ValueError("expected an object")
            # The output of `plan --measure` is one build.
            builds = rows.get("builds", [rows])
            return cls(
                tuple(BuildConstants.from_json(row, str(path)) for row in builds),
                tuple(EngineConstants.from_json(row, str(path)) for row in rows.get("engines", ())),
            )
        except OSError as error:
            raise MathAMRError(f"cannot read {path}: {error.strerror or error}") from error
        except (ValueError, AttributeError, RecursionError) as error:
            raise MathAMRError(f"{path} does not hold constants: {error}") from error

    def build(self, model: str | None, engine: str | None = None) -> BuildConstants:
        """The constants of a model (by default the first one), measured with that engine if possible."""
        model = model or (self.builds[0].model if self.builds else None)
        known = [each for each in self.builds if each.model == model]
        if not known:
            names = list(dict.fromkeys(each.model for each in self.builds))
            raise UnknownNameError("measured model", str(model), names)
        return next((each for each in known if each.engine == engine), known[0])

    def engine(self, name: str, posts: float) -> EngineConstants | None:
        """The constants of an engine, at the measured size nearest to that number of posts."""
        known = [each for each in self.engines if each.engine == name]
        return min(known, key=lambda each: abs(each.posts - posts)) if known else None
