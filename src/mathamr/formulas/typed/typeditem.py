"""`TypedItem`: a part of a typed formula while it is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["atom", "number", "function", "big", "operation", "relation", "comma", "slash", "text"]
OPERANDS = frozenset(["atom", "number"])


@dataclass(frozen=True, slots=True)
class TypedItem:
    """A part of a formula: its LaTeX, its kind, and whether a space precedes it."""

    latex: str
    kind: Kind
    space: bool = False
    group: str = ""
    """What a group in round brackets holds, without the brackets."""


def written(items: Sequence[TypedItem]) -> str:
    """Return items side by side, with a space where one was typed or where a command would run into a letter."""
    parts: list[str] = []
    last = ""
    for item in items:
        if last and (item.space or (re.search(r"\\[A-Za-z]+\Z", last) and item.latex[:1].isalpha())):
            parts.append(" ")
        parts.append(item.latex)
        last = item.latex
    return "".join(parts)
