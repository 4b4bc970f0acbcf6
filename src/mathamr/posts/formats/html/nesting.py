"""Which tag closes an element that may contain others of its name, found for all of them in one pass over a text."""

from __future__ import annotations

import re
from bisect import bisect_right


class Nesting:
    """The tags of one name from a place on.

    >>> text = "<b><b></b></b>"
    >>> Nesting(text, "b", 3).closing(3), Nesting(text, "b", 3).closing(6)
    ((10, 14), (6, 10))
    """

    def __init__(self, text: str, name: str, start: int) -> None:
        self._spans: list[tuple[int, int]] = [(start, start)]
        self._ends = [start]
        self._closed_by = [0]
        """For each tag the next one with which fewer elements are open than behind it; 0 if there is none."""
        waiting, depths = [0], [0]
        depth = 0
        for match in re.compile(rf"<(/?){re.escape(name)}(?![\w-])[^<>]*>", re.I).finditer(text, start):
            depth += -1 if match[1] else not match.group().endswith("/>")
            place = len(self._spans)
            self._spans.append(match.span())
            self._ends.append(match.end())
            self._closed_by.append(0)
            while waiting and depths[waiting[-1]] > depth:
                self._closed_by[waiting.pop()] = place
            waiting.append(place)
            depths.append(depth)

    def closing(self, position: int) -> tuple[int, int] | None:
        """Return where the tag begins and ends that closes an element whose content begins at a position; `None` if none does."""
        close = self._closed_by[bisect_right(self._ends, position) - 1]
        return self._spans[close] if close else None
