"""`TypedItem`: a part of a typed formula while it is read, and slashes between them as fractions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
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


def fractions(items: Sequence[TypedItem], *, flat: bool = False, single: bool = False) -> list[TypedItem]:
    """Return the items with slashes as fractions; if `flat`, as in scripts, and between structures (`G/H`) slashes stay.

    If `single`, every slash divides one item by one.
    """
    done: list[TypedItem] = []
    if any(item.kind == "slash" for item in items):
        items = _with_differentials(items)
    place = 0
    while place < len(items):
        item = items[place]
        if item.kind != "slash" or not done or place + 1 == len(items):
            done.append(item)
            place += 1
            continue
        end = place + 2 if single else _denominator_end(items, place)
        below = list(items[place + 1 : end])
        start = len(done) - 1 if single else _numerator_start(done, is_tight=not item.space, below=below)
        above = done[start:]
        if not above or not below:
            done.append(item)
        elif flat or (not single and _is_structure(above) and _is_structure(below, is_divisor=True)):
            done += [item, *below]
            place = end
            continue
        else:
            latex = f"\\frac{{{_bare(above)}}}{{{_bare(below)}}}"
            done[start:] = [TypedItem(latex, "atom", above[0].space)]
            place = end
            continue
        place += 1
    return done


def _numerator_start(done: Sequence[TypedItem], *, is_tight: bool, below: Sequence[TypedItem]) -> int:
    """Return where the numerator begins: the product before a slash, of a tight slash without spaces."""
    start = len(done)
    while start > 0:
        item = done[start - 1]
        if item.kind == "function":
            if start == len(done) or (is_tight and all(each.kind == "number" for each in below)):
                break
        elif item.kind not in OPERANDS or (
            start < len(done)
            and is_tight
            and done[start].space
            and all(each.kind == "number" for each in done[start:])
        ):
            break
        start -= 1
    return start


def _denominator_end(items: Sequence[TypedItem], slash: int) -> int:
    """Return where the denominator ends: one factor with what follows it directly."""
    end = slash + 1
    if items[end].kind == "function":
        return min(len(items), end + 2)
    if items[end].kind not in OPERANDS:
        return end
    end += 1
    while (
        end < len(items)
        and items[end].kind in OPERANDS
        and not items[end].space
        and not (items[end - 1].kind == "number" and items[end].group)
    ):
        end += 1
    return end


_INTEGRAL = re.compile(r"\\(?:i{0,3}|o)int(?![a-zA-Z])")
_DIFFERENTIAL = re.compile(r"d(?:[a-zA-Z]|\\[a-zA-Z]+)")
_BEFORE_DIFFERENTIAL = re.compile(rf"(?P<factors>[a-zA-Z]+?)(?P<differential>{_DIFFERENTIAL.pattern})")


def _with_differentials(items: Sequence[TypedItem]) -> list[TypedItem]:
    """Return the items with `dx` apart from a denominator after an integral sign: `int sin(x)/xdx`."""
    found: list[TypedItem] = []
    is_integral = False
    for item in items:
        is_integral = is_integral or _INTEGRAL.match(item.latex) is not None
        joined = _BEFORE_DIFFERENTIAL.fullmatch(item.latex) if is_integral and item.kind == "atom" else None
        if joined and found and found[-1].kind == "slash":
            found += [
                replace(item, latex=joined["factors"]),
                TypedItem(joined["differential"], "atom", space=True),
            ]
        elif is_integral and found and found[-1].kind in OPERANDS and _DIFFERENTIAL.fullmatch(item.latex):
            found.append(replace(item, space=True))
        else:
            found.append(item)
    return found


_STRUCTURE = re.compile(
    r"""
    (?:\\mathbb\{[A-Z]\}|[A-Z])(?:[_^](?:\w|\{[^{}]*\}))?      # G, ℤ, S_n
    | (?:[A-Za-z]|\\mathbb\{[A-Z]\})\[[^\[\]]*\]               # k[x], ℤ[i]
    """,
    re.X,
)


def _is_structure(items: Sequence[TypedItem], *, is_divisor: bool = False) -> bool:
    """Return True for a group, ring or space by its look: `ℤ`, `G`, `k[x]`; as a divisor also `nℤ`, `(x^2)`, `ker f`."""
    latex = "".join(item.latex for item in items)
    if _STRUCTURE.fullmatch(latex):
        return True
    if not is_divisor:
        return False
    return bool(
        items[0].latex.startswith((r"\ker", r"\mathbb"))
        or re.fullmatch(r"[\da-z]+\\mathbb\{[A-Z]\}", latex)
        or (len(items) == 1 and (items[0].group or re.fullmatch(r"\d+|[a-zI]", latex)))
    )


def _bare(items: Sequence[TypedItem]) -> str:
    return items[0].group if len(items) == 1 and items[0].group else written(items)
