"""What a post costs at each stage of a build and in each engine, and where that was measured."""

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
    """Seconds that the vectors of a post take, on a processor or on an accelerator; `None` where nobody has measured it."""

    processor: float | None = None
    accelerator: float | None = None
    beside: float = 0.0
    """Seconds of a processor that a post takes beside the accelerator."""
    accelerator_measured: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildConstants:
    """Costs of one post as the measured ones were: seconds of one processor, bytes on disk."""

    model: str
    engine: str
    measured_on: str
    posts: int
    letters_per_post: float
    """Characters of title and body, marks included."""
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
    vector_size: float = 1.0
    """Numbers of a vector, in the mean."""
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
            raise MathAMRError(f"{where} does not hold the constants of a build: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineConstants:
    """What an engine took for so many posts: all figures are of the whole collection, at that size."""

    engine: str
    measured_on: str
    command: str
    posts: int
    vectors: int
    size: int
    """Numbers of a vector."""
    load_seconds: float
    """To write them and make them ready for search."""
    bytes: float
    memory_bytes: float | None = None
    """What searching keeps in memory so that no question waits for the disk; `None`: not measured."""
    query_seconds: float | None = None
    """Of a core, for one question of MaxSim over all of them, or of the stages that `strategy` names."""
    strategy: str = "exact MaxSim"

    @classmethod
    def from_json(cls, row: Mapping[str, Any], where: str) -> EngineConstants:
        """From a file's row."""
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
        """Those of a file, or those that come with the package."""
        path = path or Path(str(resources.files("mathamr.index.build") / FILE))
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(rows, dict):
                raise ValueError("expected an object")
            # What `plan --measure` prints is one build.
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
        """The constants of a model, of the first one unless one is named; with that engine, where it was measured so."""
        model = model or (self.builds[0].model if self.builds else None)
        known = [each for each in self.builds if each.model == model]
        if not known:
            names = list(dict.fromkeys(each.model for each in self.builds))
            raise UnknownNameError("measured model", str(model), names)
        return next((each for each in known if each.engine == engine), known[0])

    def engine(self, name: str, posts: float) -> EngineConstants | None:
        """What is known of an engine, at the size nearest to so many posts."""
        known = [each for each in self.engines if each.engine == name]
        return min(known, key=lambda each: abs(each.posts - posts)) if known else None
