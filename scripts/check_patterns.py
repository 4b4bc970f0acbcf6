"""A check for `make lint`: no regular expression repeats without end what itself repeats without end, unless it is listed with its test.

    python scripts/check_patterns.py FOLDER…

`(a*b?)*` may try the ways to divide a text in time exponential in its length, and holds the interpreter's lock meanwhile. What cannot
try again is fine: a possessive inner or outer repetition (`*+`), an atomic group, an inner bound below `FEW`. Patterns that are made from parts
when a module is loaded are not seen. Time in the square of a text (`a*a*b`) is not found here: the slopes of tests/posts/formats/test_linear.py do that.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

FEW = 9
"""A repetition up to this number is not taken for one without end."""
KNOWN = {
    "amr/builtin/words.py:_WORD": "a",
    "formulas/latex/cursor.py:_STRETCH": "plus 1ex",
    "posts/formats/latex/numbering.py:_ITEM_LABEL": "label=",
    "posts/formats/latex/numbering.py:_ITEM_REFERENCE": "ref=",
    "posts/formats/lean/commands.py:_PRIORITY": "(priority := 1)",
    "posts/formats/lean/parts.py:_FIELD": "private ",
    "posts/formats/lean/source.py:_COMMAND": "private ",
    "posts/formats/markdown/blocks.py:_OPEN_INLINE": "",
    "posts/formats/markdown/inline.py:_ESCAPED": "\\[",
    "posts/formats/word/omml.py:_TOKENS": "1",
}
"""Patterns that repeat a repetition, each with a text that leads into it; tests/test_patterns.py shows that their time is linear."""
_TRYING = {codes.MAX_REPEAT, codes.MIN_REPEAT}


def patterns(file: Path) -> Iterator[tuple[str, str, int]]:
    """Yield name, text and flags of the regular expressions that a module compiles from a constant."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    named = {
        id(node.value): ast.unparse(node.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args):
            continue
        text = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
        if isinstance(text, str):
            flags = [
                getattr(re, each)
                for each in re.findall(r"re\.([A-Z]+)\b", ast.unparse(node)[len(ast.unparse(node.func)) :])
            ]
            yield named.get(id(node), f"line {node.lineno}"), text, sum(map(int, set(flags)))


def repeats_a_repetition(pattern: str, flags: int) -> bool:
    """Return True if a repetition without end is inside of another one and both may be tried again.

    >>> [repeats_a_repetition(each, 0) for each in ("(?:a*b?)*", "(?:a*+b?)*c", "(?:a*b?)*+", "(?:a+b)*", "(?:ab)*c*")]
    [True, False, True, False, False]
    """
    return _tries(parser.parse(pattern, flags), inside=False)


def _tries(parts: Any, *, inside: bool) -> bool:
    items = list(parts)
    inside = inside and not _is_delimited(items)
    for code, value in items:
        if code in _TRYING or code is codes.POSSESSIVE_REPEAT:
            _, most, inner = value
            is_long = most is codes.MAXREPEAT or most > FEW
            if (inside and is_long and code in _TRYING) or _tries(inner, inside=inside or is_long):
                return True
        elif code is codes.SUBPATTERN:
            if _tries(value[3], inside=inside):
                return True
        elif code is codes.BRANCH:
            if any(_tries(each, inside=inside) for each in value[1]):
                return True
        elif code is codes.ATOMIC_GROUP:
            if _tries(value, inside=False):
                return True
        elif code in (codes.ASSERT, codes.ASSERT_NOT) and _tries(value[1], inside=False):
            return True
    return False


def _is_delimited(items: list[Any]) -> bool:
    """Return True if what is repeated begins or ends with a character that its own repetitions cannot match."""
    ends = [each[1] for each in (items[:1] + items[-1:]) if each[0] is codes.LITERAL]
    return any(not any(_may_match(other, end) for other in items if other[0] in _TRYING) for end in ends)


def _may_match(part: Any, character: int) -> bool:
    """Return True unless a repetition surely does not match a character."""
    inner = list(part[1][2])
    if len(inner) != 1 or inner[0][0] not in (codes.IN, codes.LITERAL, codes.NOT_LITERAL):
        return True
    code, value = inner[0]
    found = any(
        _holds(name, each, character) for name, each in (value if code is codes.IN else [(code, value)])
    )
    return found != (code is codes.IN and value[0][0] is codes.NEGATE)


def _holds(name: Any, value: Any, character: int) -> bool:
    if name is codes.RANGE:
        return bool(value[0] <= character <= value[1])
    if name is codes.CATEGORY:
        letter = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}[str(value).rpartition("_")[2]]
        return bool(re.match(letter, chr(character))) != ("_NOT_" in str(value))
    return name is not codes.NEGATE and (value == character) != (name is codes.NOT_LITERAL)


def main(*folders: str) -> int:
    """Print the patterns that repeat a repetition and are not listed; return their number."""
    count, wrong = 0, 0
    for folder, file in sorted((each, path) for each in folders for path in Path(each).rglob("*.py")):
        for name, text, flags in patterns(file):
            count += 1
            if repeats_a_repetition(text, flags) and f"{file.relative_to(folder)}:{name}" not in KNOWN:
                wrong += 1
                print(f"{file}:{name}: it repeats without end what repeats without end: {text[:100]!r}")
    print(f"{count} patterns, {wrong} that repeat a repetition and are not listed", file=sys.stderr)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:]), 100))
