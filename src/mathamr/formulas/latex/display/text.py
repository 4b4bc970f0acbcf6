"""Words in formulas, as they are written: `\\text{if $x$ is odd}`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from mathamr.formulas.latex.display.atom import ORD, TEXT, Atom, arranged, in_row, length
from mathamr.formulas.latex.display.layout import beside, colour_of
from mathamr.formulas.latex.display.lengths import em_of
from mathamr.formulas.latex.display.typesetter import COMMANDS, Command, Typesetter, command
from mathamr.formulas.latex.fonts import ALPHABETS, FONT_SWITCHES, MATH, PLAIN, Font, emboldened, variant
from mathamr.formulas.latex.reader import DOLLAR
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.latex.text import (
    BOXES,
    CHARACTERS,
    LIGATURES,
    LOGOS,
    TEXT_ACCENTS,
    TEXT_FONTS,
    accented,
    composed,
)
from mathamr.formulas.mathml.alphabets import styled
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE

_NO_BREAK_SPACE = "\u00a0"
_SPACE = re.compile(r"[ \t\r\n]+")
_IN_TEXT = {**CHARACTERS, "\\textless": "<", "\\textgreater": ">", "\\textbar": "|", "\\lq": "‘", "\\rq": "’"}


@dataclass(frozen=True, slots=True)
class _Visual:
    font: Font = PLAIN
    colour: str = ""


def words(setter: Typesetter, font: Font | None = None) -> Element:
    """The argument of a text command."""
    setter.skip_spaces()
    visual = _Visual(font or PLAIN)
    if setter.i >= setter.count or setter.tokens[setter.i] != "{":
        token = setter.raw_argument()
        return _phrase(_IN_TEXT.get(token, token), visual)
    setter.descend()
    end = setter.matching_brace()
    setter.i += 1
    parts = _TextSetter(setter, end, visual).read()
    setter.i = end + 1
    setter.depth -= 1
    return in_row(parts)


def _phrase(text: str, visual: _Visual) -> Element:
    for written, meant in LIGATURES:
        text = text.replace(written, meant)
    text = composed(_SPACE.sub(" ", text))
    bare = text.strip(" ")
    if bare != text:
        blank = len(text) - len(text.lstrip(" "))
        text = _NO_BREAK_SPACE * blank + bare + _NO_BREAK_SPACE * (len(text) - len(bare) - blank)
    alphabet = variant(visual.font)
    attributes = {"mathcolor": visual.colour} if visual.colour else {}
    return Element("mtext", styled(text, alphabet) if alphabet else text, (), attributes)


class _TextSetter:
    """The inside of one text argument, read without recursion."""

    def __init__(self, setter: Typesetter, end: int, visual: _Visual) -> None:
        self.setter, self.end, self.visual = setter, end, visual
        self.parts: list[Element] = []
        self.letters: list[str] = []
        self.math_font = MATH

    def flush(self) -> None:
        text = "".join(self.letters)
        self.letters.clear()
        if text:
            self.parts.append(_phrase(text, self.visual))

    def switch(self, visual: _Visual) -> None:
        if visual != self.visual:
            self.flush()
            self.visual = visual

    def read(self) -> list[Element]:
        setter = self.setter
        visuals: list[_Visual] = []
        while setter.i < self.end:
            token = setter.tokens[setter.i]
            setter.i += 1
            if token in ("$", "\\("):
                self.formula(DOLLAR if token == "$" else frozenset(["\\)"]))
            elif token == "{":
                visuals.append(self.visual)
            elif token == "}":
                if visuals:
                    self.switch(visuals.pop())
            elif token[0] != "\\" or token in _IN_TEXT:
                self.letters.append(_IN_TEXT.get(token, token))
                self._skip_space_after(token)
            else:
                self._skip_space_after(token)
                self.command(token, visuals)
        self.flush()
        return self.parts

    def _skip_space_after(self, token: str) -> None:
        setter = self.setter
        if token[0] == "\\" and token[1:].isalpha() and setter.i < self.end:
            setter.i += setter.tokens[setter.i].isspace()

    def command(self, token: str, visuals: list[_Visual]) -> None:
        setter = self.setter
        if token in ("\\boldmath", "\\unboldmath"):
            self.math_font = emboldened(MATH) if token == "\\boldmath" else MATH
        elif token in FONT_SWITCHES:
            self.switch(replace(self.visual, font=ALPHABETS[FONT_SWITCHES[token]]))
        elif token in ("\\color", "\\textcolor"):
            visual = replace(self.visual, colour=colour_of(setter) or self.visual.colour)
            if token == "\\textcolor" and setter.peek() == "{":
                setter.i += 1
                visuals.append(self.visual)
            self.switch(visual)
        elif token in TEXT_FONTS:
            if setter.peek() == "{":
                setter.i += 1
                visuals.append(self.visual)
                self.switch(replace(self.visual, font=TEXT_FONTS[token] or self.visual.font))
        elif token in TEXT_ACCENTS:
            self.letters.append(accented(setter.raw_argument(), TEXT_ACCENTS[token]))
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
            self.mathematics(token)
        else:
            setter.repair(f"unknown command in text: {token}")
            self.letters.append(token)

    def mathematics(self, token: str) -> None:
        """A command of mathematics among words: its look, or nothing where it has none."""
        setter = self.setter
        self.flush()
        count, setter.count = setter.count, self.end
        found: list[Atom] = []
        COMMANDS[token](setter, found)
        setter.count = count
        self.parts.extend(arranged(found))

    def formula(self, stops: frozenset[str]) -> None:
        setter = self.setter
        self.flush()
        start = setter.i - 1
        font, style = setter.font, setter.style
        setter.font, setter.style = self.math_font, max(style, TEXT)
        count, setter.count = setter.count, self.end
        elements = arranged(setter.read(stops))
        setter.count = count
        setter.font, setter.style = font, style
        if setter.i < self.end:
            setter.i += 1
        else:
            setter.repair("unclosed formula in text", start)
        if elements:
            self.parts.append(in_row(elements))


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
        atoms.append(Atom(_phrase(accented(setter.raw_argument(), mark), _Visual()), ORD, setter.style))

    return put


for _name, _mark in {**TEXT_ACCENTS, "\\d": "\u0323", "\\b": "\u0331"}.items():
    if _name not in COMMANDS:
        COMMANDS[_name] = _accented_letter(_mark)


@command(*(f"\\{logo}" for logo in LOGOS))
def _logo(setter: Typesetter, atoms: list[Atom]) -> None:
    atoms.append(Atom(Element("mtext", setter.tokens[setter.i - 1][1:]), ORD, setter.style))


@command("\\tag")
def _tag(setter: Typesetter, atoms: list[Atom]) -> None:
    """The number of a line: the line's maker puts it at the end."""
    bare = setter.star()
    words_of_tag = words(setter)
    fences = [] if bare else [Element("mtext", "("), Element("mtext", ")")]
    setter.tag = in_row([*fences[:1], words_of_tag, *fences[1:]])


@command("\\ref", "\\eqref", "\\cite")
def _reference(setter: Typesetter, atoms: list[Atom]) -> None:
    """A reference stands for a number that is not here: its name is shown."""
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
