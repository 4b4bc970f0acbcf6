"""`RememberedAnswers`: what was answered last, so that a page that is opened again, or a link that many follow, is not searched for again."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from typing import Any

MOST = 256
"""Answers that are kept, and the longest of them, in characters: some ten MB in all, since most have forty thousand."""
LONGEST = 200_000


class RememberedAnswers:
    """Answers by what was asked and of which state of the index; the one that was asked for longest ago goes first.

    They are kept as text: an answer of a search is thousands of small objects.
    """

    def __init__(self, most: int = MOST, longest: int = LONGEST) -> None:
        self._most, self._longest = most, longest
        self._known: OrderedDict[str, str] = OrderedDict()
        self._looking = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, asked: str) -> dict[str, Any] | None:
        """The answer, if it is remembered."""
        with self._looking:
            if asked not in self._known:
                return None
            self._known.move_to_end(asked)
            text = self._known[asked]
        answer: dict[str, Any] = json.loads(text)
        return answer

    def put(self, asked: str, answer: dict[str, Any]) -> None:
        """Remembers an answer, unless it is very long."""
        text = json.dumps(answer, separators=(",", ":"))
        if len(text) > self._longest:
            return
        with self._looking:
            self._known[asked] = text
            self._known.move_to_end(asked)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
