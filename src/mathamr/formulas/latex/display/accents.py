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
from mathamr.formulas.latex.display.typesetter import COMMANDS, Command, Typesetter, command
from mathamr.formulas.latex.styles import SCRIPTS
from mathamr.formulas.latex.symbols import LONG_ARROWS
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
_BRACES = {"\\overbrace": "⏞", "\\overbracket": "⎴"}
_BRACES_BELOW = {"\\underbrace": "⏟", "\\underbracket": "⎵"}
_LINES = {"\\overline": "overline", "\\underline": "underline", "\\underbar": "underline"}


_SPECIAL: dict[str, dict[str, str]] = {
    "→": {"mathsize": "0.6em"},
    "¨": {STYLE: "raised"},
    "¯": {STYLE: "raised"},
}
"""How some small accents must be drawn to be in the right place."""


def _over(base: Element, accent: str, wide: bool) -> Element:
    sign = operator(accent, stretchy="true" if wide else "false", lspace="0em", rspace="0em")
    if not wide:
        sign.attributes = {**sign.attributes, **_SPECIAL.get(accent, {})}
    return Element("mover", "", (base, sign), {"accent": "true"})


def _widened(accent: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        base = setter.element()
        letters = sum(len(part.text) for part in base.iterate())
        element = _over(base, accent, wide=False)
        if letters > 1:
            sign = element.children[1]
            sign.attributes = {**sign.attributes, STYLE: "wider" if letters == 2 else "widest"}
        atoms.append(Atom(element, ORD, setter.style))

    return put


def _under(base: Element, accent: str) -> Element:
    sign = operator(accent, stretchy="true", lspace="0em", rspace="0em")
    return Element("munder", "", (base, sign), {"accentunder": "true"})


def _accent(accent: str, wide: bool) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(Atom(_over(setter.element(), accent, wide), ORD, setter.style))

    return put


def _accent_below(accent: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(Atom(_under(setter.element(), accent), ORD, setter.style))

    return put


def _brace(accent: str, below: bool) -> Command:
    """A brace, whose script is its label."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        while setter.peek() == "[":
            setter.raw_optional()
        base = setter.element()
        element = _under(base, accent) if below else _over(base, accent, wide=True)
        atom = Atom(Element("mrow", "", (element,)), OP, setter.style, ALWAYS)
        atom.core = None
        atoms.append(atom)

    return put


def _line(name: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        element = Element("mrow", "", (setter.element(),), {STYLE: name})
        atoms.append(Atom(element, ORD, setter.style))

    return put


for _name, _text in _SMALL.items():
    COMMANDS[_name] = _accent(_text, wide=False)
for _name, _text in _WIDE.items():
    COMMANDS[_name] = _accent(_text, wide=True)
for _name, _text in _WIDENED.items():
    COMMANDS[_name] = _widened(_text)
for _name, _text in _WIDE_BELOW.items():
    COMMANDS[_name] = _accent_below(_text)
for _name, _text in _BRACES.items():
    COMMANDS[_name] = _brace(_text, below=False)
for _name, _text in _BRACES_BELOW.items():
    COMMANDS[_name] = _brace(_text, below=True)
for _name, _text in _LINES.items():
    COMMANDS[_name] = _line(_text)


# -- one thing above or below another


def _placed(
    setter: Typesetter, above: Element | None, below: Element | None, kind: int | None = None
) -> Atom:
    """Returns the next argument with something above and below it; a relation stays a relation."""
    atoms = setter.argument()
    base = in_row(arranged(atoms))
    if kind is None:
        kind = atoms[0].kind if len(atoms) == 1 and atoms[0].kind in (BIN, REL) else ORD
    return stacked(base, above, below, kind, setter.style)


def stacked(base: Element, above: Element | None, below: Element | None, kind: int, style: int) -> Atom:
    """A base with labels that never move to its side."""
    atom = Atom(base, kind, style, ALWAYS)
    if atom.core is not None:
        atom.core.attributes = {"stretchy": "false", **atom.core.attributes}
    atom.sup, atom.sub = above, below
    return atom


@command("\\overset")
def _overset(setter: Typesetter, atoms: list[Atom]) -> None:
    above = setter.element(style=SCRIPTS[setter.style])
    atoms.append(_placed(setter, above, None))


@command("\\underset")
def _underset(setter: Typesetter, atoms: list[Atom]) -> None:
    below = setter.element(style=SCRIPTS[setter.style])
    atoms.append(_placed(setter, None, below))


@command("\\overunderset", "\\underoverset")
def _over_and_under(setter: Typesetter, atoms: list[Atom]) -> None:
    first = setter.tokens[setter.i - 1]
    one, other = setter.element(style=SCRIPTS[setter.style]), setter.element(style=SCRIPTS[setter.style])
    above, below = (one, other) if first == "\\overunderset" else (other, one)
    atoms.append(_placed(setter, above, below))


@command("\\stackrel", "\\stackbin")
def _stacked_relation(setter: Typesetter, atoms: list[Atom]) -> None:
    kind = BIN if setter.tokens[setter.i - 1] == "\\stackbin" else REL
    below = setter.optional_element(SCRIPTS[setter.style])
    above = setter.element(style=SCRIPTS[setter.style])
    atoms.append(_placed(setter, above, below, kind))


@command("\\buildrel")
def _built_relation(setter: Typesetter, atoms: list[Atom]) -> None:
    style, setter.style = setter.style, SCRIPTS[setter.style]
    above = in_row(arranged(setter.read_up_to("\\over", "\\buildrel")))
    setter.style = style
    atoms.append(_placed(setter, above, None, REL))


# -- long arrows

_SHORTEST = 2.6
"""The length of the shortest arrow, in the em of its labels: what fonts can draw."""


def long_arrow(
    sign: str, above: Element | None, below: Element | None, shortest: float = _SHORTEST
) -> Element:
    """An arrow as long as its labels and a little more."""
    arrow = operator(sign, stretchy="true")
    over = _label(above, shortest)
    if below is None:
        return Element("mover", "", (arrow, over))
    return Element("munderover", "", (arrow, _label(below, shortest), over))


def _label(element: Element | None, shortest: float) -> Element:
    """Adds space at both ends of a label, more for a short one."""
    if element is None or (element.tag == "mrow" and not element.children):
        return Element("mspace", "", (), {"width": length(shortest)})
    letters = sum(len(part.text) for part in element.iterate())
    side = Element("mspace", "", (), {"width": length(max(0.6, (shortest - 0.5 * letters) / 2))})
    return Element("mrow", "", (side, element, side))


def _arrow(sign: str) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        below = setter.optional_element(SCRIPTS[setter.style])
        above = setter.element(style=SCRIPTS[setter.style])
        atoms.append(Atom(long_arrow(sign, above, below), REL, setter.style))

    return put


for _name, _text in LONG_ARROWS.items():
    COMMANDS[_name] = _arrow(_text)
