"""Mathematical alphabets: letters and digits of a `mathvariant` as the Unicode characters that show it."""

from __future__ import annotations

from functools import lru_cache

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
def styled(text: str, variant: str) -> str:
    """Return the text in the alphabet of a `mathvariant`; characters without such a form are unchanged.

    >>> styled("R2", "double-struck")
    'ℝ𝟚'
    """
    table = _TABLES.get(variant)
    return text if table is None else text.translate(table)


@lru_cache(maxsize=16384)
def styled_completely(text: str, variant: str) -> str | None:
    """Return the text in the alphabet of a `mathvariant`, or None if a character has no such form.

    >>> styled_completely("R", "double-struck"), styled_completely("R+", "double-struck")
    ('ℝ', None)
    """
    table = _TABLES.get(variant)
    if table is None or any(ord(character) not in table for character in text):
        return None
    return text.translate(table)
