"""Words in formulas: `\\text{if $x$ is odd}`."""

from __future__ import annotations

import re
import unicodedata

from mathamr.formulas.latex.fonts import ALPHABETS, FONT_SWITCHES, MATH, PLAIN, Font, emboldened
from mathamr.formulas.latex.layout import TRACELESS
from mathamr.formulas.latex.node import TEXT, Node
from mathamr.formulas.latex.reader import COMMANDS, DOLLAR, Reader, symbols_of
from mathamr.formulas.latex.symbols import SPACES, SYMBOLS

TEXT_FONTS = {
    "\\text": None, "\\mbox": None, "\\hbox": None, "\\textnormal": PLAIN, "\\textrm": ALPHABETS["rm"],
    "\\textit": ALPHABETS["it"], "\\textsl": ALPHABETS["it"], "\\emph": ALPHABETS["it"], "\\textbf": ALPHABETS["bf"],
    "\\textsf": ALPHABETS["sf"], "\\texttt": ALPHABETS["tt"], "\\textup": PLAIN, "\\textmd": PLAIN, "\\textsc": PLAIN,
    "\\textlf": PLAIN, "\\vbox": None, "\\makebox": None, "\\framebox": None, "\\fbox": None, "\\intertext": None,
    "\\shortintertext": None, "\\raisebox": None, "\\parbox": None, "\\ce": None, "\\cee": None, "\\pu": None,
    "\\rlap": None, "\\llap": None, "\\underline": None, "\\textsuperscript": None, "\\textsubscript": None,
}  # fmt: skip
"""Commands that set words, and the font they choose (None: the font around)."""

_FONT_SWITCHES = {
    name: ALPHABETS[alphabet] for name, alphabet in FONT_SWITCHES.items() if name not in ("\\cal", "\\mit")
}
BOXES = {"\\makebox": 0, "\\framebox": 0, "\\raisebox": 1, "\\parbox": 1}
"""Boxes of words that take options, and how many lengths stand before these."""

LOGOS = ("TeX", "LaTeX", "LaTeXe", "KaTeX", "AmS")
CHARACTERS = {
    "~": "\u00a0", "\\ ": " ", "\\,": "\u2009", "\\;": "\u2004", "\\:": "\u2005", "\\!": "", "\\quad": "\u2003",
    "\\qquad": "\u2003\u2003", "\\&": "&", "\\%": "%", "\\$": "$", "\\#": "#", "\\_": "_", "\\{": "{", "\\}": "}",
    "\\\\": " ", "\\-": "", "\\/": "", "\\textbackslash": "\\", "\\textasciitilde": "~", "\\textasciicircum": "^",
    "\\space": " ", "\\ldots": "…", "\\dots": "…", "\\textendash": "–", "\\textemdash": "—", "\\ss": "ß",
    "\\ae": "æ", "\\oe": "œ", "\\o": "ø", "\\aa": "å", "\\l": "ł", "\\i": "ı", "\\j": "ȷ", "\\AE": "Æ", "\\OE": "Œ",
    "\\O": "Ø", "\\AA": "Å", "\\L": "Ł", **{f"\\{logo}": logo for logo in LOGOS},
}  # fmt: skip
"""Commands of text that stand for characters."""

_CHARACTERS = {"|": "—", "<": "¡", ">": "¿"} | CHARACTERS
"""What they are in the published trees, which have the characters of TeX's oldest fonts."""

TEXT_ACCENTS = {
    "\\'": "\u0301", "\\`": "\u0300", "\\^": "\u0302", '\\"': "\u0308", "\\~": "\u0303", "\\=": "\u0304",
    "\\.": "\u0307", "\\c": "\u0327", "\\v": "\u030c", "\\u": "\u0306", "\\H": "\u030b", "\\r": "\u030a",
}  # fmt: skip
_DOTTED = {"\\i": "i", "\\j": "j"}
LIGATURES = [("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’")]
_STYLES = frozenset(["\\displaystyle", "\\textstyle", "\\scriptstyle", "\\scriptscriptstyle"])
_SHOWN_AS_THEY_ARE = frozenset(
    [
        "\\smash",
        "\\clap",
        "\\mathclap",
        "\\mathllap",
        "\\mathrlap",
        "\\sout",
        "\\pmb",
        "\\reflectbox",
        "\\boxed",
    ]
)
"""Commands of formulas that leave their argument in the words as it is."""
_LONGEST_WORD = 1_000
_SPACE = re.compile(r"[ \t\r\n]+")


