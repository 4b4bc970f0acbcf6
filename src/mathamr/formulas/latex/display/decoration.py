"""Space, boxes, strokes, phantoms, colours, styles and fonts; and commands without a trace on a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from mathamr.formulas.latex.display.atom import (
    ORD,
    Atom,
    arranged,
    in_row,
    length,
    switch,
)
from mathamr.formulas.latex.display.fractions import STYLES
from mathamr.formulas.latex.display.lengths import bare_length, em_of
from mathamr.formulas.latex.display.typesetter import COMMANDS, Command, Typesetter, command
from mathamr.formulas.latex.fonts import (
    ALPHABETS,
    BOLD_COMMANDS,
    FONT_COMMANDS,
    Font,
    chosen,
    emboldened,
)
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, SCRIPTSCRIPT, TEXT
from mathamr.formulas.latex.symbols import SPACES
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

# -- space

_WORD_SPACE = 1 / 3


def _fixed_space(width: float) -> Command:
    return lambda setter, atoms: atoms.append(setter.space(width)) if width else None


for _name, _points in SPACES.items():
    COMMANDS[_name] = _fixed_space(_points / 10)
for _name in ("\\ ", "\\space", "\\\t", "\\\n", "~", "\\nobreakspace"):
    COMMANDS[_name] = _fixed_space(_WORD_SPACE)


@command("\\hspace", "\\mspace", "\\hspace*")
def _horizontal_space(setter: Typesetter, atoms: list[Atom]) -> None:
    setter.star()
    atoms.append(setter.space(em_of(setter.raw_argument())))


@command("\\hskip", "\\kern", "\\mkern", "\\mskip")
def _skip(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(setter.space(bare_length(setter)))


@command("\\vskip")
def _vertical_skip(setter: Typesetter, atoms: list[Atom]) -> None:
    bare_length(setter)


@command("\\rule")
def _black_box(setter: Typesetter, atoms: list[Atom]) -> None:
    raised = em_of(setter.raw_optional() or "")
    width, height = em_of(setter.raw_argument()), em_of(setter.raw_argument())
    sizes = {
        "width": length(width),
        "height": length(height + raised),
        "depth": length(-raised if raised < 0 else 0),
    }
    atoms.append(Atom(Element("mspace", "", (), {**sizes, STYLE: "filled"}), ORD, setter.style))


# -- boxes


def _in(tag: str, attributes: Mapping[str, str], skipped: int = 0) -> Command:
    """Puts the argument inside an element; `skipped` arguments before it have no effect on a page."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        while setter.raw_optional() is not None:
            pass
        for _ in range(skipped):
            setter.raw_argument()
        atoms.append(Atom(Element(tag, "", (setter.element(),), attributes), ORD, setter.style))

    return put


COMMANDS["\\phantom"] = _in("mphantom", {})


@command("\\smash")
def _smashed(setter: Typesetter, atoms: list[Atom]) -> None:
    """Removes height and depth, or only the named one."""
    which = (setter.raw_optional() or "tb").strip()
    sizes = {name: "0em" for letter, name in (("t", "height"), ("b", "depth")) if letter in which}
    atoms.append(Atom(Element("mpadded", "", (setter.element(),), sizes), ORD, setter.style))


COMMANDS["\\boxed"] = COMMANDS["\\Aboxed"] = COMMANDS["\\bbox"] = _in("mrow", {STYLE: "boxed"})
COMMANDS["\\cancel"] = _in("mrow", {STYLE: "cancelled"})
COMMANDS["\\bcancel"] = _in("mrow", {STYLE: "cancelled-back"})
COMMANDS["\\xcancel"] = _in("mrow", {STYLE: "crossed"})
COMMANDS["\\sout"] = _in("mrow", {STYLE: "struck"})


def _phantom_of(attributes: Mapping[str, str]) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        hidden = Element("mphantom", "", (setter.element(),))
        atoms.append(Atom(Element("mpadded", "", (hidden,), attributes), ORD, setter.style))

    return put


COMMANDS["\\hphantom"] = _phantom_of({"height": "0em", "depth": "0em"})
COMMANDS["\\vphantom"] = _phantom_of({"width": "0em"})


