"""The interface of engines, which store and search the vectors of posts, formulas and visual classes (thesis, 3.5).

An engine holds entries of the kinds that its fields belong to, each with a payload and, by field, one row or many. It has a
folder, whose `engine.json` names the engine, its fields and its options; a remote engine stores the address of its server there.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError, MissingExtraError, UnknownNameError
from mathamr.core.registry import Registry
from mathamr.core.storage.durable import write_whole
from mathamr.core.storage.plainfiles import DAMAGED, read_description
from mathamr.index.engines.entry import Entry, Filter, Payload
from mathamr.index.scored import Scored
from mathamr.systems.field import KINDS, Field, FieldTarget
from mathamr.systems.vectors import Vectors


@dataclass(frozen=True, slots=True)
class ClientLibrary:
    """A library that an engine needs; it is imported when the engine is made or opened."""

    module: str
    speaker: str
    """Its name in error messages."""
    title: str
    install: str
    """The command that installs it."""

    def check(self) -> None:
        """Raise `MissingExtraError` if it is not installed."""
        try:
            import_module(self.module)
        except ImportError as error:
            raise MissingExtraError(self.title, self.install) from error

    @contextmanager
    def reporting(self, what: str) -> Iterator[None]:
        """Turn errors inside into `MathAMRError`."""
        try:
            yield
        except MathAMRError:
            raise
        except Exception as error:
            reason = str(error)[:500] or type(error).__name__
            raise MathAMRError(f"{self.speaker} cannot {what}: {reason}") from error


FORMAT = 3
HEAD = "engine.json"
MOST_FIELDS = 64
_PAYLOADS = 4096
"""Payloads that are read at a time."""


class FieldReader(Protocol):
    """The entries that have vectors in one field; safe from several threads, also while one writes.

    Scores are cosines, or means of cosines; the best come first, equal ones by id.
    """

    @property
    def field(self) -> Field:
        """The field that is read."""

    def count(self) -> int:
        """Return the number of entries."""

    def ids(self) -> Iterator[str]:
        """Return the ids of all entries, in no particular order."""

    def fetch(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Return the rows of entries, with the part that each represents; unknown ids are left out."""

    def search(
        self, vector: FloatArray, k: int, where: Filter | None = None, *, exact: bool = True
    ) -> Sequence[Scored]:
        """Return the k entries with the highest cosine of their row; of many rows the best counts."""

    def search_maxsim(
        self, vectors: FloatArray, k: int, where: Filter | None = None, *, exact: bool = True
    ) -> Sequence[Scored]:
        """Return the k entries with the highest MaxSim, the mean over the query's rows of the best cosine."""

    def search_rows(self, vectors: FloatArray, k: int, where: Filter | None = None) -> list[Sequence[Scored]]:
        """Return for each row of the query the entries of the k stored rows with the highest cosine, exactly; one may come repeatedly."""

    def score(self, vectors: FloatArray, ids: Sequence[str]) -> Sequence[Scored]:
        """Return the exact MaxSim of these entries; unknown ids are left out."""

    def as_compared(self, vectors: FloatArray) -> FloatArray:
        """Return the rows of a query with the precision in which the field compares them."""


