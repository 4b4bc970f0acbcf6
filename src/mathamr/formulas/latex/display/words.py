"""Words in formulas, as they are written: `\\text{if $x$ is odd}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mathamr.formulas.latex.display.atom import ORD, Atom, arranged, em_of, in_row, length
from mathamr.formulas.latex.display.decoration import beside, colour_of, styled_row
from mathamr.formulas.latex.display.typesetter import Typesetter, maker
from mathamr.formulas.latex.fonts import PLAIN, Font, variant
from mathamr.formulas.latex.styles import TEXT
from mathamr.formulas.latex.syntax import Construct, Gap, Phrase
from mathamr.formulas.latex.text import accented, plain_text
from mathamr.formulas.mathml.alphabets import styled
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

_NO_BREAK_SPACE = "\u00a0"


def words(setter: Typesetter, place: int, parts: Sequence[Any]) -> Element:
    """Return the argument of a text command as one element."""
    made: list[Element] = []
    for part in parts:
        if isinstance(part, Phrase):
            colour = colour_of(*part.colour) if part.colour else ""
            made.append(setter.at(place, _phrase(part.text, part.font, colour)))
        elif isinstance(part, Gap):
            made.append(Element("mspace", "", (), {"width": length(em_of(part.length))}))
        elif part.font is None:
            made.extend(arranged(setter.walk(part.row)))
        else:
            font, style = setter.font, setter.style
            setter.set_font_and_style(part.font, max(style, TEXT))
            elements = arranged(setter.walk(part.row))
            setter.set_font_and_style(font, style)
            if elements:
                made.append(in_row(elements))
    return in_row(made)


def _phrase(text: str, font: Font = PLAIN, colour: str = "") -> Element:
    text = plain_text(text)
    bare = text.strip(" ")
    if bare != text:
        blank = len(text) - len(text.lstrip(" "))
        text = _NO_BREAK_SPACE * blank + bare + _NO_BREAK_SPACE * (len(text) - len(bare) - blank)
    alphabet = variant(font)
    attributes = {"mathcolor": colour} if colour else {}
    return Element("mtext", styled(text, alphabet) if alphabet else text, (), attributes)


@maker("words")
def _words(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    name = piece.data
    element = words(setter, piece.place, piece.arguments[-1])
    if name in ("\\fbox", "\\framebox"):
        element = styled_row(element, "boxed")
    elif name == "\\raisebox" and (raised := em_of(piece.arguments[0])):
        element = Element("mpadded", "", (element,), {"voffset": length(raised)})
    elif name in ("\\rlap", "\\llap"):
        element = beside(element, "pulled-left" if name == "\\llap" else "")
    elif name in ("\\textsuperscript", "\\textsubscript"):
        tag = "msup" if name == "\\textsuperscript" else "msub"
        element = Element(tag, "", (Element("mrow"), element))
    atoms.append(Atom(element, ORD, setter.style))


@maker("accented letter", "dotted letter")
def _accented_letter(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Draw a word of one letter, `\\'e`."""
    mark = piece.data if isinstance(piece.data, str) else piece.data[1]
    element = setter.at(piece.place, _phrase(accented(piece.arguments[0], mark)))
    atoms.append(Atom(element, ORD, setter.style))


@maker("logo")
def _logo(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    atoms.append(Atom(setter.at(piece.place, Element("mtext", piece.data)), ORD, setter.style))


@maker("tag")
def _tag(setter: Typesetter, piece: Construct, _atoms: list[Atom]) -> None:
    """Record the number of a line, which is put at the end of the line."""
    bare, parts = piece.arguments
    fences = [] if bare else [Element("mtext", "("), Element("mtext", ")")]
    setter.tag = in_row([*fences[:1], words(setter, piece.place, parts), *fences[1:]])


@maker("reference")
def _reference(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    """Show the name of a reference, whose number is unknown here."""
    text = piece.arguments[1]
    shown = {"\\eqref": f"({text})", "\\cite": f"[{text}]"}.get(piece.data, text)
    atoms.append(Atom(Element("mtext", shown), ORD, setter.style))


@maker("colour box")
def _colour_box(setter: Typesetter, piece: Construct, atoms: list[Atom]) -> None:
    *framed, model, name, parts = piece.arguments
    frame = colour_of(*framed) if framed else ""
    background = colour_of(model, name)
    attributes = {"mathbackground": background} if background else {}
    element = Element("mrow", "", (words(setter, piece.place, parts),), {**attributes, STYLE: "padded"})
    if framed:
        coloured = {"mathcolor": frame} if frame else {}
        element = Element("mrow", "", (Element("mstyle", "", (element,)),), {STYLE: "boxed", **coloured})
    atoms.append(Atom(element, ORD, setter.style))
