"""`Level`: which part of a post a vector represents."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """What a representative of the post stands for; nodes of formulas' trees and tokens of text are systems' own."""

    FORMULA = 0
    SENTENCE = 1
    DOCUMENT = 2
    NODE = 3
    TOKEN = 4