class Engine(ABC):
    """Entries by kind and id, their vectors by field; a store for every kind, and a reader for every field.

    Reads are safe from several threads, and from other processes while one writes; one thread writes. Written entries can be searched
    at once, and are safe on disk when `flush` has returned. A kind without fields has no entries.
    """

    name: ClassVar[str]
    remote: ClassVar[bool] = False
    """True if the vectors are on a server, not in the folder."""
    library: ClassVar[ClientLibrary | None] = None
    """The library that it needs and the default installation lacks."""

    def __init__(
        self,
        folder: Path,
        fields: Sequence[Field],
        stores: Mapping[FieldTarget, Any],
        readers: Mapping[str, FieldReader],
    ) -> None:
        self.folder, self.fields, self.stores, self._readers = folder, tuple(fields), stores, readers

    @classmethod
    @abstractmethod
    def choose_options(cls, options: Mapping[str, Any] | None) -> Any:
        """Return the options of a new engine, a dataclass, from names and values."""

    @classmethod
    @abstractmethod
    def open(cls, folder: Path, *, read_only: bool = False, is_new: bool = False) -> Self:
        """Return the engine that the head in a folder describes; with `is_new`, the folder has only this head."""

    @classmethod
    def create(cls, folder: Path, fields: Sequence[Field], options: Mapping[str, Any] | None = None) -> Self:
        """Return a new, empty engine with these fields; nothing is left of one that cannot be created."""
        if cls.library is not None:
            cls.library.check()
        head = EngineHead(cls.name, tuple(fields), asdict(cls.choose_options(options)))
        head.write(folder)
        try:
            return cls.open(folder, is_new=True)
        except BaseException:
            (folder / HEAD).unlink(missing_ok=True)
            raise

    def __getitem__(self, field: str) -> FieldReader:
        if field not in self._readers:
            raise UnknownNameError("field", field, list(self._readers))
        return self._readers[field]

    def upsert(self, of: FieldTarget, entries: Iterable[Entry]) -> None:
        """Add entries or replace those of the same id, in all fields; of several with one id the last counts.

        If an entry is refused, none of the call's entries is stored.
        """
        if of not in self.stores:
            raise MathAMRError(f"the engine stores no vectors of {of}, only of {', '.join(self.stores)}")
        self.stores[of].upsert(entries)

    def delete(self, of: FieldTarget, ids: Iterable[str]) -> None:
        """Delete entries; unknown ids are ignored."""
        if of in self.stores:
            self.stores[of].delete(ids)

    def count(self, of: FieldTarget) -> int:
        """Return how many entries of a kind there are."""
        return int(self.stores[of].count()) if of in self.stores else 0

    def ids(self, of: FieldTarget) -> Iterator[str]:
        """Return the ids of all entries of a kind, in no particular order."""
        return iter(self.stores[of].ids() if of in self.stores else ())

    def payloads(self, of: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries; unknown ids are left out."""
        return dict(self.stores[of].payloads(ids)) if of in self.stores else {}

    def passing(self, of: FieldTarget, where: Filter) -> Iterator[str]:
        """Yield the ids of the entries of a kind that pass a filter, in no particular order.

        Engines that can select by payloads do so; this reads all of them.
        """
        for batch in batches(self.ids(of), _PAYLOADS):
            yield from (each for each, payload in self.payloads(of, batch).items() if where.passes(payload))

    @abstractmethod
    def flush(self) -> None:
        """Make everything written so far survive a crash."""

    @abstractmethod
    def optimize(self) -> None:
        """Prepare for many searches after many writes: merge, and build what approximate search needs."""

    def verify(self) -> list[str]:
        """Return messages about damage; empty if everything is intact."""
        found = []
        for store in self.stores.values():
            try:
                store.count()
            except MathAMRError as error:
                found.append(str(error))
        return found

    @abstractmethod
    def close(self) -> None:
        """Flush and release the folder; it may be called twice."""


ENGINES: Registry[type[Engine]] = Registry(
    "engine",
    {
        "qdrant": "mathamr.index.engines.qdrant.server:ServerEngine",
        "flat": "mathamr.index.engines.flat.engine:FlatEngine",
        "postgres": "mathamr.index.engines.postgres.engine:PostgresEngine",
    },
    group="mathamr.engines",
)
"""The engines by name; another package adds one through the entry-point group ``mathamr.engines``."""
DEFAULT = "flat"


def check_engine(name: str) -> None:
    """Raise an error if no engine has that name, with advice for the engine `edge` of earlier versions."""
    if name == "edge":
        raise MathAMRError(
            "the engine edge, which kept the vectors of the index, is not in mathamr any more; move them to flat with:"
            " mathamr index --out DIR --engine flat --rebuild (graphs and words are kept)"
        )
    ENGINES.check(name)


def create_engine(
    folder: Path, fields: Sequence[Field], name: str = DEFAULT, options: Mapping[str, Any] | None = None
) -> Engine:
    """Return a new engine by name; the folder may exist if it holds no engine yet."""
    check_engine(name)
    return ENGINES[name].create(folder, fields, options)


def open_engine(folder: Path, *, read_only: bool = False) -> Engine:
    """Return the engine in a folder, whichever it is."""
    name = EngineHead.read(folder).engine
    check_engine(name)
    if (library := ENGINES[name].library) is not None:
        library.check()
    return ENGINES[name].open(folder, read_only=read_only)


def by_kind(fields: Sequence[Field]) -> dict[FieldTarget, tuple[Field, ...]]:
    """Return the fields of each kind of entry that has any."""
    kinds = ((kind, tuple(field for field in fields if field.of == kind)) for kind in KINDS)
    return {kind: own for kind, own in kinds if own}


_OF_FIRST_STAGES = ("first", "planes", "repetitions", "projected", "oversampling", "pool")
_OF_SERVERS = ("links", "construction", "memory", "workers", "quantisation")
RETIRED = frozenset((*_OF_FIRST_STAGES, *_OF_SERVERS))
"""Options that earlier versions had."""


@dataclass(frozen=True, slots=True)
class EngineHead:
    """The content of `engine.json`: the engine's name, its fields, its options."""

    engine: str
    fields: tuple[Field, ...]
    options: dict[str, Any]
    format: int = FORMAT

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if not 1 <= len(names) <= MOST_FIELDS:
            raise MathAMRError(f"an engine must have 1 to {MOST_FIELDS} fields, got {len(names)}")
        if len(set(names)) != len(names):
            raise MathAMRError(f"two fields of an engine have the same name: {', '.join(names)}")

    def write(self, folder: Path) -> None:
        """Write the head into the folder; raise an error if the folder already holds an engine."""
        if (folder / HEAD).exists():
            raise MathAMRError(f"{folder} holds an engine already; open it, or choose another folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MathAMRError(f"cannot make the folder {folder}: {error.strerror}") from error
        write_whole(folder / HEAD, json.dumps(asdict(self), indent=1).encode())

    @classmethod
    def read(cls, folder: Path, engine: str | None = None) -> EngineHead:
        """Read the head in a folder; raise an error if it does not name `engine`."""
        path = folder / HEAD
        try:
            row = json.loads(read_description(path))
            name, format = str(row["engine"]), int(row["format"])
        except FileNotFoundError as error:
            raise MathAMRError(f"no engine in {folder}: it has no {HEAD}") from error
        except OSError as error:
            raise MathAMRError(f"cannot read {path}: {error.strerror}") from error
        except DAMAGED as error:
            raise MathAMRError(f"{path} is damaged; build the index again") from error
        if format != FORMAT:
            raise MathAMRError(
                f"{path} has format {format}, this version reads {FORMAT}; build the index again"
            )
        if engine is not None and name != engine:
            raise MathAMRError(f"{folder} holds the engine {name!r}, not {engine!r}")
        try:
            options = {each: value for each, value in row["options"].items() if each not in RETIRED}
            return cls(name, tuple(map(Field.from_json, row["fields"])), options)
        except (MathAMRError, *DAMAGED) as error:
            raise MathAMRError(f"{path} is damaged ({error}); build the index again") from error


Options = TypeVar("Options")


def read_options(options_type: type[Options], engine: str, options: Mapping[str, Any] | None) -> Options:
    """Return the options of an engine, a frozen dataclass, from names and values; an unknown name lists the known ones."""
    values = dict(options or {})
    known = {field.name: field for field in fields(options_type)}  # type: ignore[arg-type]
    for name, value in values.items():
        if name not in known:
            raise MathAMRError(f"the engine {engine!r} has no option {name!r}; known: {', '.join(known)}")
        if isinstance(known[name].default, int):
            # A command line passes numbers as text.
            try:
                values[name] = int(value)
            except (TypeError, ValueError) as error:
                raise MathAMRError(
                    f"option {name!r} of the engine {engine!r} must be a number, got {value!r}"
                ) from error
        elif not isinstance(value, str):
            raise MathAMRError(f"option {name!r} of the engine {engine!r} must be text, got {value!r}")
    return options_type(**values)


def check_writable(store: Any) -> None:
    """Raise an error if a store of an engine was opened for reading."""
    if not store.writable:
        raise MathAMRError("the engine was opened for reading only")


def check_number(whose: str, name: str, value: int, most: int) -> None:
    """Raise an error if an option is too small or too large."""
    if not 1 <= int(value) <= most:
        raise MathAMRError(f"{name} of the {whose} must be from 1 to {most:,}, got {value}")
