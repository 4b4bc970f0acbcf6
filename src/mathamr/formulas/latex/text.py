"""Words in formulas, `\\text{if $x$ is odd}`: their commands and characters, and how both back ends read them."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from mathamr.formulas.latex.fonts import ALPHABETS, FONT_SWITCHES, MATH, PLAIN, Font, emboldened
from mathamr.formulas.latex.groupreader import DOLLAR, GroupReader
from mathamr.formulas.latex.styles import TEXT

TEXT_FONTS = {
    "\\text": None, "\\mbox": None, "\\hbox": None, "\\textnormal": PLAIN, "\\textrm": ALPHABETS["rm"],
    "\\textit": ALPHABETS["it"], "\\textsl": ALPHABETS["it"], "\\emph": ALPHABETS["it"], "\\textbf": ALPHABETS["bf"],
    "\\textsf": ALPHABETS["sf"], "\\texttt": ALPHABETS["tt"], "\\textup": PLAIN, "\\textmd": PLAIN, "\\textsc": PLAIN,
    "\\textlf": PLAIN, "\\vbox": None, "\\makebox": None, "\\framebox": None, "\\fbox": None, "\\intertext": None,
    "\\shortintertext": None, "\\raisebox": None, "\\parbox": None, "\\ce": None, "\\cee": None, "\\pu": None,
    "\\rlap": None, "\\llap": None, "\\underline": None, "\\textsuperscript": None, "\\textsubscript": None,
}  # fmt: skip
"""Commands that set words, and their font (None: the surrounding font)."""

BOXES = {"\\makebox": 0, "\\framebox": 0, "\\raisebox": 1, "\\parbox": 1}
"""Boxes of words that take options, and the number of lengths before these."""

LOGOS = ("TeX", "LaTeX", "LaTeXe", "KaTeX", "AmS")
CHARACTERS = {
    "~": "\u00a0", "\\ ": " ", "\\,": "\u2009", "\\;": "\u2004", "\\:": "\u2005", "\\!": "", "\\quad": "\u2003",
    "\\qquad": "\u2003\u2003", "\\&": "&", "\\%": "%", "\\$": "$", "\\#": "#", "\\_": "_", "\\{": "{", "\\}": "}",
    "\\\\": " ", "\\-": "", "\\/": "", "\\textbackslash": "\\", "\\textasciitilde": "~", "\\textasciicircum": "^",
    "\\space": " ", "\\ldots": "…", "\\dots": "…", "\\textendash": "–", "\\textemdash": "—", "\\ss": "ß",
    "\\ae": "æ", "\\oe": "œ", "\\o": "ø", "\\aa": "å", "\\l": "ł", "\\i": "ı", "\\j": "ȷ", "\\AE": "Æ", "\\OE": "Œ",
    "\\O": "Ø", "\\AA": "Å", "\\L": "Ł", **{f"\\{logo}": logo for logo in LOGOS},
}  # fmt: skip
"""Text commands that produce characters."""

TEXT_ACCENTS = {
    "\\'": "\u0301", "\\`": "\u0300", "\\^": "\u0302", '\\"': "\u0308", "\\~": "\u0303", "\\=": "\u0304",
    "\\.": "\u0307", "\\c": "\u0327", "\\v": "\u030c", "\\u": "\u0306", "\\H": "\u030b", "\\r": "\u030a",
}  # fmt: skip
_DOTTED = {"\\i": "i", "\\j": "j"}
LIGATURES = [("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’")]
_LONGEST_WORD = 1_000
_SPACE = re.compile(r"[ \t\r\n]+")

Appearance = TypeVar("Appearance")
Part = TypeVar("Part")


def plain_text(text: str) -> str:
    """Returns text with its ligatures and accents as single characters, and one blank for every run of space."""
    for written, meant in LIGATURES:
        text = text.replace(written, meant)
    return composed(_SPACE.sub(" ", text))


def accented(letter: str, mark: str) -> str:
    """Returns the first letter with a mark; `\\'\\i` is í, which has no dot anyway."""
    letter = _DOTTED.get(letter.strip()) or CHARACTERS.get(letter.strip(), letter)
    return letter[:1] + mark + letter[1:]


def composed(text: str) -> str:
    """Returns letters and their accents as one character, word by word: stacked accents take quadratic time."""
    return " ".join(
        unicodedata.normalize("NFC", word) if len(word) <= _LONGEST_WORD else word for word in text.split(" ")
    )


class PhraseReader(ABC, Generic[Appearance, Part]):
    """Reads the content of one text argument without recursion.

    An `Appearance` is the current font, and for a page its colour; a `Part` is a phrase or a formula between dollars.
    """

    characters: ClassVar[Mapping[str, str]] = CHARACTERS
    """Returns the characters that tokens produce."""
    switches: ClassVar[Mapping[str, str]] = FONT_SWITCHES

    def __init__(self, reader: Any, end: int, appearance: Appearance) -> None:
        self.reader: GroupReader[Any, Any] = reader
        self.end, self.appearance = end, appearance
        self.appearances: list[Appearance] = []
        """The appearances that are restored at the end of each open group."""
        self.parts: list[Part] = []
        self.letters: list[str] = []
        self.math_font = MATH

    @classmethod
    def words(cls, reader: GroupReader[Any, Any], appearance: Appearance) -> list[Part]:
        """The parts of the next argument."""
        reader.skip_spaces()
        if reader.i >= reader.count or reader.tokens[reader.i] != "{":
            token = reader.raw_argument()
            return [cls.phrase(cls.characters.get(token, token), appearance)]
        reader.descend()
        end = reader.matching_brace()
        reader.i += 1
        parts = cls(reader, end, appearance).read()
        reader.i = end + 1
        reader.depth -= 1
        return parts

    @classmethod
    @abstractmethod
    def phrase(cls, text: str, appearance: Appearance) -> Part:
        """Words without formulas."""

    @abstractmethod
    def in_font(self, font: Font) -> Appearance:
        """Returns the current appearance in another font."""

    @abstractmethod
    def command(self, token: str) -> None:
        """Reads a command that only one of the back ends knows."""

    @abstractmethod
    def put_formula(self, items: list[Any]) -> None:
        """Appends a formula."""

    def flush(self) -> None:
        """Makes a phrase of the letters so far."""
        text = "".join(self.letters)
        self.letters.clear()
        if text:
            self.parts.append(self.phrase(text, self.appearance))

    def switch(self, appearance: Appearance) -> None:
        """Sets an appearance."""
        if appearance != self.appearance:
            self.flush()
            self.appearance = appearance

    def open_group(self, appearance: Appearance) -> None:
        """Reads an opening brace, if there is one, and sets an appearance until it closes."""
        if self.reader.peek() == "{":
            self.reader.i += 1
            self.appearances.append(self.appearance)
            self.switch(appearance)

    def read(self) -> list[Part]:
        """All parts up to the end."""
        reader = self.reader
        while reader.i < self.end:
            token = reader.tokens[reader.i]
            reader.i += 1
            if token == "$" or token == "\\(":
                self._formula(DOLLAR if token == "$" else frozenset(["\\)"]))
            elif token == "{":
                self.appearances.append(self.appearance)
            elif token == "}":
                if self.appearances:
                    self.switch(self.appearances.pop())
            elif token[0] != "\\" or token in self.characters:
                self.letters.append(self.characters.get(token, token))
                self._skip_space_after(token)
            else:
                self._skip_space_after(token)
                self._command(token)
        self.flush()
        return self.parts

    def _skip_space_after(self, token: str) -> None:
        reader = self.reader
        if token[0] == "\\" and token[1:].isalpha() and reader.i < self.end:
            reader.i += reader.tokens[reader.i].isspace()

    def _command(self, token: str) -> None:
        if token in ("\\boldmath", "\\unboldmath"):
            self.math_font = emboldened(MATH) if token == "\\boldmath" else MATH
        elif token in self.switches:
            self.switch(self.in_font(ALPHABETS[self.switches[token]]))
        elif token in TEXT_FONTS:
            font = TEXT_FONTS[token]
            self.open_group(self.appearance if font is None else self.in_font(font))
        elif token in TEXT_ACCENTS:
            self.letters.append(accented(self.reader.raw_argument(), TEXT_ACCENTS[token]))
        else:
            self.command(token)

    def unknown(self, token: str) -> None:
        """Shows an unknown command as it is written."""
        self.reader.repair(f"unknown command in text: {token}")
        self.letters.append(token)

    def _formula(self, stops: frozenset[str]) -> None:
        reader = self.reader
        self.flush()
        start = reader.i - 1
        font, style = reader.font, reader.style
        reader.set_font_and_style(self.math_font, max(style, TEXT))
        count, reader.count = reader.count, self.end
        items = reader.read(stops)
        reader.count = count
        reader.set_font_and_style(font, style)
        if reader.i < self.end:
            reader.i += 1
        else:
            reader.repair("unclosed formula in text", start)
        if items:
            self.put_formula(items)
