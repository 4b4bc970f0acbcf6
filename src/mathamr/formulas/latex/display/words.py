"""Words in formulas, as they are written: `\\text{if $x$ is odd}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from mathamr.formulas.latex.display.atom import ORD, Atom, arranged, in_row, length
from mathamr.formulas.latex.display.decoration import beside, colour_of
from mathamr.formulas.latex.display.lengths import em_of
from mathamr.formulas.latex.display.typesetter import COMMANDS, Command, Typesetter, command
from mathamr.formulas.latex.fonts import PLAIN, Font, variant
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.latex.text import (
    BOXES,
    CHARACTERS,
    LOGOS,
    TEXT_ACCENTS,
    TEXT_FONTS,
    PhraseReader,
    accented,
    plain_text,
)
from mathamr.formulas.mathml.alphabets import styled
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

_NO_BREAK_SPACE = "\u00a0"


@dataclass(frozen=True, slots=True)
class _Appearance:
    font: Font = PLAIN
    colour: str = ""


def words(setter: Typesetter, font: Font | None = None) -> Element:
    """The argument of a text command."""
    return in_row(_WordSetter.words(setter, _Appearance(font or PLAIN)))


class _WordSetter(PhraseReader[_Appearance, Element]):
    characters: ClassVar[Mapping[str, str]] = {
        **CHARACTERS, "\\textless": "<", "\\textgreater": ">", "\\textbar": "|", "\\lq": "‘", "\\rq": "’",
    }  # fmt: skip

    @classmethod
    def phrase(cls, text: str, appearance: _Appearance) -> Element:
        text = plain_text(text)
        bare = text.strip(" ")
        if bare != text:
            blank = len(text) - len(text.lstrip(" "))
            text = _NO_BREAK_SPACE * blank + bare + _NO_BREAK_SPACE * (len(text) - len(bare) - blank)
        alphabet = variant(appearance.font)
        attributes = {"mathcolor": appearance.colour} if appearance.colour else {}
        return Element("mtext", styled(text, alphabet) if alphabet else text, (), attributes)

    def in_font(self, font: Font) -> _Appearance:
        return replace(self.appearance, font=font)

    def put_formula(self, items: list[Atom]) -> None:
        if elements := arranged(items):
            self.parts.append(in_row(elements))

    def command(self, token: str) -> None:
        setter = self.reader
        assert isinstance(setter, Typesetter)
        if token in ("\\color", "\\textcolor"):
            appearance = replace(self.appearance, colour=colour_of(setter) or self.appearance.colour)
            if token == "\\textcolor" and setter.peek() == "{":
                self.open_group(appearance)
            else:
                self.switch(appearance)
        elif token in ("\\hspace", "\\hspace*"):
            setter.star()
            self.flush()
            width = length(em_of(setter.raw_argument()))
            self.parts.append(Element("mspace", "", (), {"width": width}))
        elif token in ("\\label", "\\ref", "\\eqref", "\\cite", "\\vspace", "\\tag"):
            setter.star()
            setter.raw_argument()
        elif token in SYMBOLS:
            self.letters.append(SYMBOLS[token].text)
        elif token in COMMANDS:
            self._mathematics(setter, token)
        else:
            self.unknown(token)

    def _mathematics(self, setter: Typesetter, token: str) -> None:
        """Draws a mathematical command among words, as in a formula."""
        self.flush()
        count, setter.count = setter.count, self.end
        found: list[Atom] = []
        COMMANDS[token](setter, found)
        setter.count = count
        self.parts.extend(arranged(found))


def _textual(name: str, font: Font | None) -> Command:
    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        raised = em_of(setter.raw_argument()) if BOXES.get(name) else 0.0
        while name in BOXES and setter.peek() == "[":
            setter.raw_optional()
        element = words(setter, font)
        if name in ("\\fbox", "\\framebox"):
            element = Element("mrow", "", (element,), {STYLE: "boxed"})
        elif name == "\\raisebox" and raised:
            element = Element("mpadded", "", (element,), {"voffset": length(raised)})
        elif name in ("\\rlap", "\\llap"):
            element = beside(element, "pulled-left" if name == "\\llap" else "")
        elif name in ("\\textsuperscript", "\\textsubscript"):
            tag = "msup" if name == "\\textsuperscript" else "msub"
            element = Element(tag, "", (Element("mrow"), element))
        atoms.append(Atom(element, ORD, setter.style))

    return put


for _name, _font in TEXT_FONTS.items():
    if _name not in COMMANDS:
        COMMANDS[_name] = _textual(_name, _font)


def _accented_letter(mark: str) -> Command:
    """Accents of text in a formula: `\\'e` is a word of one letter."""

    def put(setter: Typesetter, atoms: list[Atom]) -> None:
        atoms.append(
            Atom(_WordSetter.phrase(accented(setter.raw_argument(), mark), _Appearance()), ORD, setter.style)
        )

    return put


for _name, _mark in {**TEXT_ACCENTS, "\\d": "\u0323", "\\b": "\u0331"}.items():
    if _name not in COMMANDS:
        COMMANDS[_name] = _accented_letter(_mark)


@command(*(f"\\{logo}" for logo in LOGOS))
def _logo(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(Atom(Element("mtext", setter.tokens[setter.i - 1][1:]), ORD, setter.style))


@command("\\tag")
def _tag(setter: Typesetter, atoms: list[Atom]) -> None:
    """Records the number of a line, which is put at the end of the line."""
    bare = setter.star()
    words_of_tag = words(setter)
    fences = [] if bare else [Element("mtext", "("), Element("mtext", ")")]
    setter.tag = in_row([*fences[:1], words_of_tag, *fences[1:]])


@command("\\ref", "\\eqref", "\\cite")
def _reference(setter: Typesetter, atoms: list[Atom]) -> None:
    """Shows the name of a reference, whose number is unknown here."""
    name = setter.tokens[setter.i - 1]
    setter.raw_optional()
    text = setter.raw_argument()
    shown = {"\\eqref": f"({text})", "\\cite": f"[{text}]"}.get(name, text)
    atoms.append(Atom(Element("mtext", shown), ORD, setter.style))


@command("\\colorbox", "\\fcolorbox")
def _colour_box(setter: Typesetter, atoms: list[Atom]) -> None:
    framed = setter.tokens[setter.i - 1] == "\\fcolorbox"
    frame = colour_of(setter) if framed else ""
    background = colour_of(setter)
    attributes = {"mathbackground": background} if background else {}
    element = Element("mrow", "", (words(setter),), {**attributes, STYLE: "padded"})
    if framed:
        coloured = {"mathcolor": frame} if frame else {}
        element = Element("mrow", "", (Element("mstyle", "", (element,)),), {STYLE: "boxed", **coloured})
    atoms.append(Atom(element, ORD, setter.style))
