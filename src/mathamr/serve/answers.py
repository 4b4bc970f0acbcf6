"""`WrittenAnswer`: a serialised search response; `RememberedAnswers`: a cache of recent ones, so that a page opened again or a
link that many people follow does not search again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mathamr.core.cache import Cache

MOST = 256
"""Size of the cache in answers, and the longest answer it stores, in bytes: about 10 MB in all, since most answers have 40 kB."""
LONGEST = 200_000


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer serialised to JSON once; only the seconds of its stages are added later, since they differ when it is sent again."""

    rest: bytes
    seconds: Mapping[str, float]

    @classmethod
    def of(cls, answer: Mapping[str, Any], seconds: Mapping[str, float]) -> WrittenAnswer:
        """Serialises an answer; it must have at least one field besides its seconds.

        >>> WrittenAnswer.of({"hits": []}, {"total": 0.5}).body
        b'{"seconds":{"total":0.5},"hits":[]}'
        """
        return cls(_json(answer), seconds)

    def taking(self, seconds: Mapping[str, float]) -> WrittenAnswer:
        """The same answer with other seconds."""
        return replace(self, seconds=seconds)

    @property
    def body(self) -> bytes:
        """The complete JSON, with the seconds first."""
        return b'{"seconds":' + _json(self.seconds) + b"," + self.rest[1:]


def _json(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class RememberedAnswers(Cache[str, WrittenAnswer]):
    """Answers by request and revision of the index; the least recently used one is evicted first.

    They are stored as bytes, because an answer consists of thousands of small objects.
    """

    def __init__(self, most: int = MOST, longest: int = LONGEST) -> None:
        super().__init__(most, weigh=lambda _, answer: len(answer.rest), heaviest=longest)
