"""Reads the words of text commands, with the formulas and commands among them."""

from __future__ import annotations

from typing import Any, NamedTuple

from mathamr.formulas.latex.fonts import ALPHABETS, FONT_SWITCHES, MATH, PLAIN, Font, emboldened
from mathamr.formulas.latex.rowreader import RowReader
from mathamr.formulas.latex.symbols import SPACES, SYMBOLS
from mathamr.formulas.latex.syntax import Gap, Inset, Phrase, Row
from mathamr.formulas.latex.text import CHARACTERS, TEXT_ACCENTS, TEXT_FONTS, accented

_IN_TREES = {"|": "—", "<": "¡", ">": "¿"} | CHARACTERS
"""The characters of TeX's oldest fonts, as in the published trees."""
_ON_PAGES = CHARACTERS | {"\\textless": "<", "\\textgreater": ">", "\\textbar": "|", "\\lq": "‘", "\\rq": "’"}
_UNCHANGED = frozenset(
    ["\\smash", "\\clap", "\\mathclap", "\\mathllap", "\\mathrlap", "\\sout", "\\pmb", "\\reflectbox", "\\boxed"]
)  # fmt: skip
"""Mathematical commands that leave their argument among the words of a tree unchanged."""
_WITHOUT_TRACE = frozenset(["style", "size", ""])
"""Kinds of commands that change nothing in words."""


class _Appearance(NamedTuple):
    font: Font = PLAIN
    colour: tuple[str, str] | None = None


def read_words(reader: RowReader) -> list[Any]:
    """Read the argument of a text command: phrases, formulas between dollars, and on pages space and commands."""
    font = TEXT_FONTS.get(reader.tokens[reader.i - 1]) or PLAIN
    reader.skip_spaces()
    if reader.i >= reader.count or reader.tokens[reader.i] != "{":
        token = reader.raw_argument()
        return [Phrase((_ON_PAGES if reader.drawn else _IN_TREES).get(token, token), font)]
    reader.descend()
    end = reader.matching_brace()
    reader.i += 1
    parts = _WordReader(reader, end, _Appearance(font)).read()
    reader.i = end + 1
    reader.depth -= 1
    return parts


class _WordReader:
    """Reads the content of one text argument without recursion."""

    def __init__(self, reader: RowReader, end: int, appearance: _Appearance) -> None:
        self.reader, self.end, self.appearance = reader, end, appearance
        self.appearances: list[_Appearance] = []
        """The appearances that are restored at the end of each open group."""
        self.parts: list[Any] = []
        self.letters: list[str] = []
        self.math_font = MATH
        self.characters = _ON_PAGES if reader.drawn else _IN_TREES

    def read(self) -> list[Any]:
        """Return all parts up to the end."""
        reader = self.reader
        while reader.i < self.end:
            place, token = reader.i, reader.tokens[reader.i]
            reader.i += 1
            if token == "$" or token == "\\(":
                self._formula("$" if token == "$" else "\\)")
            elif token == "{":
                self.appearances.append(self.appearance)
            elif token == "}":
                if self.appearances:
                    self._switch(self.appearances.pop())
            elif token[0] != "\\" or token in self.characters:
                self.letters.append(self.characters.get(token, token))
                self._skip_space_after(token)
            else:
                self._skip_space_after(token)
                self._command(token, place)
        self._flush()
        return self.parts

    def _flush(self) -> None:
        """Make a phrase of the letters so far."""
        text = "".join(self.letters)
        self.letters.clear()
        if text:
            self.parts.append(Phrase(text, *self.appearance))

    def _switch(self, appearance: _Appearance) -> None:
        if appearance != self.appearance:
            self._flush()
            self.appearance = appearance

    def _open_group(self, appearance: _Appearance) -> None:
        """Read an opening brace, if there is one, and set an appearance until it closes."""
        if self.reader.peek() == "{":
            self.reader.i += 1
            self.appearances.append(self.appearance)
            self._switch(appearance)

    def _skip_space_after(self, token: str) -> None:
        reader = self.reader
        if token[0] == "\\" and token[1:].isalpha() and reader.i < self.end:
            reader.i += reader.tokens[reader.i].isspace()

    def _command(self, token: str, place: int) -> None:
        reader = self.reader
        if token in ("\\boldmath", "\\unboldmath"):
            self.math_font = emboldened(MATH) if token == "\\boldmath" else MATH
        elif token in FONT_SWITCHES and (reader.drawn or token not in ("\\cal", "\\mit")):
            self._switch(self.appearance._replace(font=ALPHABETS[FONT_SWITCHES[token]]))
        elif token in TEXT_FONTS:
            font = TEXT_FONTS[token]
            self._open_group(self.appearance if font is None else self.appearance._replace(font=font))
        elif token in TEXT_ACCENTS:
            self.letters.append(accented(reader.raw_argument(), TEXT_ACCENTS[token]))
        elif token in ("\\label", "\\ref", "\\eqref", "\\cite", "\\vspace", "\\tag"):
            reader.star()
            reader.raw_argument()
        elif reader.drawn:
            self._drawn_command(token, place)
        else:
            self._tree_command(token)

    def _drawn_command(self, token: str, place: int) -> None:
        reader = self.reader
        if token in ("\\color", "\\textcolor"):
            colour = (reader.raw_optional() or "", reader.raw_argument())
            appearance = self.appearance._replace(colour=colour)
            if token == "\\textcolor" and reader.peek() == "{":
                self._open_group(appearance)
            else:
                self._switch(appearance)
        elif token in ("\\hspace", "\\hspace*"):
            reader.star()
            self._flush()
            self.parts.append(Gap(reader.raw_argument()))
        elif token in SYMBOLS:
            self.letters.append(SYMBOLS[token].text)
        elif token in SPACES or self.reader.command_named(token) is not None:
            # A mathematical command among words is drawn as in a formula.
            self._flush()
            count, reader.count = reader.count, self.end
            row = reader.command_at(place)
            reader.count = count
            if any(isinstance(item, int) or not item.silent for item in row):
                self.parts.append(Inset(row))
        else:
            self._unknown(token)

    def _tree_command(self, token: str) -> None:
        reader = self.reader
        if token in ("\\hskip", "\\kern", "\\vskip"):
            reader.dimension()
        elif token in ("\\textcolor", "\\colorbox", "\\href"):
            reader.raw_optional()
            reader.raw_argument()
        elif token in ("\\phantom", "\\hphantom", "\\vphantom", "\\color", "\\hspace"):
            reader.star()
            reader.raw_argument()
        elif token in SYMBOLS:
            self.letters.append(SYMBOLS[token].text)
        elif token in SPACES:
            self.letters.append(" " if SPACES[token] > 0 else "")
        elif token in _UNCHANGED:
            reader.raw_optional()
        elif (
            (known := self.reader.command_named(token)) is None
            or known.kind not in _WITHOUT_TRACE
            or known.arguments
        ):
            self._unknown(token)

    def _unknown(self, token: str) -> None:
        """Show an unknown command as it is written."""
        self.reader.repair(f"unknown command in text: {token}")
        self.letters.append(token)

    def _formula(self, stop: str) -> None:
        reader = self.reader
        self._flush()
        start = reader.i - 1
        count, reader.count = reader.count, self.end
        row: Row = reader.read(frozenset([stop]))
        reader.count = count
        if reader.i < self.end:
            reader.i += 1
        else:
            reader.repair("unclosed formula in text", start)
        if row:
            self.parts.append(Inset(row, self.math_font))
