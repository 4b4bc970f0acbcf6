"""`AnswerCache`: the latest answers to searches as JSON, so that a link that many follow is searched for once."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

MOST_ANSWERS, LONGEST_ANSWER = 256, 200_000
"""How many answers are cached, and the longest of them in bytes: about ten MB in all, since most have forty thousand."""


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """An answer as JSON; `seconds`, which differ when it is given again, are kept apart."""

    rest: bytes
    seconds: Mapping[str, float]

    @classmethod
    def of(cls, answer: Mapping[str, Any], seconds: Mapping[str, float]) -> JsonAnswer:
        """Encode an answer that is not empty.

        >>> JsonAnswer.of({"hits": []}, {"total": 0.5}).body
        b'{"seconds":{"total":0.5},"hits":[]}'
        """
        return cls(_json(answer), seconds)

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


class AnswerCache:
    """Answers by request and revision of the index; the one used longest ago goes first."""

    def __init__(self, most: int = MOST_ANSWERS, longest: int = LONGEST_ANSWER) -> None:
        self._most, self._longest = most, longest
        self._answers: OrderedDict[str, JsonAnswer] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> JsonAnswer | None:
        """Return the answer, if it is cached."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def put(self, key: str, answer: JsonAnswer) -> None:
        """Cache an answer, unless it is very long."""
        if len(answer.rest) > self._longest:
            return
        with self._lock:
            self._answers[key] = answer
            self._answers.move_to_end(key)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
