"""One registry of names a seam, shared by command line, configuration and Python."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Generic, TypeVar

from mathamr.core.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names of the implementations of one seam, imported only when one is asked for.

    >>> readers: Registry[type] = Registry("number type", {"fraction": "fractions:Fraction"})
    >>> readers["fraction"].__name__
    'Fraction'
    >>> readers["surreal"]
    Traceback (most recent call last):
    mathamr.core.errors.UnknownNameError: unknown number type 'surreal'; known: fraction
    """

    def __init__(self, kind: str, entries: dict[str, str]) -> None:
        self.kind = kind
        self._entries = dict(entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def check(self, name: str) -> None:
        """Complains about a name that is not known."""
        if name not in self._entries:
            raise UnknownNameError(self.kind, name, list(self._entries))

    def __getitem__(self, name: str) -> T:
        self.check(name)
        module, _, attribute = self._entries[name].partition(":")
        loaded: Any = getattr(import_module(module), attribute)
        return loaded  # type: ignore[no-any-return]
