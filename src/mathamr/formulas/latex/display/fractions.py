"""Fractions, binomials and roots."""

from __future__ import annotations

from collections.abc import Mapping

from mathamr.formulas.latex.display.atom import (
    ORD,
    Atom,
    arranged,
    in_row,
    length,
    operator,
)
from mathamr.formulas.latex.display.fences import fenced, is_tall, sized
from mathamr.formulas.latex.display.lengths import em_of
from mathamr.formulas.latex.display.typesetter import Command, Typesetter, command
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, SMALLER, TEXT
from mathamr.formulas.latex.symbols import DELIMITERS
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

STYLES: tuple[Mapping[str, str], ...] = (
    {"displaystyle": "true", "scriptlevel": "0"},
    {"displaystyle": "false", "scriptlevel": "0"},
    {"displaystyle": "false", "scriptlevel": "1"},
    {"displaystyle": "false", "scriptlevel": "2"},
)
"""The styles of TeX as attributes of MathML."""


def in_style(element: Element, style: int) -> Element:
    """An element in one of TeX's styles."""
    return Element("mstyle", "", (element,), STYLES[style])


def _fraction(setter: Typesetter, style: int, **attributes: str) -> Element:
    parts = (setter.element("numerator", SMALLER[style]), setter.element("denominator", SMALLER[style]))
    return Element("mfrac", "", parts, attributes)


@command("\\frac")
def _frac(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(Atom(_fraction(setter, setter.style), ORD, setter.style))


def _fraction_in(style: int) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(Atom(in_style(_fraction(setter, style), style), ORD, setter.style))

    return put


command("\\dfrac")(_fraction_in(DISPLAY))
command("\\tfrac")(_fraction_in(TEXT))


@command("\\cfrac")
def _continued(setter: Typesetter, atoms: list[Atom]) -> None:
    """Draws a continued fraction, whose parts have full size."""
    setter.raw_optional()
    strut = Element("mspace", "", (), {"height": "0.85em", "depth": "0.35em"})
    above, below = setter.element("numerator", DISPLAY), setter.element("denominator", DISPLAY)
    parts = [in_style(Element("mrow", "", (strut, above)), DISPLAY), in_style(below, DISPLAY)]
    atoms.append(Atom(in_style(Element("mfrac", "", parts), DISPLAY), ORD, setter.style))


@command("\\flatfrac")
def _flat(setter: Typesetter, atoms: list[Atom]) -> None:
    above, below = setter.argument("numerator"), setter.argument("denominator")
    atoms.append(Atom(in_row(arranged([*above, Atom(operator("/")), *below])), ORD, setter.style))


@command("\\nicefrac", "\\sfrac")
def _slanted(setter: Typesetter, atoms: list[Atom]) -> None:
    """Draws a numerator above the line and a denominator on it, both in script size."""
    setter.raw_optional()
    above, below = setter.element("numerator", SCRIPT), setter.element("denominator", SCRIPT)
    raised = Element("mpadded", "", (in_style(above, SCRIPT),), {"voffset": "0.4em", "height": "1em"})
    bar = operator("/", lspace="-0.1em", rspace="-0.1em")
    atoms.append(Atom(Element("mrow", "", (raised, bar, in_style(below, SCRIPT))), ORD, setter.style))


def _binomial(style: int | None) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        own = setter.style if style is None else style
        stacked = _fraction(setter, own, linethickness="0em")
        if own == DISPLAY:
            element = fenced(operator("("), [stacked], operator(")"), setter.budget)
        else:
            element = Element("mrow", "", (sized("(", 1.2), stacked, sized(")", 1.2)))
        atoms.append(Atom(element if style is None else in_style(element, own), ORD, setter.style))

    return put


command("\\binom")(_binomial(None))
command("\\dbinom")(_binomial(DISPLAY))
command("\\tbinom")(_binomial(TEXT))


@command("\\genfrac")
def _general(setter: Typesetter, atoms: list[Atom]) -> None:
    left, right = _raw_delimiter(setter), _raw_delimiter(setter)
    thickness, chosen = setter.raw_argument().strip(), setter.raw_argument().strip()
    style = int(chosen) if chosen in ("0", "1", "2", "3") else setter.style
    attributes = {"linethickness": length(em_of(thickness))} if thickness else {}
    element = fenced(left, [_fraction(setter, style, **attributes)], right, setter.budget)
    atoms.append(Atom(in_style(element, style) if chosen else element, ORD, setter.style))


def _raw_delimiter(setter: Typesetter) -> Element | None:
    written = setter.raw_argument().strip()
    if not written or written == ".":
        return None
    return operator(DELIMITERS.get(written, (written,))[0])


@command("\\sqrt")
def _root(setter: Typesetter, atoms: list[Atom]) -> None:
    degree = setter.optional_element(SCRIPT)
    _append_root(setter, atoms, degree, setter.element("radicand"))


@command("\\root")
def _plain_root(setter: Typesetter, atoms: list[Atom]) -> None:
    style, setter.style = setter.style, SCRIPT
    degree = in_row(arranged(setter.read_up_to("\\of", "\\root")))
    setter.style = style
    _append_root(setter, atoms, degree, setter.element("radicand"))


def _append_root(setter: Typesetter, atoms: list[Atom], degree: Element | None, radicand: Element) -> None:
    quirk = {} if is_tall([radicand], setter.budget) else {STYLE: "small-root"}
    if setter.style != DISPLAY:
        # Fonts leave hardly any space under the line outside of display style.
        radicand = Element("mrow", "", (Element("mspace", "", (), {"height": "0.75em"}), radicand))
    if degree is None or (degree.tag == "mrow" and not degree.children):
        atoms.append(Atom(Element("msqrt", "", (radicand,), quirk), ORD, setter.style))
    else:
        atoms.append(Atom(Element("mroot", "", (radicand, degree), quirk), ORD, setter.style))
