"""Math fonts: which alphabet a letter is set in, and the Unicode character that shows it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple


class Font(NamedTuple):
    """The font in force; `family` is `math` until an alphabet is chosen, and `forced` marks `\\boldsymbol`."""

    family: str
    series: str
    shape: str
    forced: bool = False


MATH = Font("math", "medium", "italic")
"""The font at the start of a formula: italic letters, upright capitals of Greek, upright digits."""
PLAIN = Font("serif", "medium", "upright")
"""The font of ordinary text, and of every symbol that no alphabet changes."""

ALPHABETS = {
    "rm": PLAIN,
    "it": Font("serif", "medium", "italic"),
    "bf": Font("serif", "bold", "upright"),
    "sf": Font("sansserif", "medium", "upright"),
    "tt": Font("typewriter", "medium", "upright"),
    "cal": Font("caligraphic", "medium", "upright"),
    "scr": Font("script", "medium", "upright"),
    "bb": Font("blackboard", "medium", "upright"),
    "frak": Font("fraktur", "medium", "upright"),
    "normal": MATH,
    "mit": Font("italic", "medium", "italic"),
    "bfit": Font("serif", "bold", "italic"),
    "sfit": Font("sansserif", "medium", "italic"),
    "bfsf": Font("sansserif", "bold", "upright"),
    "bfcal": Font("caligraphic", "bold", "upright"),
    "bffrak": Font("fraktur", "bold", "upright"),
}

FONT_COMMANDS = {
    "\\mathrm": "rm", "\\mathup": "rm", "\\mathit": "it", "\\mathbf": "bf", "\\mathsf": "sf", "\\mathtt": "tt",
    "\\mathcal": "cal", "\\mathscr": "scr", "\\mathbb": "bb", "\\Bbb": "bb", "\\bold": "bf", "\\mathds": "bb",
    "\\mathbbm": "bb", "\\mathfrak": "frak", "\\frak": "frak", "\\mathnormal": "normal", "\\mathbfit": "bfit",
    "\\mathbfcal": "bfcal", "\\mathbfsf": "bfsf", "\\mathsfit": "sfit", "\\mathbfup": "bf", "\\symbf": "bf",
    "\\symrm": "rm", "\\symit": "it", "\\symbb": "bb", "\\symcal": "cal", "\\symscr": "scr", "\\symfrak": "frak",
    "\\symup": "rm", "\\symsf": "sf", "\\symtt": "tt", "\\symnormal": "normal", "\\symbfup": "bf", "\\symbfit": "bfit",
    "\\symbfsf": "bfsf", "\\symbfcal": "bfcal", "\\symbffrak": "bffrak", "\\symsfit": "sfit", "\\symsfup": "sf",
    "\\mathsfup": "sf", "\\mathbfsfup": "bfsf", "\\mathbfscr": "bfcal", "\\mathbffrak": "bffrak", "\\EuScript": "cal", "\\mathpzc": "cal",
}  # fmt: skip
"""Commands that set their argument in an alphabet."""

FONT_SWITCHES = {
    "\\rm": "rm", "\\it": "it", "\\bf": "bf", "\\sf": "sf", "\\tt": "tt", "\\cal": "cal", "\\mit": "mit", "\\sl": "it",
    "\\rmfamily": "rm", "\\itshape": "it", "\\bfseries": "bf", "\\sffamily": "sf", "\\ttfamily": "tt",
    "\\normalfont": "rm", "\\em": "it", "\\upshape": "rm",
}  # fmt: skip
"""Commands that set the rest of their group in an alphabet."""

BOLD_COMMANDS = ("\\boldsymbol", "\\pmb", "\\bm", "\\bs", "\\mathbold", "\\boldsymbols")

STICKY = frozenset(["serif", "sansserif", "typewriter"])
"""Families in which neighbouring letters make one word (`\\mathrm{dim}`)."""


def chosen(font: Font, alphabet: Font) -> Font:
    """The font inside an alphabet's argument; `\\boldsymbol` around it stays in force."""
    if font.forced:
        return Font(alphabet.family, font.series, alphabet.shape, True)
    return alphabet


