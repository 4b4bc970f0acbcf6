"""Configurations read from files: dataclasses of which every name and kind of value is checked."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mathamr.errors import MathAMRError, UnknownNameError


def known_fields(kind: Any, row: dict[str, Any], what: str) -> dict[str, Any]:
    """The row, if all its names are fields of the dataclass and its values of their kinds."""
    known = {field.name: field.default for field in fields(kind)}
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
