"""TOML that somebody else may have written: the parser of Python takes time and memory in the square of a key's names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from typing import Any

DEEPEST_KEY = 16
"""Names that dots join to one key."""
_NAME = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"(?<![\w-]){_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{DEEPEST_KEY}}}")


def load_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Return the values of a text; raise `ValueError` if it is not TOML, or nests too deeply.

    >>> load_toml("a.b = [1]")
    {'a': {'b': [1]}}
    >>> load_toml(".".join("a" * 30_000) + " = 1")
    Traceback (most recent call last):
    ValueError: a key of more than 16 names
    """
    if _DEEP_KEY.search(text):
        raise ValueError(f"a key of more than {DEEPEST_KEY} names")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError as error:
        raise ValueError("values inside of values without end") from error
