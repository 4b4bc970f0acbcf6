"""`Level`: which part of a post a vector represents."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """What a vector represents: a formula, a sentence or the whole post, or, for some systems, a node of a formula's tree or a
    token.
    """

    FORMULA = 0
    SENTENCE = 1
    DOCUMENT = 2
    NODE = 3
    TOKEN = 4