def emboldened(font: Font) -> Font:
    """The font inside `\\boldsymbol`: bold for every symbol that has a bold form."""
    return Font(font.family, "bold", font.shape, True)


@lru_cache(maxsize=16384)
def specialized(font: Font, text: str) -> Font:
    """The font that a symbol really gets: capitals of Greek are upright, small ones italic, signs plain."""
    family, series, shape, forced = font
    if len(text) == 1:
        category, name = unicodedata.category(text), unicodedata.name(text, "")
        if name.startswith("GREEK") and category != "Lu":
            return Font("serif", series if forced else "medium", "italic")
        if name.startswith("GREEK") or category[0] == "N":
            return Font("serif", series, "upright") if family == "math" else Font(family, series, shape)
        if (category[0] == "L" and name.startswith("LATIN")) or text in "ªºℲ":
            return Font(family, series, shape)
    return Font("serif", series if forced else "medium", "upright")


@lru_cache(maxsize=256)
def variant(font: Font) -> str:
    """The font as MathML's `mathvariant`; nothing for upright text."""
    family, series, shape, _ = font
    bold, italic = series == "bold", shape == "italic"
    if family in ("serif", "math"):
        return ("bold-italic" if italic else "bold") if bold else ("italic" if italic else "")
    if family == "blackboard":
        return "normal" if italic else "double-struck"
    if family == "fraktur":
        return ("normal" if italic else "bold-fraktur") if bold else "fraktur"
    if family in ("script", "caligraphic"):
        if italic:
            return "normal" if bold or family == "caligraphic" else "script"
        return "bold-script" if bold else "script"
    if family == "sansserif":
        return ("sans-serif-bold-italic" if italic else "bold-sans-serif") if bold else (
            "sans-serif-italic" if italic else "sans-serif")  # fmt: skip
    return "monospace" if family == "typewriter" else "normal"


_BLOCKS = {
    # variant: first code point of Latin letters, Greek capitals, Greek small letters, digits
    "bold": (0x1D400, 0x1D6A8, 0x1D6C2, 0x1D7CE),
    "italic": (0x1D434, 0x1D6E2, 0x1D6FC, 0),
    "bold-italic": (0x1D468, 0x1D71C, 0x1D736, 0),
    "sans-serif": (0x1D5A0, 0, 0, 0x1D7E2),
    "bold-sans-serif": (0x1D5D4, 0x1D756, 0x1D770, 0x1D7EC),
    "sans-serif-italic": (0x1D608, 0, 0, 0),
    "sans-serif-bold-italic": (0x1D63C, 0x1D790, 0x1D7AA, 0),
    "monospace": (0x1D670, 0, 0, 0x1D7F6),
    "script": (0x1D49C, 0, 0, 0),
    "bold-script": (0x1D4D0, 0, 0, 0),
    "fraktur": (0x1D504, 0, 0, 0),
    "bold-fraktur": (0x1D56C, 0, 0, 0),
    "double-struck": (0x1D538, 0, 0, 0x1D7D8),
}
_OLDER = {
    # letters that Unicode had before it had the block
    "italic": {"h": "ℎ"},
    "script": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}


def _letters(name: str) -> dict[int, str]:
    latin, capitals, small, digits = _BLOCKS[name]
    table = {ord("A") + i: chr(latin + i) for i in range(26)}
    table |= {ord("a") + i: chr(latin + 26 + i) for i in range(26)}
    if capitals:
        table |= {0x391 + i: chr(capitals + i) for i in range(25)}
        table |= {0x3B1 + i: chr(small + i) for i in range(25)}
    if digits:
        table |= {ord("0") + i: chr(digits + i) for i in range(10)}
    return table | {ord(letter): older for letter, older in _OLDER.get(name, {}).items()}


_TABLES = {name: _letters(name) for name in _BLOCKS}


@lru_cache(maxsize=16384)
def styled(text: str, name: str) -> str | None:
    """The text in Unicode's own letters of a `mathvariant`, or None where a character has none.

    >>> styled("R", "double-struck")
    'ℝ'
    """
    table = _TABLES.get(name)
    if table is None or any(ord(character) not in table for character in text):
        return None
    return text.translate(table)
