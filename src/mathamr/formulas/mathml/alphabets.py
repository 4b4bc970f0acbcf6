"""Mathematical alphabets: a letter and its `mathvariant` as the one Unicode character that looks like it."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import lookup, name

_STYLES = {
    "bold": "BOLD",
    "italic": "ITALIC",
    "bold-italic": "BOLD ITALIC",
    "script": "SCRIPT",
    "bold-script": "BOLD SCRIPT",
    "fraktur": "FRAKTUR",
    "bold-fraktur": "BOLD FRAKTUR",
    "double-struck": "DOUBLE-STRUCK",
    "sans-serif": "SANS-SERIF",
    "bold-sans-serif": "SANS-SERIF BOLD",
    "sans-serif-italic": "SANS-SERIF ITALIC",
    "sans-serif-bold-italic": "SANS-SERIF BOLD ITALIC",
    "monospace": "MONOSPACE",
}
_EARLIER = {"SCRIPT": "SCRIPT", "FRAKTUR": "BLACK-LETTER", "DOUBLE-STRUCK": "DOUBLE-STRUCK"}
"""Letters that Unicode had before the mathematical alphabets have an older name, ℝ `DOUBLE-STRUCK CAPITAL R`."""


def styled(text: str, variant: str) -> str:
    """The text in the alphabet of a `mathvariant`; characters that have no such form stay as they are.

    >>> styled("R2", "double-struck")
    'ℝ𝟚'
    """
    if variant not in _STYLES:
        return text
    return "".join(_styled_character(character, variant) for character in text)


@lru_cache(maxsize=4096)
def _styled_character(character: str, variant: str) -> str:
    style = _STYLES[variant]
    words = name(character, "").split()
    if words[:1] == ["DIGIT"]:
        return _named(f"MATHEMATICAL {style} {' '.join(words)}") or character
    if len(words) != 4 or words[0] not in ("LATIN", "GREEK") or words[2] != "LETTER":
        return character
    if character == "h" and style == "ITALIC":
        return "ℎ"
    letter = f"{words[1]} {words[3]}"
    older = _named(f"{_EARLIER[style]} {letter}") if style in _EARLIER and words[0] == "LATIN" else ""
    return _named(f"MATHEMATICAL {style} {letter}") or older or character


def _named(title: str) -> str:
    try:
        return lookup(title)
    except KeyError:
        return ""
