"""The engine seam: where the vectors of posts, formulas and visual classes are kept and searched (thesis, 3.5).

An engine holds entries of the kinds that its fields are of: each with a payload and, by field, one row or many. It
lives in a folder, whose `engine.json` says which engine it is, its fields and how it was made; a remote engine keeps
there where its server is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.registry import Registry
from mathamr.core.storage.durable import write_whole
from mathamr.index.engines.entry import Entry, Filter, Payload, ScoredRow
from mathamr.index.scored import Scored
from mathamr.systems.field import KINDS, Field, FieldTarget
from mathamr.systems.vectors import Vectors

__all__ = [
    "ENGINES",
    "Capabilities",
    "Engine",
    "EngineHead",
    "Entry",
    "Field",
    "FieldReader",
    "FieldTarget",
    "Filter",
    "Payload",
    "Scored",
    "ScoredRow",
    "SkimsMaxSim",
    "create_engine",
    "open_engine",
]

FORMAT = 3
HEAD = "engine.json"
MOST_FIELDS = 64


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do beyond the contract."""

    approximate: bool
    """`exact=False` can be another, quicker search, if its options say so; elsewhere every search is exact."""
    concurrent: bool
    """Other processes may read while one writes."""
    remote: bool
    """The vectors are on a server, not in the folder."""


