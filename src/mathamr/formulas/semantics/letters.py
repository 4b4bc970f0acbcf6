"""The usual names of functions, scalars, sets and operators."""

from __future__ import annotations

import re

from mathamr.formulas.latex.content import identifier
from mathamr.formulas.latex.fonts import PLAIN, variant
from mathamr.formulas.latex.node import TOKEN, Node
from mathamr.formulas.latex.symbols import SYMBOLS

FUNCTIONS = frozenset("fghFGHΦΨφϕψΓζηχρOoΘℙ𝔼𝒪") | {"bold-φ"}
"""Letters that are functions whenever a group follows them."""
CAPITALS = frozenset("ABCDEIJKLMNPQRSTUVWXYZ")
"""Capital letters are functions of anything but capitals: `P(x+1)` is, `A(B+C)` is a product."""
CURVES = frozenset("uvwpqy")
"""Small letters that are often functions of a usual variable."""
ARGUMENTS = frozenset("xyztsτθωnkm")
"""Usual variables of functions."""
SCALARS = frozenset("λαβγκμνσδcabkn")
"""Letters that multiply a tuple of numbers: `\\lambda(1,0)`."""
DIFFERENTIABLE = frozenset("fghFφϕψΦΨΓζyuvwpqr")
"""Letters whose prime is a derivative unless the formula or the post indicates otherwise."""
DIFFERENTIALS = frozenset("xyztuvwsrθφϕμνλτωξσρVSWAP")
"""Letters that follow a differential `d`."""
DIVIDED = frozenset("GRVXMLAKESNHBCFZ")
DIVIDING = frozenset("HNIJKWUMFLABZPGQRT")
"""Capital letters of structures: `G/N` is a quotient."""

_SPELLED = ("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln",
            "exp", "det", "gcd", "lcm", "max", "min", "lim", "dim", "ker", "deg", "arg")  # fmt: skip
"""Functions whose backslash is often forgotten."""
_GROUPS = (
    "PSL",
    "PGL",
    "GL",
    "SL",
    "SO",
    "SU",
    "Sp",
    "Aut",
    "Hom",
    "End",
    "Gal",
    "Var",
    "Cov",
    "rank",
    "Tr",
    "Ker",
    "Res",
    "Id",
    "id",
)
"""Names, in letters of formulas, that a group or an index follows."""
_NAME = re.compile(
    f"(?P<function>{'|'.join(name for name in _SPELLED if chr(92) + name in SYMBOLS)})|{'|'.join(_GROUPS)}"
)
WORDS = frozenset(
    ["min", "max", "new", "old", "opt", "tot", "total", "avg", "ext", "int", "out", "in", "left", "right", "true", "rel", "abs",
     "ref", "obs", "crit", "eff", "cyc", "sym", "odd", "even", "prime"]
)  # fmt: skip
"""Words that are written as indices without \\text."""


def letter(node: Node) -> str:
    """Returns the name of a symbol: a letter of formulas itself, one of another alphabet as its Unicode character."""
    if variant(node.font) in ("italic", ""):
        return node.text
    return identifier(node)


def is_letter(node: Node) -> bool:
    """True if the node is one identifier."""
    return node.kind == TOKEN and node.role in ("UNKNOWN", "ID") and bool(node.text)


def is_plain(node: Node) -> bool:
    """True if the node is one letter of formulas in their usual font."""
    return is_letter(node) and len(node.text) == 1 and node.font.family == "math"


def is_structure(node: Node) -> bool:
    """True if the node is a letter that always names a set: blackboard, Fraktur, script."""
    if not is_letter(node):
        return False
    if node.text in "ℝℕℤℂℚ":
        return True
    return (
        (node.font.family == "blackboard" and node.text not in "PE1")
        or (node.font.family == "fraktur" and node.text.isupper())
        or (node.font.family in ("caligraphic", "script") and node.text.isupper() and node.text not in "OL")
    )


def spelled(text: str) -> Node | None:
    """Returns the function that the letters at the beginning of a text spell, as its command names it."""
    found = _NAME.match(text)
    if found is None:
        return None
    known = SYMBOLS.get("\\" + found[0]) if found.lastgroup == "function" else None
    if known is None:
        return Node(TOKEN, "OPFUNCTION", found[0], font=PLAIN)
    return Node(TOKEN, known.role, known.text, known.meaning, PLAIN, key=known.meaning or known.name)
