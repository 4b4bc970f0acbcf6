"""Space, boxes, strokes, phantoms, colours, styles and fonts."""

from __future__ import annotations

import re
from collections.abc import Callable

from mathamr.formulas.latex.display.atom import ORD, Atom, arranged, em_of, in_row, length, switch
from mathamr.formulas.latex.display.fractions import STYLES
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.syntax import Construct
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

# -- space


@maker("space")
def _space(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atoms.append(setter.space(em_of(piece.arguments[1])))


@maker("skip")
def _skip(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    if piece.data != "vertical":
        atoms.append(setter.space(em_of(piece.arguments[0])))


@maker("rule")
def _black_box(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    raised, width, height = (em_of(each or "") for each in piece.arguments)
    sizes = {
        "width": length(width),
        "height": length(height + raised),
        "depth": length(-raised if raised < 0 else 0),
    }
    atoms.append(Atom(Element("mspace", "", (), {**sizes, STYLE: "filled"}), ORD, setter.style))


# -- boxes


def styled_row(element: Element, style: str) -> Element:
    """Return an element in a row with a style of ours."""
    return Element("mrow", "", (element,), {STYLE: style})


@maker("phantom")
def _phantom(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    element = Element("mphantom", "", (setter.element(piece.arguments[0]),))
    if piece.data == "\\hphantom":
        element = Element("mpadded", "", (element,), {"height": "0em", "depth": "0em"})
    elif piece.data == "\\vphantom":
        element = Element("mpadded", "", (element,), {"width": "0em"})
    atoms.append(Atom(element, ORD, setter.style))


@maker("smashed")
def _smashed(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Remove height and depth, or only the named one."""
    which = (piece.arguments[0] or "tb").strip()
    sizes = {name: "0em" for letter, name in (("t", "height"), ("b", "depth")) if letter in which}
    element = Element("mpadded", "", (setter.element(piece.arguments[1]),), sizes)
    atoms.append(Atom(element, ORD, setter.style))


@maker("enclosed")
def _enclosed(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    element = styled_row(setter.element(piece.arguments[-1]), piece.data[1])
    atoms.append(Atom(element, ORD, setter.style))


@maker("beside")
def _without_width(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw something beside or over its place without taking space."""
    atoms.append(Atom(beside(setter.element(piece.arguments[-1]), piece.data), ORD, setter.style))


_LONGEST_BESIDE = 40
"""The maximum number of characters beside their place; more could cover the page around a formula."""


def beside(element: Element, name: str) -> Element:
    """Return an element that takes no space, shifted to the left by the style `name` if there is one; a long one is returned as it is."""
    if sum(len(part.text) for part in element.iterate()) > _LONGEST_BESIDE:
        return element
    inside = Element("mrow", "", (element,), {STYLE: name} if name else {})
    return Element("mpadded", "", (inside,), {"width": "0em"})


@maker("cancelled to")
def _cancelled_to(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    value = setter.script_element(piece.arguments[0])
    atom = Atom(styled_row(setter.element(piece.arguments[1]), "cancelled"), ORD, setter.style)
    atom.sup = value
    atoms.append(atom)


@maker("moved")
def _moved(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    distance, content = piece.arguments
    offset = {"voffset": length(piece.data * em_of(distance))}
    atoms.append(Atom(Element("mpadded", "", (setter.element(content),), offset), ORD, setter.style))


@maker("shown", "several columns")
def _shown(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    content = piece.arguments[-1]
    if piece.data:
        atoms.append(Atom(styled_row(setter.element(content), piece.data), ORD, setter.style))
    else:
        atoms.extend(setter.walk(content))


@maker("choice")
def _choice(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atoms.extend(setter.walk(piece.arguments[setter.style]))


# -- colours

_MODELS: dict[str, Callable[[list[float]], list[float]]] = {
    "rgb": lambda parts: parts,
    "RGB": lambda parts: [part / 255 for part in parts],
    "gray": lambda parts: parts * 3,
    "cmyk": lambda parts: [(1 - part) * (1 - parts[3]) for part in parts[:3]],
}
_SIZES = {"rgb": 3, "RGB": 3, "gray": 1, "cmyk": 4}
_NAMED = re.compile("[a-zA-Z]{3,30}")
_HEX = re.compile("#?([0-9a-fA-F]{6}|[0-9a-fA-F]{3})")


def colour_of(model: str | None, text: str) -> str:
    """Return the colour that an argument names, in MathML's form, if it names one."""
    model, text = (model or "").strip(), text.strip()
    if model in _MODELS:
        try:
            parts = [min(max(float(part), 0.0), 255.0) for part in text.split(",")]
        except ValueError:
            return ""
        if len(parts) != _SIZES[model]:
            return ""
        return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in _MODELS[model](parts))
    hexadecimal = _HEX.fullmatch(text)
    if hexadecimal and (text[0] == "#" or model == "HTML"):
        return "#" + hexadecimal[1]
    return text.partition("!")[0] if _NAMED.fullmatch(text.partition("!")[0]) else ""


@maker("colour switch")
def _colour_switch(_setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    colour = colour_of(*piece.arguments)
    if colour:
        atoms.append(switch({"mathcolor": colour}))


@maker("coloured")
def _coloured(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    colour = colour_of(*piece.arguments[:2])
    found = setter.walk(piece.arguments[-1])
    if not colour:
        atoms.extend(found)
        return
    element = Element("mstyle", "", arranged(found), {"mathcolor": colour})
    atoms.append(Atom(element, found[0].kind if len(found) == 1 else ORD, setter.style))


# -- styles and fonts


@maker("style")
def _style(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Put a style in force for the rest of the group."""
    setter.style = piece.data
    atoms.append(switch(STYLES[piece.data]))


@maker("size")
def _size(_setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atoms.append(switch({"mathsize": piece.data}))


@maker("font")
def _font(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    font, setter.font = setter.font, piece.data(setter.font)
    found = setter.walk(piece.arguments[0])
    setter.font = font
    atoms.append(found[0] if len(found) == 1 else Atom(in_row(arranged(found)), ORD, setter.style))


@maker("font switch")
def _font_switch(setter: Typesetter, piece: Construct, _atoms: list[Atom]) -> None:
    setter.font = piece.data(setter.font)
