"""The nodes of words in formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mathamr.formulas.latex.fonts import FONT_SWITCHES, PLAIN, Font
from mathamr.formulas.latex.node import TEXT, Node
from mathamr.formulas.latex.reader import Reader
from mathamr.formulas.latex.symbols import SPACES, SYMBOLS
from mathamr.formulas.latex.text import CHARACTERS, PhraseReader, plain_text
from mathamr.formulas.latex.transparent import TRACELESS

_STYLES = frozenset(["\\displaystyle", "\\textstyle", "\\scriptstyle", "\\scriptscriptstyle"])
_SHOWN_AS_THEY_ARE = frozenset(["\\smash", "\\clap", "\\mathclap", "\\mathllap", "\\mathrlap", "\\sout", "\\pmb",
                                "\\reflectbox", "\\boxed"])  # fmt: skip
"""Mathematical commands that leave their argument among the words unchanged."""


def words(reader: Reader, font: Font | None = None) -> Node:
    """Reads the argument of a text command: phrases and formulas as one node; a formula alone is just that formula."""
    parts = _NodePhrases.words(reader, font or PLAIN)
    return parts[0] if len(parts) == 1 else Node(TEXT, children=parts)


class _NodePhrases(PhraseReader[Font, Node]):
    characters: ClassVar[Mapping[str, str]] = {"|": "—", "<": "¡", ">": "¿"} | CHARACTERS
    """Returns the characters of TeX's oldest fonts, as in the published trees."""
    switches: ClassVar[Mapping[str, str]] = {
        name: alphabet for name, alphabet in FONT_SWITCHES.items() if name not in ("\\cal", "\\mit")
    }

    @classmethod
    def phrase(cls, text: str, appearance: Font) -> Node:
        return Node(TEXT, text=plain_text(text), font=appearance)

    def in_font(self, font: Font) -> Font:
        return font

    def put_formula(self, items: list[Node]) -> None:
        reader = self.reader
        assert isinstance(reader, Reader)
        self.parts.append(reader.expression(items, trailing=True))

    def command(self, token: str) -> None:
        reader = self.reader
        if token in ("\\hskip", "\\kern", "\\vskip"):
            reader.commands[token](reader, [])
        elif token in ("\\textcolor", "\\colorbox", "\\href"):
            reader.raw_optional()
            reader.raw_argument()
        elif token in ("\\phantom", "\\hphantom", "\\vphantom"):
            reader.raw_argument()
        elif token in ("\\label", "\\ref", "\\eqref", "\\cite", "\\color", "\\vspace", "\\hspace", "\\tag"):
            reader.star()
            reader.raw_argument()
        elif token in SYMBOLS:
            self.letters.append(SYMBOLS[token].text)
        elif token in SPACES:
            self.letters.append(" " if SPACES[token] > 0 else "")
        elif token in _SHOWN_AS_THEY_ARE:
            reader.raw_optional()
        elif token not in _STYLES and token not in TRACELESS:
            self.unknown(token)
