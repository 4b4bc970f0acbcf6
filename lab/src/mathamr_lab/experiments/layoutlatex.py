"""LaTeX of a layout tree, for formulas of which only the published trees are known.

What a tree does not hold (space, sizes, some fonts) is lost, and some groups have several spellings: `latex_of` is a
guess, and its caller checks that the LaTeX has the tree's layout.
"""

from __future__ import annotations

import re
import unicodedata

from mathamr.formulas.label import value
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.mathml.alphabets import styled_completely
from mathamr.formulas.tree import Slt

_GROUP = re.compile(r"M!(.*?)([0-9]+)x([0-9]+)")
_ESCAPES = {"&comma;": ",", "&lsqb;": "[", "&rsqb;": "]", "&quest;": "?"}
_ALPHABETS = {
    "double-struck": "\\mathbb", "script": "\\mathcal", "fraktur": "\\mathfrak", "bold": "\\mathbf", "monospace": "\\mathtt",
    "sans-serif": "\\mathsf", "bold-italic": "\\boldsymbol",
}  # fmt: skip
_ACCENTS = {"¯": "\\overline", "^": "\\hat", "~": "\\tilde", "→": "\\vec", "˙": "\\dot", "¨": "\\ddot"}
_COMMANDS = {symbol.text: name for name, symbol in reversed(SYMBOLS.items()) if name.startswith("\\")}
_COMMANDS |= {
    styled_completely(letter, alphabet) or "": f"{command}{{{letter}}}"
    for alphabet, command in _ALPHABETS.items()
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
}
_COMMANDS |= {
    "−": "-",
    "-": "-",
    "∣": "\\mid",
    "′": "\\prime",
    "|": "|",
    "‖": "\\|",
    "{": "\\{",
    "}": "\\}",
    "/": "/",
    "*": "*",
}
_COMMANDS |= {
    "⟨": "\\langle",
    "⟩": "\\rangle",
    "(": "(",
    ")": ")",
    "%": "\\%",
    "#": "\\#",
    "&": "\\&",
    "∥": "\\|",
    "||": "\\|",
}
_SPECIAL = frozenset("{}%#&|$_^~")


def latex_of(tree: Slt) -> str:
    """Return LaTeX with the layout of the tree."""
    children = [{tree.edges[child]: child for child in below} for below in tree.children()]

    def line(node: int | None) -> str:
        parts: list[str] = []
        while node is not None:
            parts.append(symbol(node))
            node = children[node].get("n")
        return " ".join(parts)

    def script(node: int, edge: str, mark: str) -> str:
        return f"{mark}{{{line(children[node][edge])}}}" if edge in children[node] else ""

    def symbol(node: int) -> str:
        label, below = tree.labels[node], children[node]
        group = _GROUP.fullmatch(label)
        over = value(tree.labels[below["o"]]) if "o" in below else ""
        if label == "O!divide":
            base = f"\\frac{{{line(below.get('o'))}}}{{{line(below.get('u'))}}}"
        elif label == "O!root":
            degree = f"[{line(below['c'])}]" if "c" in below else ""
            base = f"\\sqrt{degree}{{{line(below.get('w'))}}}"
            return base + script(node, "b", "_") + script(node, "a", "^")
        elif over in _ACCENTS and len(children[below["o"]]) == 0:
            inner = _shown(label) if "w" not in below else line(below["w"])
            base = f"{_ACCENTS[over]}{{{inner}}}"
        elif group is not None:
            base = _grouped(node, group)
            base += script(node, "u", "_") + script(node, "o", "^")
        else:
            base = _shown(label) + script(node, "u", "_") + script(node, "o", "^")
        before = (
            "{}" + script(node, "d", "_") + script(node, "c", "^") if "c" in below or "d" in below else ""
        )
        return before + base + script(node, "b", "_") + script(node, "a", "^")

    def elements(node: int) -> list[int]:
        found = []
        at = children[node].get("w")
        while at is not None:
            found.append(at)
            at = children[at].get("e")
        return found

    def _grouped(node: int, group: re.Match[str]) -> str:
        fences, rows, columns = group.group(1), int(group.group(2)), int(group.group(3))
        for escape, character in _ESCAPES.items():
            fences = fences.replace(escape, character)
        cells = [line(each) for each in elements(node)]
        if rows == 1:
            opening, closing = (_COMMANDS.get(fence, fence) for fence in (fences[:1], fences[1:2]))
            return (
                f"\\left{opening or '.'}{' '.join(cells)}\\right{closing or '.'}"
                if fences
                else f"{{{' '.join(cells)}}}"
            )
        lines = [" & ".join(cells[start : start + columns]) for start in range(0, len(cells), columns)]
        name = {"()": "pmatrix", "[]": "bmatrix", "||": "vmatrix", "{": "cases"}.get(fences, "matrix")
        return f"\\begin{{{name}}}" + " \\\\ ".join(lines) + f"\\end{{{name}}}"

    return line(0)


def _shown(label: str) -> str:
    """Return the LaTeX of a symbol by its label."""
    text = value(label)
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character)
    if label.startswith("T!"):
        return f"\\text{{{text}}}"
    if label.startswith("N!"):
        return text
    if label == "W!":
        return "{}"
    if len(text) > 1:
        known = "\\" + text.replace(" ", "")
        if set(text) == {"′"}:
            return " ".join(["\\prime"] * len(text))
        if known in SYMBOLS:
            return known
        if all(sign in _COMMANDS for sign in text) and not text.isalnum():
            return " ".join(_COMMANDS[sign] for sign in text)
        return f"\\operatorname{{{text}}}" if text.isalpha() else text
    if not text or (text.isascii() and text not in _SPECIAL):
        return text
    if unicodedata.name(text, "").startswith("MATHEMATICAL ITALIC") or text == "ℎ":
        return unicodedata.normalize("NFKC", text)
    return _COMMANDS.get(text, text)
