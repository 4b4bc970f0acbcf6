"""`WrittenAnswer`: an answer as it is sent; `RememberedAnswers`: what was answered last, so that a page that is opened again, or a link
that many follow, is not searched for again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mathamr.core.cache import Cache

MOST = 256
"""Answers that are kept, and the longest of them, in bytes: some ten MB in all, since most have forty thousand."""
LONGEST = 200_000


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer as JSON, written once, but for the seconds that its stages took: these are others when it is given again."""

    rest: bytes
    seconds: Mapping[str, float]

    @classmethod
    def of(cls, answer: Mapping[str, Any], seconds: Mapping[str, float]) -> WrittenAnswer:
        """An answer that says something beside its seconds.

        >>> WrittenAnswer.of({"hits": []}, {"total": 0.5}).body
        b'{"seconds":{"total":0.5},"hits":[]}'
        """
        return cls(_json(answer), seconds)

    def taking(self, seconds: Mapping[str, float]) -> WrittenAnswer:
        """The same answer, given in another time."""
        return replace(self, seconds=seconds)

    @property
    def body(self) -> bytes:
        """All of it."""
        return b'{"seconds":' + _json(self.seconds) + b"," + self.rest[1:]


def _json(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class RememberedAnswers(Cache[str, WrittenAnswer]):
    """Answers by what was asked and of which state of the index; the one that was asked for longest ago goes first.

    They are kept as text: an answer of a search is thousands of small objects.
    """

    def __init__(self, most: int = MOST, longest: int = LONGEST) -> None:
        super().__init__(most, weigh=lambda _, answer: len(answer.rest), heaviest=longest)
