"""Math fonts: which alphabet a letter is set in, and the Unicode character that shows it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple


class Font(NamedTuple):
    """The current font; `family` is `math` until an alphabet is chosen, and `forced` marks `\\boldsymbol`."""

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
    """Return the font inside an alphabet's argument; `\\boldsymbol` around it stays effective."""
    if font.forced:
        return Font(alphabet.family, font.series, alphabet.shape, True)
    return alphabet


def emboldened(font: Font) -> Font:
    """Return the font inside `\\boldsymbol`: bold for every symbol that has a bold form."""
    return Font(font.family, "bold", font.shape, True)


@lru_cache(maxsize=16384)
def specialized(font: Font, text: str) -> Font:
    """Return the actual font of a symbol: Greek capitals are upright, small letters italic, signs plain."""
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
    """Return the font as MathML's `mathvariant`; nothing for upright text."""
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
