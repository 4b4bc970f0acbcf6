"""Configurations read from files: dataclasses of which every name and kind of value is checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mathamr.errors import MathAMRError, UnknownNameError


def known_fields(
    kind: Any, row: dict[str, Any], what: str, like: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The row, if all its names are fields of the dataclass and its values of their kinds.

    `like` has a value of the right kind for each field; without it the defaults are taken.
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
