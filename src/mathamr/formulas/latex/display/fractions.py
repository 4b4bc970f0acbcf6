"""Fractions, binomials and roots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr.formulas.latex.display.atom import ORD, Atom, arranged, em_of, in_row, length, operator
from mathamr.formulas.latex.display.fences import fenced, is_tall, sized
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.styles import DISPLAY, SCRIPT, SMALLER
from mathamr.formulas.latex.symbols import DELIMITERS
from mathamr.formulas.latex.syntax import Construct, Row
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
    """Return an element in one of TeX's styles."""
    return Element("mstyle", "", (element,), STYLES[style])


def _made(setter: Typesetter, rows: Sequence[Row], style: int, **attributes: str) -> Element:
    parts = [setter.element(row, SMALLER[style]) for row in rows]
    return Element("mfrac", "", parts, attributes)


@maker("fraction")
def _fraction(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    own = setter.style if piece.data is None else piece.data
    element = _made(setter, piece.arguments, own)
    atoms.append(Atom(element if piece.data is None else in_style(element, own), ORD, setter.style))


@maker("continued fraction")
def _continued(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw a continued fraction, whose parts have full size."""
    strut = Element("mspace", "", (), {"height": "0.85em", "depth": "0.35em"})
    above, below = (setter.element(part, DISPLAY) for part in piece.arguments[1:])
    parts = [in_style(Element("mrow", "", (strut, above)), DISPLAY), in_style(below, DISPLAY)]
    atoms.append(Atom(in_style(Element("mfrac", "", parts), DISPLAY), ORD, setter.style))


@maker("flat fraction")
def _flat(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    above, below = map(setter.walk, piece.arguments)
    atoms.append(Atom(in_row(arranged([*above, Atom(operator("/")), *below])), ORD, setter.style))


@maker("slanted fraction")
def _slanted(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw a numerator above the line and a denominator on it, both in script size."""
    above, below = (setter.element(part, SCRIPT) for part in piece.arguments[1:])
    raised = Element("mpadded", "", (in_style(above, SCRIPT),), {"voffset": "0.4em", "height": "1em"})
    bar = operator("/", lspace="-0.1em", rspace="-0.1em")
    atoms.append(Atom(Element("mrow", "", (raised, bar, in_style(below, SCRIPT))), ORD, setter.style))


@maker("binomial")
def _binomial(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    own = setter.style if piece.data is None else piece.data
    stacked = _made(setter, piece.arguments, own, linethickness="0em")
    left, right = operator("("), operator(")")
    if own == DISPLAY:
        element = fenced(left, [stacked], right, setter.budget)
    else:
        element = Element("mrow", "", (sized(left, 1.2), stacked, sized(right, 1.2)))
    atoms.append(Atom(element if piece.data is None else in_style(element, own), ORD, setter.style))


@maker("general fraction")
def _general(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    left, right, thickness, chosen, above, below = piece.arguments
    thickness, chosen = thickness.strip(), chosen.strip()
    style = int(chosen) if chosen in ("0", "1", "2", "3") else setter.style
    attributes = {"linethickness": length(em_of(thickness))} if thickness else {}
    made = _made(setter, (above, below), style, **attributes)
    element = fenced(_raw_delimiter(left), [made], _raw_delimiter(right), setter.budget)
    atoms.append(Atom(in_style(element, style) if chosen else element, ORD, setter.style))


def _raw_delimiter(written: str) -> Element | None:
    written = written.strip()
    if not written or written == ".":
        return None
    return operator(DELIMITERS.get(written, (written,))[0])


@maker("root")
def _root(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    above, below = piece.arguments
    degree = None if above is None else setter.element(above, SCRIPT)
    radicand = setter.element(below)
    quirk = {} if is_tall([radicand], setter.budget) else {STYLE: "small-root"}
    if setter.style != DISPLAY:
        # Fonts leave hardly any space under the line outside of display style.
        radicand = Element("mrow", "", (Element("mspace", "", (), {"height": "0.75em"}), radicand))
    if degree is None or (degree.tag == "mrow" and not degree.children):
        atoms.append(Atom(Element("msqrt", "", (radicand,), quirk), ORD, setter.style))
    else:
        atoms.append(Atom(Element("mroot", "", (radicand, degree), quirk), ORD, setter.style))
