"""Marks above and below: accents, lines, braces, arrows with labels."""

from __future__ import annotations

from mathamr.formulas.latex.display.atom import (
    ALWAYS,
    BIN,
    OP,
    ORD,
    REL,
    Atom,
    arranged,
    in_row,
    length,
    operator,
)
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.syntax import Construct, Row
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

_SMALL = {
    "\\hat": "ˆ", "\\check": "ˇ", "\\breve": "˘", "\\acute": "´", "\\grave": "`", "\\tilde": "˜", "\\bar": "¯",
    "\\vec": "→", "\\dot": "˙", "\\ddot": "¨", "\\dddot": "⃛", "\\ddddot": "⃜", "\\mathring": "˚",
    "\\Hat": "ˆ", "\\Check": "ˇ", "\\Tilde": "˜", "\\Acute": "´", "\\Grave": "`", "\\Dot": "˙", "\\Ddot": "¨",
    "\\Breve": "˘", "\\Bar": "¯", "\\Vec": "→",
}  # fmt: skip
_WIDE = {
    "\\widehat": "\u0302", "\\overrightarrow": "→", "\\overleftarrow": "←",
    "\\overleftrightarrow": "↔", "\\overparen": "⏜", "\\wideparen": "⏜", "\\overarc": "⏜", "\\Overrightarrow": "⇒",
    "\\overrightharpoon": "⇀", "\\overleftharpoon": "↼", "\\overgroup": "⏠",
}  # fmt: skip
_WIDENED = {"\\widetilde": "˜", "\\widecheck": "ˇ"}
"""Accents that no browser stretches: over several letters they are drawn wider."""
_WIDE_BELOW = {
    "\\underrightarrow": "→", "\\underleftarrow": "←", "\\underleftrightarrow": "↔", "\\underparen": "⏝", "\\utilde": "~",
    "\\undergroup": "⏡",
}  # fmt: skip
_WIDE |= {"\\overbrace": "⏞", "\\overbracket": "⎴"}
_WIDE_BELOW |= {"\\underbrace": "⏟", "\\underbracket": "⎵"}
_LINES = {"\\overline": "overline", "\\underline": "underline", "\\underbar": "underline"}


_SPECIAL: dict[str, dict[str, str]] = {
    "→": {"mathsize": "0.6em"},
    "¨": {STYLE: "raised"},
    "¯": {STYLE: "raised"},
}
"""How some small accents must be drawn to be in the right place."""


def _over(base: Element, accent: str, *, wide: bool) -> Element:
    sign = operator(accent, stretchy="true" if wide else "false", lspace="0em", rspace="0em")
    if not wide:
        sign.attributes = {**sign.attributes, **_SPECIAL.get(accent, {})}
    return Element("mover", "", (base, sign), {"accent": "true"})


def _widened(base: Element, accent: str) -> Element:
    letters = sum(len(part.text) for part in base.iterate())
    element = _over(base, accent, wide=False)
    if letters > 1:
        sign = element.children[1]
        sign.attributes = {**sign.attributes, STYLE: "wider" if letters == 2 else "widest"}
    return element


def _under(base: Element, accent: str) -> Element:
    sign = operator(accent, stretchy="true", lspace="0em", rspace="0em")
    return Element("munder", "", (base, sign), {"accentunder": "true"})


@maker("accent")
def _accent(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    name, base = piece.data, setter.element(piece.arguments[-1])
    if name in _LINES:
        atoms.append(Atom(Element("mrow", "", (base,), {STYLE: _LINES[name]}), ORD, setter.style))
        return
    if name in _SMALL or name in _WIDE:
        element = _over(base, _SMALL.get(name) or _WIDE[name], wide=name in _WIDE)
    elif name in _WIDENED:
        element = _widened(base, _WIDENED[name])
    else:
        element = _under(base, _WIDE_BELOW[name])
    setter.at(piece.place, element.children[1])
    if name.endswith(("brace", "bracket")):  # the script of a brace is its label
        atom = Atom(Element("mrow", "", (element,)), OP, setter.style, ALWAYS)
        atom.core = None
    else:
        atom = Atom(element, ORD, setter.style)
    atoms.append(atom)


# -- one thing above or below another


def _placed(
    setter: Typesetter, row: Row, above: Element | None, below: Element | None, kind: int | None = None
) -> Atom:
    """Return an argument with something above and below it; a relation stays a relation."""
    atoms = setter.walk(row)
    base = in_row(arranged(atoms))
    if kind is None:
        kind = atoms[0].kind if len(atoms) == 1 and atoms[0].kind in (BIN, REL) else ORD
    return stacked(base, above, below, kind, setter.style)


def stacked(base: Element, above: Element | None, below: Element | None, kind: int, style: int) -> Atom:
    """Return a base with labels that never move to its side."""
    atom = Atom(base, kind, style, ALWAYS)
    if atom.core is not None:
        atom.core.attributes = {"stretchy": "false", **atom.core.attributes}
    atom.sup, atom.sub = above, below
    return atom


@maker("placed")
def _over_or_under(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    label, base = setter.script_element(piece.arguments[0]), piece.arguments[1]
    above, below = (label, None) if piece.data == "OVERACCENT" else (None, label)
    atoms.append(_placed(setter, base, above, below))


@maker("over and under")
def _over_and_under(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    one, other = map(setter.script_element, piece.arguments[:2])
    above, below = (other, one) if piece.data else (one, other)
    atoms.append(_placed(setter, piece.arguments[2], above, below))


@maker("stacked")
def _stacked_relation(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    *under, over, base = piece.arguments
    below = setter.script_element(under[0]) if under and under[0] is not None else None
    kind = BIN if piece.data == "BINOP" else REL
    atoms.append(_placed(setter, base, setter.script_element(over), below, kind))


# -- long arrows

_SHORTEST = 2.6
"""The length of the shortest arrow, in the em of its labels: what fonts can draw."""


def _label(element: Element) -> Element:
    """Add space at both ends of a label, more for a short one."""
    if element.tag == "mrow" and not element.children:
        return Element("mspace", "", (), {"width": length(_SHORTEST)})
    letters = sum(len(part.text) for part in element.iterate())
    side = Element("mspace", "", (), {"width": length(max(0.6, (_SHORTEST - 0.5 * letters) / 2))})
    return Element("mrow", "", (side, element, side))


@maker("long arrow")
def _arrow(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    under, over = piece.arguments
    sign = setter.at(piece.place, operator(piece.data, stretchy="true"))
    labels = [_label(setter.script_element(label)) for label in (under, over) if label is not None]
    arrow = Element("mover" if under is None else "munderover", "", (sign, *labels))
    atoms.append(Atom(arrow, REL, setter.style))