def words(reader: Reader, font: Font | None = None) -> list[Node]:
    """The argument of a text command: phrases, and the formulas between dollars in them."""
    reader.skip_spaces()
    if reader.i >= reader.count or reader.tokens[reader.i] != "{":
        token = reader.raw_argument()
        return [_phrase(_CHARACTERS.get(token, token), font or PLAIN)] if token else []
    reader.descend()
    end = reader.matching_brace()
    reader.i += 1
    parts = _TextReader(reader, end, font or PLAIN).read()
    reader.i = end + 1
    reader.depth -= 1
    return parts


def text_node(parts: list[Node]) -> Node:
    """Phrases and formulas as one node; a formula alone is just that formula."""
    if len(parts) == 1:
        return parts[0]
    return Node(TEXT, children=parts)


def _phrase(text: str, font: Font) -> Node:
    for written, meant in LIGATURES:
        text = text.replace(written, meant)
    return Node(TEXT, text=composed(_SPACE.sub(" ", text)), font=font)


def accented(letter: str, mark: str) -> str:
    """The first letter with a mark; `\\'\\i` is í, which has no dot anyway."""
    letter = _DOTTED.get(letter.strip()) or CHARACTERS.get(letter.strip(), letter)
    return letter[:1] + mark + letter[1:]


def composed(text: str) -> str:
    """Letters and their accents as one character, word by word: heaped accents take quadratic time."""
    return " ".join(
        unicodedata.normalize("NFC", word) if len(word) <= _LONGEST_WORD else word for word in text.split(" ")
    )


class _TextReader:
    """The inside of one text argument, read without recursion."""

    def __init__(self, reader: Reader, end: int, font: Font) -> None:
        self.reader, self.end, self.font = reader, end, font
        self.parts: list[Node] = []
        self.letters: list[str] = []
        self.math_font = MATH

    def flush(self) -> None:
        text = "".join(self.letters)
        self.letters.clear()
        if text:
            self.parts.append(_phrase(text, self.font))

    def switch(self, font: Font) -> None:
        if font != self.font:
            self.flush()
            self.font = font

    def read(self) -> list[Node]:
        reader = self.reader
        fonts: list[Font] = []
        while reader.i < self.end:
            token = reader.tokens[reader.i]
            reader.i += 1
            if token == "$" or token == "\\(":
                self.formula(token)
            elif token == "{":
                fonts.append(self.font)
            elif token == "}":
                if fonts:
                    self.switch(fonts.pop())
            elif token[0] != "\\" or token in _CHARACTERS:
                self.letters.append(_CHARACTERS.get(token, token))
                self._skip_space_after(token)
            else:
                self.command(token, fonts)
        self.flush()
        return self.parts

    def _skip_space_after(self, token: str) -> None:
        reader = self.reader
        if (
            token[0] == "\\"
            and token[1:].isalpha()
            and reader.i < self.end
            and reader.tokens[reader.i].isspace()
        ):
            reader.i += 1

    def command(self, token: str, fonts: list[Font]) -> None:
        reader = self.reader
        self._skip_space_after(token)
        if token in ("\\boldmath", "\\unboldmath"):
            self.math_font = emboldened(MATH) if token == "\\boldmath" else MATH
        elif token in ("\\hskip", "\\kern", "\\vskip"):
            COMMANDS[token](reader, [])
        elif token in _FONT_SWITCHES:
            self.switch(_FONT_SWITCHES[token])
        elif token in TEXT_FONTS:
            if reader.peek() == "{":
                reader.i += 1
                fonts.append(self.font)
                self.switch(TEXT_FONTS[token] or self.font)
        elif token in TEXT_ACCENTS:
            self.letters.append(accented(reader.raw_argument(), TEXT_ACCENTS[token]))
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
            reader.repair(f"unknown command in text: {token}")
            self.letters.append(token)

    def formula(self, opening: str) -> None:
        reader = self.reader
        self.flush()
        stops = DOLLAR if opening == "$" else frozenset(["\\)"])
        start = reader.i - 1
        font, style = reader.font, reader.style
        reader.font, reader.style = self.math_font, "text"
        reader.known = symbols_of(self.math_font, "text")
        count = reader.count
        reader.count = self.end
        nodes = reader.read(stops)
        reader.count = count
        if reader.i < self.end:
            reader.i += 1
        else:
            reader.repair("unclosed formula in text", start)
        reader.font, reader.style = font, style
        reader.known = symbols_of(font, style)
        if nodes:
            self.parts.append(reader.expression(nodes, trailing=True))
