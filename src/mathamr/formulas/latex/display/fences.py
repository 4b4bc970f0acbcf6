"""Fences: delimiters that grow with their content, or have a fixed size."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.display.atom import length, overhang
from mathamr.formulas.latex.styles import DISPLAY
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.mathml.element import Element

_BIG = frozenset(symbol.text for symbol in SYMBOLS.values() if symbol.role in ("SUMOP", "INTOP"))
_TALL = frozenset(["mfrac", "mtable", "munder", "munderover", "mroot", "mspace"])


def is_tall(elements: Sequence[Element], budget: Budget) -> bool:
    """Return True if something is higher than a line, so that delimiters around it must grow."""
    waiting = list(elements)
    while waiting:
        element = waiting.pop()
        budget.spend()
        if element.tag in _TALL and (element.tag != "mspace" or "height" in element.attributes):
            return True
        if element.tag == "mo" and (element.attributes.get("stretchy") == "true" or element.text in _BIG):
            return True
        if element.tag == "mover" and "accent" not in element.attributes:
            return True
        waiting.extend(element.children)
    return False


def fenced(
    left: Element | None,
    elements: Sequence[Element],
    right: Element | None,
    budget: Budget,
    style: int = DISPLAY,
) -> Element:
    """Put elements between delimiters that grow with them; around a line of text they keep their size.

    (A delimiter that may grow is as wide as its largest form in Chromium, whatever its size: the fractions of
    text style get one of their size.)
    """
    grows = is_tall(elements, budget)
    row = list(elements)
    if grows and style != DISPLAY and _only_fractions(elements, budget):
        before = [] if left is None else [sized(left, _SCALED)]
        after = [] if right is None else [sized(right, _SCALED)]
        return Element("mrow", "", [*before, *row, *after])
    if left is not None:
        row.insert(0, _fence(left, "prefix", grows=grows))
    if right is not None:
        last = row[-1] if row else None
        row.append(_fence(right, "postfix", grows=grows, before=overhang(last) if last is not None else 0.0))
    return Element("mrow", "", row)


def _only_fractions(elements: Sequence[Element], budget: Budget) -> bool:
    """Return True if nothing is higher than a fraction of two lines."""
    waiting = list(elements)
    while waiting:
        element = waiting.pop()
        if element.tag == "mfrac":
            if is_tall(element.children, budget):
                return False
        elif element.tag in ("mrow", "mpadded"):
            waiting.extend(element.children)
        elif is_tall([element], budget):
            return False
    return True


def _fence(element: Element, form: str, *, grows: bool, before: float = 0.0) -> Element:
    attributes = {
        "form": form,
        "stretchy": "true" if grows else "false",
        "lspace": length(before),
        "rspace": "0em",
    }
    if grows and element.text in "/\\|‖∥∣↑↓↕⇑⇓⇕":
        attributes["symmetric"] = "true"
    fence = Element("mo", element.text, (), attributes)
    fence.origin = element.origin
    return fence


_SCALED = 1.2
"""Up to this size a delimiter is scaled instead of stretched, which takes less space in Chromium."""


def sized(delimiter: Element, size: float) -> Element:
    """Return a delimiter of a size in em."""
    if size <= _SCALED:
        attributes = {"stretchy": "false", "mathsize": length(size), "lspace": "0em", "rspace": "0em"}
        sign = Element("mo", delimiter.text, (), attributes)
        made = Element("mpadded", "", (sign,), {"voffset": "-0.05em"})
    else:
        attributes = {
            "stretchy": "true",
            "symmetric": "true",
            "minsize": length(size),
            "maxsize": length(size),
        }
        sign = Element("mo", delimiter.text, (), {**attributes, "lspace": "0em", "rspace": "0em"})
        # A row of its own: as the base of a script it would not grow.
        made = Element("mrow", "", (sign,))
    sign.origin = delimiter.origin
    return made
