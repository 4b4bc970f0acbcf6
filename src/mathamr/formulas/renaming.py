"""Compares formulas up to the names of their letters: Pascal's rule in a and b is that in n and k."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from mathamr.formulas.tree import Slt
from mathamr.formulas.visualkey import visual_key

FEWEST_SYMBOLS = 5
"""The fewest symbols of a formula whose form is characteristic; in a smaller one like `f(x)` the letters matter."""
_FIXED = frozenset(["π"])
"""Letters that are names of numbers."""


def form_key(tree: Slt) -> str:
    """Return the visual key of a formula whose letters are numbered in order of first occurrence.

    It is equal for two formulas if their letters correspond one to one, position by position. Upright words
    (`sin`), numbers, π, and letters of special alphabets (ℝ) keep their names; bold letters stay bold.

    >>> from mathamr.formulas.parse import parse
    >>> keys = [form_key(parse(latex).slt) for latex in ("a^2+b^2=c^2", "x^2+y^2=z^2", "x^2+y^2=x^2", "x^3+y^2=z^2")]
    >>> keys[0] == keys[1], keys[0] == keys[2], keys[0] == keys[3]
    (True, False, False)
    """
    numbers: dict[str, str] = {}
    labels = []
    for label in tree.labels:
        alphabet = _alphabet(label)
        if alphabet is not None:
            label = numbers.setdefault(label, f"V!{alphabet}#{len(numbers)}")
        labels.append(label)
    return visual_key(Slt(tuple(labels), tree.parents, tree.edges))


def count_letters(tree: Slt) -> int:
    """Count the letters that may be renamed: a quick check before two forms are compared."""
    return sum(_alphabet(label) is not None for label in tree.labels)


@lru_cache(maxsize=4096)
def _alphabet(label: str) -> str | None:
    """Return the alphabet of a letter that may be renamed: an empty text for the usual italics."""
    letter = label[2:]
    if not label.startswith("V!") or len(letter) != 1 or letter in _FIXED:
        return None
    name = unicodedata.name(letter, "")
    if name.startswith(("LATIN", "GREEK")):
        return ""
    return "bold" if name.startswith("MATHEMATICAL BOLD") and "SCRIPT" not in name else None
