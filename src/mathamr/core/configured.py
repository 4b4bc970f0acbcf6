"""Configurations from files and command lines: dataclasses whose field names and value types are checked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.storage.plainfiles import DAMAGED


def known_fields(
    kind: Any, row: dict[str, Any], what: str, like: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the row if all its names are fields of the dataclass and its values have the right types.

    `like` has a value of the right type for each field; by default the fields' defaults are used.
    """
    known = {field.name: (like or {}).get(field.name, field.default) for field in fields(kind)}
    for name, value in row.items():
        if name not in known:
            raise UnknownNameError(f"{what} configuration field", name, sorted(known))
        default = known[name]
        fits = isinstance(value, type(default)) or (isinstance(default, float) and isinstance(value, int))
        if not fits or (isinstance(value, bool) and not isinstance(default, bool)):
            raise MathAMRError(
                f"the {what} configuration's {name} is {value!r}: expected {type(default).__name__}, like {default!r}"
            )
    return row


@contextmanager
def describing(path: Path, what: str) -> Iterator[None]:
    """Turn errors from reading a configuration file inside the block into one clear error."""
    try:
        yield
    except FileNotFoundError as error:
        raise MathAMRError(f"no {what} in {path.parent}: it has no {path.name}") from error
    except (OSError, *DAMAGED) as error:
        raise MathAMRError(
            f"{path} does not describe a {what}, or it is damaged ({type(error).__name__}: {error})"
        ) from error


def check_ranges(configuration: Any, what: str, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise an error if a field of a configuration is outside its range."""
    for name, (low, high) in ranges.items():
        value = getattr(configuration, name)
        if not low <= value <= high:
            raise MathAMRError(f"the {what}'s {name} must be from {low:g} to {high:g}, got {value}")


def changed(configurations: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """Apply changes of the form ``field=value``, each to the configuration that has the field."""
    result = dict(configurations)
    owners = {field.name: name for name, each in configurations.items() for field in fields(each)}
    for change in changes:
        field, equals, text = change.partition("=")
        if not equals:
            raise MathAMRError(f"cannot read the change {change!r}; expected NAME=VALUE")
        if field not in owners:
            raise UnknownNameError("configuration field", field, sorted(owners))
        name = owners[field]
        row = known_fields(type(result[name]), {field: _value(text)}, name)
        result[name] = replace(result[name], **row)
    return result


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


class Configured:
    """A frozen dataclass that a model's folder keeps as JSON.

    `title` names it in errors, `ranges` are those of its numbers, and `later` are fields that older folders lack: they are not
    written while they have their defaults, so that fingerprints stay.
    """

    __slots__ = ()
    title: ClassVar[str]
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {}
    later: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        ranges: dict[str, tuple[float, float]] = {}
        for kind in reversed(type(self).__mro__):
            ranges |= vars(kind).get("ranges", {})
        check_ranges(self, self.title, ranges)
        self.check()

    def check(self) -> None:
        """Raise an error for invalid fields that `ranges` cannot express; subclasses override this."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        row = asdict(self)  # type: ignore[call-overload]
        usual = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in row.items() if name not in self.later or value != usual[name]}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Self:
        """Create the configuration from the JSON of `to_json`; refuse unknown fields and values of another type."""
        return cls(**known_fields(cls, row, cls.title))

    def changed(self, changes: Iterable[str]) -> Self:
        """Return a copy with some fields changed, each as ``NAME=VALUE``."""
        found: Self = changed({self.title: self}, changes)[self.title]
        return found
