"""`EngineBase`: the common part of all engines: it dispatches kinds of entries to their stores and fields to their readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Generic, Protocol, TypeVar

from mathamr.core.errors import MathAMRError, MissingExtraError, UnknownNameError
from mathamr.index.engines.entry import Entry, Payload
from mathamr.systems.field import Field, FieldTarget


@dataclass(frozen=True, slots=True)
class ClientLibrary:
    """A library that an engine needs; it is imported when the engine is made or opened."""

    module: str
    speaker: str
    """Its name in error messages."""
    title: str
    """The command that installs it."""
    install: str

    def check(self) -> None:
        """Raise `MissingExtraError` if it is not installed."""
        try:
            import_module(self.module)
        except ImportError as error:
            raise MissingExtraError(self.title, self.install) from error

    @contextmanager
    def reporting(self, what: str) -> Iterator[None]:
        """Turn errors inside into `MathAMRError`; also a panic of the library, which is not an `Exception`."""
        try:
            yield
        except MathAMRError:
            raise
        except BaseException as error:
            if isinstance(error, Exception) or type(error).__name__ == "PanicException":
                reason = str(error)[:500] or type(error).__name__
                raise MathAMRError(f"{self.speaker} cannot {what}: {reason}") from error
            raise


Reader = TypeVar("Reader")


class EntryStore(Protocol):
    """The entries of one kind; its methods are those of `Engine`."""

    def upsert(self, entries: Iterable[Entry]) -> None:
        """Add or replace entries."""
        ...

    def delete(self, ids: Iterable[str]) -> None:
        """Delete entries."""
        ...

    def count(self) -> int:
        """Return how many there are."""
        ...

    def ids(self) -> Iterator[str]:
        """Return the ids of all."""
        ...

    def payloads(self, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries."""
        ...


Store = TypeVar("Store", bound=EntryStore)


class EngineBase(Generic[Store, Reader]):
    """Stores by kind and readers by field; a kind without fields has no entries and cannot store any."""

    def __init__(
        self, fields: Sequence[Field], stores: Mapping[FieldTarget, Store], readers: Mapping[str, Reader]
    ) -> None:
        self.fields, self.stores, self._readers = tuple(fields), dict(stores), dict(readers)

    def __getitem__(self, field: str) -> Reader:
        if field not in self._readers:
            raise UnknownNameError("field", field, list(self._readers))
        return self._readers[field]

    def upsert(self, of: FieldTarget, entries: Iterable[Entry]) -> None:
        """Add or replace entries."""
        if of not in self.stores:
            raise MathAMRError(f"the engine has no field of {of}; its fields are of {', '.join(self.stores)}")
        self.stores[of].upsert(entries)

    def delete(self, of: FieldTarget, ids: Iterable[str]) -> None:
        """Delete entries."""
        if of in self.stores:
            self.stores[of].delete(ids)

    def count(self, of: FieldTarget) -> int:
        """Return the number of entries."""
        return self.stores[of].count() if of in self.stores else 0

    def ids(self, of: FieldTarget) -> Iterator[str]:
        """Return the ids of all entries."""
        return self.stores[of].ids() if of in self.stores else iter(())

    def payloads(self, of: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        """Return the payloads of entries."""
        return self.stores[of].payloads(ids) if of in self.stores else {}
