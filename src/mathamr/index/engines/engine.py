"""The engine seam: where the vectors of posts and formulas are kept and searched (thesis, 3.5).

An engine has two collections: `posts`, one point a post with its document vector and the vectors of all its
representatives, and `formulas`, one point a formula with its vector. It lives in a folder, whose `engine.json` says
which engine it is and how it was made; a remote engine keeps there where its server is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from mathamr.errors import MathAMRError
from mathamr.index.engines.point import Filter, Floats, Payload, Point, Scored
from mathamr.index.storage.durable import write_whole
from mathamr.registry import Registry

__all__ = [
    "ENGINES",
    "Capabilities",
    "Collection",
    "Engine",
    "EngineHead",
    "Filter",
    "Payload",
    "Point",
    "Scored",
    "create_engine",
    "open_engine",
]

FORMAT = 1
HEAD = "engine.json"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do beyond the contract."""

    approximate: bool
    """`exact=False` is another, quicker search; elsewhere every search is exact."""
    concurrent: bool
    """Other processes may read while one writes."""
    remote: bool
    """The vectors are on a server, not in the folder."""


class Collection(Protocol):
    """Points by id. Reads are safe from several threads; one thread writes.

    What is written is searched at once, and is safe on disk when the engine's `flush` has returned.
    """

    def upsert(self, points: Iterable[Point]) -> None:
        """Adds points or replaces those of the same id; of several with one id the last counts.

        When a point is refused, none of the call's points is stored.
        """
        ...

    def delete(self, ids: Iterable[str]) -> None:
        """Forgets points; unknown ids are no error."""
        ...

    def count(self) -> int:
        """How many points there are."""
        ...

    def ids(self) -> Iterator[str]:
        """The ids of all points, in no particular order."""
        ...

    def fetch(self, ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of points, a row each, for posts all representatives; unknown ids are left out."""
        ...

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """What is known about points; unknown ids are left out."""
        ...

    def search(self, vector: Floats, k: int, where: Filter | None = None, exact: bool = True) -> list[Scored]:
        """The k points whose document or formula vector has the highest cosine; best first, equal ones by id."""
        ...

    def search_maxsim(
        self, vectors: Floats, k: int, where: Filter | None = None, exact: bool = True
    ) -> list[Scored]:
        """The k posts with the highest MaxSim, the mean over the query's rows of the best cosine."""
        ...

    def score(self, vectors: Floats, ids: Sequence[str]) -> list[Scored]:
        """The exact MaxSim of given posts, best first; unknown ids are left out."""
        ...


class Engine(Protocol):
    """Two collections in a folder."""

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    size: int
    """The size of the vectors."""

    @property
    def posts(self) -> Collection:
        """Posts with their document vectors and all their representatives."""
        ...

    @property
    def formulas(self) -> Collection:
        """Formulas with one vector each."""
        ...

    @classmethod
    def create(cls, folder: Path, size: int, options: Mapping[str, Any] | None = None) -> Engine:
        """A new, empty engine for vectors of that size."""
        ...

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Engine:
        """The engine in a folder."""
        ...

    def flush(self) -> None:
        """Makes everything written so far survive a crash."""
        ...

    def optimize(self) -> None:
        """Prepares for many searches after many writes: merges, and builds what approximate search needs."""
        ...

    def verify(self) -> list[str]:
        """What is damaged, in words; nothing when all is well."""
        ...

    def close(self) -> None:
        """Flushes and lets go of the folder; closing twice is no error."""
        ...

    def drop(self) -> None:
        """Removes everything that is kept, in the folder and on a server, and closes: the folder is free again."""
        ...


ENGINES: Registry[type[Engine]] = Registry(
    "engine",
    {
        "edge": "mathamr.index.engines.qdrant.edge:EdgeEngine",
        "qdrant": "mathamr.index.engines.qdrant.server:ServerEngine",
        "flat": "mathamr.index.engines.flat.engine:FlatEngine",
    },
)
DEFAULT = "flat"


def create_engine(
    folder: Path, size: int, name: str = DEFAULT, options: Mapping[str, Any] | None = None
) -> Engine:
    """A new engine by name; the folder may exist if it holds no engine yet."""
    return ENGINES[name].create(folder, size, options)


def open_engine(folder: Path, *, read_only: bool = False) -> Engine:
    """The engine in a folder, whichever it is."""
    return ENGINES[EngineHead.read(folder).engine].open(folder, read_only=read_only)


@dataclass(frozen=True, slots=True)
class EngineHead:
    """What `engine.json` says: which engine, the size of its vectors, its options."""

    engine: str
    size: int
    options: dict[str, Any]
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Makes the folder an engine's; one that is already is refused."""
        if (folder / HEAD).exists():
            raise MathAMRError(f"{folder} holds an engine already; open it, or choose another folder")
        if not 1 <= self.size <= 65536:
            raise MathAMRError(f"vectors have 1 to 65,536 numbers, not {self.size}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MathAMRError(f"cannot make the folder {folder}: {error.strerror}") from error
        write_whole(folder / HEAD, json.dumps(asdict(self), indent=1).encode())

    @staticmethod
    def remove(folder: Path) -> None:
        """Makes the folder nobody's again: the engine could not be made."""
        (folder / HEAD).unlink(missing_ok=True)

    @classmethod
    def read(cls, folder: Path, engine: str | None = None) -> EngineHead:
        """The head in a folder; with `engine` it must be that one's."""
        path = folder / HEAD
        try:
            row = json.loads(path.read_bytes())
            head = cls(str(row["engine"]), int(row["size"]), dict(row["options"]), int(row["format"]))
        except FileNotFoundError as error:
            raise MathAMRError(f"no engine in {folder}: it has no {HEAD}") from error
        except OSError as error:
            raise MathAMRError(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise MathAMRError(f"{path} is damaged; build the index again") from error
        if head.format != FORMAT:
            raise MathAMRError(
                f"{path} has format {head.format}, this version reads {FORMAT}; build the index again"
            )
        if engine is not None and head.engine != engine:
            raise MathAMRError(f"{folder} holds the engine {head.engine!r}, not {engine!r}")
        return head


Options = TypeVar("Options")


def read_options(options_type: type[Options], engine: str, options: Mapping[str, Any] | None) -> Options:
    """The options of an engine, a frozen dataclass, from names and values; an unknown name lists the known ones."""
    given = dict(options or {})
    known = {field.name: field for field in fields(options_type)}  # type: ignore[arg-type]
    for name, value in given.items():
        if name not in known:
            raise MathAMRError(f"the engine {engine!r} has no option {name!r}; known: {', '.join(known)}")
        if isinstance(known[name].default, int):
            # From a command line a number comes as text.
            try:
                given[name] = int(value)
            except (TypeError, ValueError) as error:
                raise MathAMRError(
                    f"the engine {engine!r} takes a number for {name!r}, not {value!r}"
                ) from error
        elif not isinstance(value, str):
            raise MathAMRError(f"the engine {engine!r} takes a word for {name!r}, not {value!r}")
    return options_type(**given)