class FieldReader(Protocol):
    """The entries that have vectors in one field; safe from several threads, also while one writes.

    Scores are cosines, or means of cosines; the best come first, equal ones by id.
    """

    @property
    def field(self) -> Field:
        """What is read."""
        ...

    def count(self) -> int:
        """How many entries there are."""
        ...

    def ids(self) -> Iterator[str]:
        """The ids of all entries, in no particular order."""
        ...

    def fetch(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """The rows of entries, with what each stands for; unknown ids are left out."""
        ...

    def search(
        self, vector: FloatArray, k: int, where: Filter | None = None, exact: bool = True
    ) -> Sequence[Scored]:
        """The k entries with the highest cosine of their row; of many rows the best counts."""
        ...

    def search_maxsim(
        self, vectors: FloatArray, k: int, where: Filter | None = None, exact: bool = True
    ) -> Sequence[Scored]:
        """The k entries with the highest MaxSim, the mean over the query's rows of the best cosine."""
        ...

    def search_rows(
        self, vectors: FloatArray, k: int, where: Filter | None = None, exact: bool = True
    ) -> list[list[ScoredRow]]:
        """For each row of the query the k stored rows with the highest cosine, whichever entries they are of."""
        ...

    def score(self, vectors: FloatArray, ids: Sequence[str]) -> Sequence[Scored]:
        """The exact MaxSim of given entries; unknown ids are left out."""
        ...


@runtime_checkable
class SkimsMaxSim(Protocol):
    """A reader that knows about the MaxSim of everything long before it knows it exactly."""

    def skim_maxsim(self, vectors: FloatArray, k: int, where: Filter | None = None) -> Sequence[Scored]:
        """The k entries with about the highest MaxSim: for whoever asks for the exact score (`score`) of few of them."""
        ...


class Engine(Protocol):
    """Entries by kind and id, their vectors by field.

    Reads are safe from several threads; one thread writes. What is written is searched at once, and is safe on disk
    when `flush` has returned. Of a kind without fields there are no entries.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    @property
    def fields(self) -> tuple[Field, ...]:
        """What is kept of entries."""
        ...

    def __getitem__(self, field: str) -> FieldReader:
        """The reader of a field."""
        ...

    @classmethod
    def create(
        cls, folder: Path, fields: Sequence[Field], options: Mapping[str, Any] | None = None
    ) -> Engine:
        """A new, empty engine with these fields."""
        ...

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = False) -> Engine:
        """The engine in a folder."""
        ...

    def upsert(self, of: FieldTarget, entries: Iterable[Entry]) -> None:
        """Adds entries or replaces those of the same id, in all fields; of several with one id the last counts.

        When an entry is refused, none of the call's entries is stored.
        """
        ...

    def delete(self, of: FieldTarget, ids: Iterable[str]) -> None:
        """Forgets entries; unknown ids are ignored."""
        ...

    def count(self, of: FieldTarget) -> int:
        """How many entries of a kind there are."""
        ...

    def ids(self, of: FieldTarget) -> Iterator[str]:
        """The ids of all entries of a kind, in no particular order."""
        ...

    def payloads(self, of: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        """What is known about entries; unknown ids are left out."""
        ...

    def flush(self) -> None:
        """Makes everything written so far survive a crash."""
        ...

    def optimize(self) -> None:
        """Prepares for many searches after many writes: merges, and builds what approximate search needs."""
        ...

    def verify(self) -> list[str]:
        """What is damaged, as messages; empty when all is well."""
        ...

    def close(self) -> None:
        """Flushes and releases the folder; it may be called twice."""
        ...

    def destroy(self) -> None:
        """Removes everything that is kept, in the folder and on a server, and closes: the folder is free again."""
        ...


ENGINES: Registry[type[Engine]] = Registry(
    "engine",
    {
        "edge": "mathamr.index.engines.qdrant.edge:EdgeEngine",
        "qdrant": "mathamr.index.engines.qdrant.server:ServerEngine",
        "flat": "mathamr.index.engines.flat.engine:FlatEngine",
        "postgres": "mathamr.index.engines.postgres.engine:PostgresEngine",
    },
    group="mathamr.engines",
)
"""The engines by name; another package adds one through the entry-point group ``mathamr.engines``."""
DEFAULT = "flat"


def create_engine(
    folder: Path, fields: Sequence[Field], name: str = DEFAULT, options: Mapping[str, Any] | None = None
) -> Engine:
    """A new engine by name; the folder may exist if it holds no engine yet."""
    return ENGINES[name].create(folder, fields, options)


def open_engine(folder: Path, *, read_only: bool = False) -> Engine:
    """The engine in a folder, whichever it is."""
    return ENGINES[EngineHead.read(folder).engine].open(folder, read_only=read_only)


def by_kind(fields: Sequence[Field]) -> dict[FieldTarget, tuple[Field, ...]]:
    """The fields of each kind of entry that has any."""
    kinds = ((kind, tuple(field for field in fields if field.of == kind)) for kind in KINDS)
    return {kind: own for kind, own in kinds if own}


@dataclass(frozen=True, slots=True)
class EngineHead:
    """What `engine.json` says: which engine, its fields, its options."""

    engine: str
    fields: tuple[Field, ...]
    options: dict[str, Any]
    format: int = FORMAT

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if not 1 <= len(names) <= MOST_FIELDS:
            raise MathAMRError(f"an engine has 1 to {MOST_FIELDS} fields, not {len(names)}")
        if len(set(names)) != len(names):
            raise MathAMRError(f"the fields of an engine have names of their own, not {', '.join(names)}")

    def write(self, folder: Path) -> None:
        """Makes the folder an engine's; one that is already is refused."""
        if (folder / HEAD).exists():
            raise MathAMRError(f"{folder} holds an engine already; open it, or choose another folder")
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
            name, format = str(row["engine"]), int(row["format"])
        except FileNotFoundError as error:
            raise MathAMRError(f"no engine in {folder}: it has no {HEAD}") from error
        except OSError as error:
            raise MathAMRError(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise MathAMRError(f"{path} is damaged; build the index again") from error
        if format != FORMAT:
            raise MathAMRError(
                f"{path} has format {format}, this version reads {FORMAT}; build the index again"
            )
        if engine is not None and name != engine:
            raise MathAMRError(f"{folder} holds the engine {name!r}, not {engine!r}")
        try:
            return cls(name, tuple(map(Field.from_json, row["fields"])), dict(row["options"]))
        except (MathAMRError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise MathAMRError(f"{path} is damaged ({error}); build the index again") from error


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
