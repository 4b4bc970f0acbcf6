"""One registry of names per extension point, shared by command line, configuration and Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from mathamr.core.errors import MathAMRError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """The names of the implementations of one extension point; each is imported when it is first used.

    With a `group`, installed packages can add implementations as entry points of that group. Their names come after
    the built-in ones, which they cannot replace.

    >>> readers: Registry[type] = Registry("number type", {"fraction": "fractions:Fraction"})
    >>> readers["fraction"].__name__
    'Fraction'
    >>> readers["surreal"]
    Traceback (most recent call last):
    mathamr.core.errors.UnknownNameError: unknown number type 'surreal'; known: fraction
    """

    def __init__(self, kind: str, entries: dict[str, str], group: str | None = None) -> None:
        self.kind = kind
        self._built_in, self._group = dict(entries), group

    @property
    def _entries(self) -> dict[str, str]:
        if self._group is None:
            return self._built_in
        return self._built_in | {
            name: value
            for name, value in entry_points(self._group, tuple(sys.path)).items()
            if name not in self._built_in
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._built_in or name in self._entries

    def check(self, name: str) -> None:
        """Raise `UnknownNameError` for a name that is not known."""
        if name not in self:
            raise UnknownNameError(self.kind, name, list(self._entries))

    def __getitem__(self, name: str) -> T:
        entry = self._built_in.get(name) or self._entries.get(name)
        if entry is None:
            raise UnknownNameError(self.kind, name, list(self._entries))
        module, _, attribute = entry.partition(":")
        try:
            loaded: Any = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            if name in self._built_in:
                raise
            raise MathAMRError(
                f"the {self.kind} {name!r} of an installed package cannot be loaded from {entry!r} ({error}); "
                "repair or remove the package"
            ) from error
        return loaded  # type: ignore[no-any-return]


@lru_cache(maxsize=16)
def entry_points(group: str, _path: tuple[str, ...]) -> dict[str, str]:
    """Return the entry points of the packages on the module search path `path`, in the order of their names."""
    from importlib import metadata

    return {point.name: point.value for point in sorted(metadata.entry_points(group=group))}
