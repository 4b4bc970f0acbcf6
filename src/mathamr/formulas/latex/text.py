"""Words in formulas, `\\text{if $x$ is odd}`: their commands and characters."""

from __future__ import annotations

import re
import unicodedata

from mathamr.formulas.latex.fonts import ALPHABETS, PLAIN

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


def plain_text(text: str) -> str:
    """Return text with its ligatures and accents as single characters, and one blank for every run of space."""
    for written, meant in LIGATURES:
        text = text.replace(written, meant)
    return composed(_SPACE.sub(" ", text))


def accented(letter: str, mark: str) -> str:
    """Return the first letter with a mark; `\\'\\i` is í, which has no dot anyway."""
    letter = _DOTTED.get(letter.strip()) or CHARACTERS.get(letter.strip(), letter)
    return letter[:1] + mark + letter[1:]


def composed(text: str) -> str:
    """Return letters and their accents as one character, word by word: stacked accents take quadratic time."""
    return " ".join(
        unicodedata.normalize("NFC", word) if len(word) <= _LONGEST_WORD else word for word in text.split(" ")
    )
