"""Characters that are written by their number."""

from __future__ import annotations

from mathamr.formulas.latex.cursor import Cursor


def character_by_number(cursor: Cursor) -> str | None:
    """Returns the character that is given by number: `\\char65`, `\\char"41`, ``\\char`A``, `\\symbol{65}`, `\\unicode{x41}`."""
    start = cursor.i - 1
    cursor.raw_optional()
    number = cursor.raw_argument().strip() if cursor.peek() == "{" else cursor.number()
    code = _code_point(number)
    if code is None:
        cursor.repair(f"{number or 'nothing'} is not the code of a character", start)
        return None
    return chr(code)


def _code_point(number: str) -> int | None:
    if number.startswith("`"):
        letter = number[1:].removeprefix("\\")
        return ord(letter) if len(letter) == 1 else None
    base = {'"': 16, "'": 8, "x": 16, "X": 16, "U": 16}.get(number[:1], 10)
    digits = number if base == 10 else number[1:].removeprefix("+")
    try:
        code = int(digits, base) if len(digits) <= 8 else -1
    except ValueError:
        return None
    character = chr(code) if 0 < code <= 0x10FFFF else ""
    return code if character and (character.isprintable() and not character.isspace()) else None
