"""An operator tree as one term, `eq(f(x), plus(x, 1))`: short enough to read, to compare, and to write by hand."""

from __future__ import annotations

import re
import unicodedata

from mathamr.formulas.label import value
from mathamr.formulas.tree import Opt

_INTERVALS = {
    "interval(O-O)": "open-interval",
    "interval(C-C)": "closed-interval",
    "interval(O-C)": "open-closed-interval",
    "interval(C-O)": "closed-open-interval",
}
_GROUPS = {"V": "tuple", "L": "list", "S": "set", "M": "matrix", "R": "row"}
_COUNTED = re.compile(r"[VLSM]-[0-9x]+|R!")


def term(tree: Opt) -> str:
    """The tree as a term: an operator before its operands, letters without their font, words in quotes.

    >>> from mathamr.formulas.parse import parse
    >>> term(parse(r"f(x)=x^2", reading="mathematician").opt), term(parse(r"f(x)=x^2").opt)
    ('eq(f(x), SUP(x, 2))', 'eq(times(f, x), SUP(x, 2))')
    """
    children = tree.children()
    texts = [""] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        inner = ", ".join(texts[child] for child in children[node])
        texts[node] = f"{_name(tree.labels[node])}({inner})" if inner else _name(tree.labels[node])
    return texts[0]


def _name(label: str) -> str:
    found = value(label)
    if label.startswith("M!") and _COUNTED.fullmatch(found):
        return _GROUPS[found[0]]
    if label.startswith("T!"):
        return f'"{found}"'
    if label == "W!":
        return "absent"
    name = unicodedata.normalize("NFKC", _INTERVALS.get(found, found))
    return name.removeprefix("italic-").strip() or found
