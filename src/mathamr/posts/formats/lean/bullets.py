r"""Bullets of a module's notes: ``* `name`: what it says``, by the declaration of the file that they speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mathamr.posts.formats.lean.source import Comment

LONGEST = 600
"""Characters of a bullet that are read."""
_BULLET = re.compile(
    r"""^[ \t]*+[*-][ \t]++(?:\*\*)?
    (?P<names>(?:`[\w'.«»₀-₉]{2,100}+(?:[ ][^`\n]{0,80}+)?+`(?:\*\*)?+[ \t]*+(?:(?:,|and|/|&)[ \t]*+)?)++)
    (?P<sign>:|=|–|—|-)?[ \t]*+
    (?P<says>\S[^\n]*+(?:\n(?![ \t]*+(?:[*-][ \t]|\#|\n|\Z))[^\n]++)*+)""",
    re.M | re.X,
)
_NAME = re.compile(r"`([\w'.«»₀-₉]+)")
_WORD = re.compile(r"[^\W\d_]{2,}")


def bullets(comments: Iterable[Comment], declared: Iterable[str]) -> dict[str, str]:
    r"""Return what the notes of a file say about those of its declarations that they name, whole or without namespaces.

    >>> note = Comment(0, 0, "* `A.one`: the first\n  of all\n* `two x`, `none` is the *second* one\n* `A.one`: again\n- `two`\n", True)
    >>> bullets([note], ["A.one", "B.A.two", "B.three"])
    {'A.one': 'the first of all', 'B.A.two': 'is the *second* one'}
    """
    said: dict[str, str] = {}
    for comment in comments:
        for found in _BULLET.finditer(comment.text) if comment.is_module else ():
            text = " ".join(found["says"].split())[:LONGEST]
            if len(_WORD.findall(text)) > 1:
                for name in _NAME.findall(found["names"]):
                    said.setdefault(name, text)
    owners: dict[str, set[str]] = {}
    names = list(declared) if said else []
    for full in names:
        parts = full.split(".")
        for start in range(len(parts)):
            if (short := ".".join(parts[start:])) in said:
                owners.setdefault(short, set()).add(full)
    chosen = {
        name: name if name in found else next(iter(found))
        for name, found in owners.items()
        if name in found or len(found) == 1
    }
    return {full: said[name] for name, full in chosen.items()}
