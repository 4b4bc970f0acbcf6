"""`answer_cache`: the latest answers to searches as JSON, so that a link that many follow is searched for once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mathamr.core.cache import Cache

MOST_ANSWERS, LONGEST_ANSWER = 256, 200_000
"""How many answers are cached, and the longest of them in bytes: about ten MB in all, since most have forty thousand."""


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer as JSON; `seconds`, which differ when it is given again, are kept apart.

    An answer that does not last denies something after a look at the files, which may change before it is asked for again.
    """

    rest: bytes
    seconds: Mapping[str, float]
    lasts: bool = True

    @classmethod
    def of(cls, answer: Mapping[str, Any], seconds: Mapping[str, float], *, lasts: bool = True) -> JsonAnswer:
        """Encode an answer that is not empty.

        >>> JsonAnswer.of({"hits": []}, {"total": 0.5}).body
        b'{"seconds":{"total":0.5},"hits":[]}'
        """
        return cls(_json(answer), seconds, lasts)

    def with_seconds(self, seconds: Mapping[str, float]) -> JsonAnswer:
        """Return the same answer with other times."""
        return replace(self, seconds=seconds)

    @property
    def body(self) -> bytes:
        """The whole JSON object."""
        return b'{"seconds":' + _json(self.seconds) + b"," + self.rest[1:]


def _json(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def answer_cache() -> Cache[str, JsonAnswer]:
    """Return a cache of answers by request and revision of the index."""
    return Cache(MOST_ANSWERS, weigh=lambda _key, answer: len(answer.rest), heaviest=LONGEST_ANSWER)
