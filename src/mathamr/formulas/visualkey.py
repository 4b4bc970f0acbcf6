"""Visual keys: formulas that look the same have the same key, however they were written or grouped.

The key is made of the visible symbols in reading order: the symbols of each base line with their scripts.
Invisible grouping (whether fences were matched, whether a row is one base or many) makes no difference, nor
do spacing, invisible operators, and characters that look alike. Visible alphabets (bold, script, …) are distinguished,
as is everything that could not be parsed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from mathamr.formulas.label import node_type, value
from mathamr.formulas.tree import Slt

_MATRIX = re.compile(r"M!((?:.*[^0-9])?)([0-9]+)x([0-9]+)", re.DOTALL)
_FENCES = re.compile(r"(&[a-z]+;|.)(&[a-z]+;|.)", re.DOTALL)
_FENCE_SYMBOLS = frozenset(
    ["(", ")", "{", "}", "|", "‖", "∥", "&lsqb;", "&rsqb;", "⟨", "⟩", "⌊", "⌋", "⌈", "⌉"]
)
ALIKE = str.maketrans(
    {
        "-": "−",
        "∥": "‖",
        "∣": "|",
        "⁄": "/",
        "∕": "/",
        "·": "⋅",
        "∗": "*",
        "∖": "\\",
        "ʹ": "′",
        "'": "′",
        "‾": "¯",
        "―": "¯",
        "∶": ":",
        "∙": "•",
        "µ": "μ",
        "Ω": "Ω",
        "ℎ": "h",
    }
    | {
        chr(0x1D434 + place): "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[place]
        for place in range(52)
    }
    | {chr(0x1D6E2 + place): chr(0x391 + place) for place in range(25)}
    | {chr(0x1D6FC + place): chr(0x3B1 + place) for place in range(25)}
)
"""Characters that look alike, and the italic alphabets: a single letter is italic anyway."""

_BUILT = frozenset(["O!divide", "O!root"])
"""Symbols that are drawn around their parts, even if these are missing."""
_SCRIPTS = {"a": "^{", "b": "_{", "c": "↖{", "d": "↙{", "o": "↑{", "u": "↓{"}
_FENCE_SCRIPTS = _SCRIPTS | {"o": "^{", "u": "_{"}
"""A script of a fence is a superscript or subscript, whichever name the tree gives it."""


UNREAD = "source-"
"""The beginning of the key of a formula that cannot be read, which looks like formulas of the same source only."""


def visual_key(tree: Slt) -> str:
    """Return a short key of the appearance: equal for formulas that look the same."""
    return blake2b(visual_text(tree).encode(errors="surrogatepass"), digest_size=12).hexdigest()


def visual_text(tree: Slt) -> str:
    """Return the visible symbols in reading order: the text behind `visual_key`, to see why keys differ.

    >>> from mathamr.formulas.notation import slt_from_string
    >>> visual_text(slt_from_string("[M!()1x1,a[N!2],w[V!x[-[N!1]]]]"))
    '( x − 1 ) ^{ 2 }'
    """
    labels = tree.labels
    following = [0] * len(labels)
    below: dict[int, dict[str, int]] = {}
    for parent, edge, node in tree.triples():
        if edge == "n":
            following[parent] = node
        else:
            below.setdefault(parent, {})[edge] = node
    written: list[str] = []
    stack: list[int | str] = [0]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        if following[item]:
            stack.append(following[item])
        if item in below or labels[item] in _BUILT:
            stack.extend(reversed(_drawn(item, labels, below)))
        elif text := _text(labels[item]):
            written.append(text)
    return " ".join(written)


def _drawn(node: int, labels: Sequence[str], below: Mapping[int, dict[str, int]]) -> list[int | str]:
    """Draw one symbol and everything attached to it except the next symbol: text, and base lines still to be drawn."""
    label, edges = labels[node], below.get(node, {})
    matrix = _MATRIX.fullmatch(label) if "w" in edges and label.startswith("M!") else None
    if matrix is not None:
        return _drawn_matrix(matrix, edges, labels, below)
    if label == "O!divide":
        drawn: list[int | str] = ["frac{", *_part(edges, "o"), "}{", *_part(edges, "u"), "}"]
    elif label == "O!root":
        drawn = ["√{", *_part(edges, "c"), "}{", *_part(edges, "w"), "}"]
        edges = {edge: child for edge, child in edges.items() if edge != "c"}
    else:
        text = _text(label)
        drawn = [text] if text else []
        if "w" in edges:
            drawn += ["{", edges["w"], "}"]
    if label == "O!divide":
        edges = {edge: child for edge, child in edges.items() if edge not in "ou"}
    return drawn + _scripts(edges, on_fence=label in _FENCE_SYMBOLS)


def _text(label: str) -> str:
    """Return the visible text of a label."""
    return _remembered(label) if len(label) <= _LONGEST_REMEMBERED else _read(label)


def _read(label: str) -> str:
    """Return the visible text of a label, uncached; single upright letters (text, operators) are distinguished from italic
    ones.
    """
    if label.startswith("E!"):
        return label
    text = " ".join(value(label).split())
    is_upright = node_type(label) in ("T", "") and len(text) == 1 and text.isascii() and text.isalpha()
    return f"upright {text}" if is_upright else text.translate(ALIKE)


_LONGEST_REMEMBERED = 40
"""The maximum length of a cached label; words may be long."""
_remembered = lru_cache(maxsize=4096)(_read)


def _drawn_matrix(
    matrix: re.Match[str],
    edges: dict[str, int],
    labels: Sequence[str],
    below: Mapping[int, dict[str, int]],
) -> list[int | str]:
    """Draw fences around parts, a table, or the invisible wrapper of a row with scripts."""
    cells: list[int] = []
    cell: int | None = edges["w"]
    while cell is not None:
        cells.append(cell)
        cell = below[cell].get("e") if cell in below else None
    rows, columns = matrix[2], matrix[3]
    fences = _FENCES.fullmatch(matrix[1])
    drawn: list[int | str] = list(cells)
    if rows != "1" or (not matrix[1] and columns != "1"):
        drawn = [f"{rows}x{columns}{{"]
        for each in cells:
            drawn += [each, "&"]
        drawn.append("}")
    if fences is not None:
        drawn = [fences[1].translate(ALIKE), *drawn, fences[2].translate(ALIKE)]
    elif matrix[1]:
        drawn = [matrix[1], *drawn]
    elif ("o" in edges or "u" in edges) and labels[edges["w"]] not in _FENCE_SYMBOLS:
        return ["{", *drawn, "}", *_scripts(edges, on_fence=False)]
    return drawn + _scripts(edges, on_fence=True)


def _part(edges: dict[str, int], edge: str) -> list[int]:
    return [edges[edge]] if edge in edges else []


def _scripts(edges: dict[str, int], *, on_fence: bool) -> list[int | str]:
    names = _FENCE_SCRIPTS if on_fence else _SCRIPTS
    drawn: list[int | str] = []
    for edge, name in names.items():
        if edge in edges:
            drawn += [name, edges[edge], "}"]
    return drawn


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