def _without_width(name: str) -> Command:
    """Draws something beside or over its place without taking space."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(Atom(beside(setter.element(), name), ORD, setter.style))

    return put


_LONGEST_BESIDE = 40
"""The maximum number of characters beside their place; more could cover the page around a formula."""


def beside(element: Element, name: str) -> Element:
    """Makes an element that takes no space, shifted to the left by one of our styles or not at all."""
    if sum(len(part.text) for part in element.iterate()) > _LONGEST_BESIDE:
        return element
    inside = Element("mrow", "", (element,), {STYLE: name} if name else {})
    return Element("mpadded", "", (inside,), {"width": "0em"})


COMMANDS["\\mathrlap"] = COMMANDS["\\lefteqn"] = _without_width("")
COMMANDS["\\mathllap"] = _without_width("pulled-left")
COMMANDS["\\mathclap"] = COMMANDS["\\clap"] = _without_width("pulled-half")
for _name in ("\\mathrlap", "\\mathllap", "\\mathclap"):
    COMMANDS["\\cramped" + _name.removeprefix("\\math")] = COMMANDS[_name]

_NOTATIONS = {
    "updiagonalstrike": "cancelled", "downdiagonalstrike": "cancelled-back", "horizontalstrike": "struck",
    "top": "overline", "bottom": "underline", "box": "boxed", "roundedbox": "boxed", "circle": "circled",
}  # fmt: skip


@command("\\enclose")
def _enclose(setter: Typesetter, atoms: list[Atom]) -> None:
    notation = setter.raw_argument().split()
    setter.raw_optional()
    element = setter.element()
    for name in notation[:5]:
        if name in _NOTATIONS:
            element = Element("mrow", "", (element,), {STYLE: _NOTATIONS[name]})
    atoms.append(Atom(element, ORD, setter.style))


@command("\\cancelto")
def _cancelled_to(setter: Typesetter, atoms: list[Atom]) -> None:
    value = setter.script_element()
    atom = Atom(Element("mrow", "", (setter.element(),), {STYLE: "cancelled"}), ORD, setter.style)
    atom.sup = value
    atoms.append(atom)


def _moved(setter: Typesetter, atoms: list[Atom], sign: int) -> None:
    offset = sign * bare_length(setter)
    atoms.append(
        Atom(Element("mpadded", "", (setter.element(),), {"voffset": length(offset)}), ORD, setter.style)
    )


COMMANDS["\\raise"] = partial(_moved, sign=1)
COMMANDS["\\lower"] = partial(_moved, sign=-1)


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


def colour_of(setter: Typesetter) -> str:
    """Returns the colour that an argument names, in MathML's form, if it names one."""
    model = (setter.raw_optional() or "").strip()
    return _colour(setter, model, setter.raw_argument().strip())


def _colour(setter: Typesetter, model: str, text: str) -> str:
    if not model and text in setter.colours:
        return setter.colours[text]
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


@command("\\definecolor")
def _define_colour(setter: Typesetter, atoms: list[Atom]) -> None:
    name, model, value = (
        setter.raw_argument().strip(),
        setter.raw_argument().strip(),
        setter.raw_argument().strip(),
    )
    setter.colours[name] = _colour(setter, model, value)


@command("\\colorlet")
def _same_colour(setter: Typesetter, atoms: list[Atom]) -> None:
    name = setter.raw_argument().strip()
    setter.colours[name] = colour_of(setter)


@command("\\color")
def _colour_switch(setter: Typesetter, atoms: list[Atom]) -> None:
    colour = colour_of(setter)
    if colour:
        atoms.append(switch({"mathcolor": colour}))


@command("\\textcolor", "\\mathcolor")
def _coloured(setter: Typesetter, atoms: list[Atom]) -> None:
    colour = colour_of(setter)
    found = setter.argument()
    if not colour:
        atoms.extend(found)
        return
    element = Element("mstyle", "", arranged(found), {"mathcolor": colour})
    atoms.append(Atom(element, found[0].kind if len(found) == 1 else ORD, setter.style))


def _in_colour(colour: str) -> Command:
    return lambda setter, atoms: atoms.extend(
        setter.substituted(rf"\textcolor{{{colour}}}{{#1}}", setter.raw_tokens())
    )


for _name in ("red", "blue", "green", "orange", "pink", "purple", "gray"):
    COMMANDS["\\" + _name] = _in_colour(_name)


# Sets a style for the rest of the group.


def style_switch(style: int) -> Command:
    """Puts a style in force for the rest of the group."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        setter.style = style
        atoms.append(switch(STYLES[style]))

    return put


COMMANDS["\\displaystyle"] = style_switch(DISPLAY)
COMMANDS["\\textstyle"] = style_switch(TEXT)
COMMANDS["\\scriptstyle"] = style_switch(SCRIPT)
COMMANDS["\\scriptscriptstyle"] = style_switch(SCRIPTSCRIPT)
for _name, _size in {
    "\\tiny": "0.5em", "\\scriptsize": "0.7em", "\\footnotesize": "0.8em", "\\small": "0.9em", "\\large": "1.2em",
    "\\Large": "1.44em", "\\LARGE": "1.73em", "\\huge": "2.07em", "\\Huge": "2.49em",
}.items():  # fmt: skip
    COMMANDS[_name] = lambda setter, atoms, size=_size: atoms.append(switch({"mathsize": size}))  # type: ignore[misc]


def _in_font(change: Callable[[Font], Font]) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        font, setter.font = setter.font, change(setter.font)
        found = setter.argument()
        setter.font = font
        atoms.append(found[0] if len(found) == 1 else Atom(in_row(arranged(found)), ORD, setter.style))

    return put


for _name, _alphabet in FONT_COMMANDS.items():
    COMMANDS[_name] = _in_font(partial(chosen, alphabet=ALPHABETS[_alphabet]))
for _name in BOLD_COMMANDS:
    COMMANDS[_name] = _in_font(emboldened)
