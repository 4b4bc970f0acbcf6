"""Rules for the values of a description that somebody else wrote, and `choose`, which refuses what no rule allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mathamr.core.errors import MathAMRError

Rule = Callable[[object], bool]
"""True for a value that a folder may choose."""
LONGEST = 10_000
"""Characters of a text, and entries of a list or table."""
LARGEST = 10**100
_WORD = re.compile(r"[\w|+,. -]{0,100}\Z", re.ASCII)
_FILE = re.compile(r"\w[\w.-]{0,99}\Z", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_NAME = re.compile(r"\w[\w-]{0,99}\Z", re.ASCII)


def choose(
    row: object, rules: Mapping[str, Rule], where: object, *, ignored: Collection[str] = ()
) -> dict[str, Any]:
    """Return what a description chooses, without the keys that decide nothing here; raise for any other key or value.

    >>> choose({"size": 3, "made by": "us"}, {"size": whole(1, 9)}, "config.json", ignored={"made by"})
    {'size': 3}
    """
    if not isinstance(row, dict):
        raise MathAMRError(f"{where} is damaged: it is not an object")
    found = {name: value for name, value in row.items() if name not in ignored}
    for name, value in found.items():
        if name not in rules:
            raise MathAMRError(f"{where} has the key {name[:100]!r}, which such a file may not have")
        if not rules[name](value):
            raise MathAMRError(
                f"{where} says {name} is {str(value)[:100]!r}, which such a file may not choose"
            )
    return found


def check_known(row: Mapping[str, Any], rules: Mapping[str, Rule], where: object) -> None:
    """Raise for a value that a rule does not allow; keys without a rule are nobody's concern."""
    choose({name: value for name, value in row.items() if name in rules}, rules, where)


def whole(least: int, most: int) -> Rule:
    """Allow whole numbers in a range."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def flag(value: object) -> bool:
    """Allow true and false."""
    return isinstance(value, bool)


def number(value: object) -> bool:
    """Allow finite numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def one_of(*values: object) -> Rule:
    """Allow some values."""
    return lambda value: any(type(value) is type(each) and value == each for each in values)


def text(value: object) -> bool:
    """Allow a text of bounded length."""
    return isinstance(value, str) and len(value) <= LONGEST


def word(value: object) -> bool:
    """Allow a short text that is neither a path nor the name of a repository."""
    return isinstance(value, str) and _WORD.match(value) is not None


def name(value: object) -> bool:
    """Allow the name of a folder or file that stands right beside the description."""
    return isinstance(value, str) and _NAME.match(value) is not None


def file(value: object) -> bool:
    """Allow the name of a file with a suffix that stands right beside the description."""
    return isinstance(value, str) and _FILE.match(value) is not None


def hash256(value: object) -> bool:
    """Allow a SHA-256 in hexadecimal digits."""
    return isinstance(value, str) and _HASH.match(value) is not None


def maybe(rule: Rule) -> Rule:
    """Allow null too."""
    return lambda value: value is None or rule(value)


def either(*rules: Rule) -> Rule:
    """Allow what one of the rules allows."""
    return lambda value: any(rule(value) for rule in rules)


def many(rule: Rule) -> Rule:
    """Allow a list."""
    return lambda value: isinstance(value, list) and len(value) <= LONGEST and all(map(rule, value))


def table(keys: Rule, values: Rule) -> Rule:
    """Allow an object with any names of a kind."""
    return lambda value: (
        isinstance(value, dict)
        and len(value) <= LONGEST
        and all(map(keys, value))
        and all(map(values, value.values()))
    )


def record(rules: Mapping[str, Rule]) -> Rule:
    """Allow an object with some of these keys."""
    return lambda value: (
        isinstance(value, dict) and all(key in rules and rules[key](each) for key, each in value.items())
    )
