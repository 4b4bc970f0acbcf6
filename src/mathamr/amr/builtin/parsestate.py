"""`ParseState`: the stack, buffer and arcs of one sentence in the arc-eager parser.

`arceager` holds the states of many sentences in arrays; for a query of one or two sentences plain numbers are faster.
"""

from __future__ import annotations

SHIFT, REDUCE, LEFT, RIGHT, BREAK = range(5)


class ParseState:
    """The state of one sentence; words are numbered from zero, and the number after the last means no word."""

    __slots__ = (
        "_before_right", "_last_left", "_last_right", "_next", "_none", "_returned", "_stack", "_starts", "_unshiftable",
        "heads", "labels",
    )  # fmt: skip

    def __init__(self, size: int) -> None:
        self._none = size
        self._next = 0
        self._stack = [size, size, size]
        """Three entries for no word below all words."""
        self._returned: list[int] = []
        """Words that were moved back from the stack to the buffer, in reverse order."""
        self.heads, self.labels = [-1] * size, [-1] * size
        self._last_left = [size] * (size + 1)
        self._last_right = [size] * (size + 1)
        self._before_right = [size] * (size + 1)
        self._unshiftable = [False] * (size + 1)
        self._starts = [False] * (size + 2)

    @property
    def is_final(self) -> bool:
        """True if the sentence is parsed completely."""
        return len(self._stack) == 3 and self._next == self._none and not self._returned

    def _first_two(self) -> tuple[int, int]:
        """The first words of the buffer."""
        returned, following, none = self._returned, self._next, self._none
        if not returned:
            return min(following, none), min(following + 1, none)
        return returned[-1], returned[-2] if len(returned) > 1 else min(following, none)

    def context(self) -> list[int]:
        """The eight words that the network looks at."""
        first, second = self._first_two()
        third, middle, top = self._stack[-3:]
        return [
            first, second, top, middle, third,
            self._last_left[first], self._last_left[top], self._last_right[top],
        ]  # fmt: skip

    def fits(self) -> int:
        """The permitted moves, one bit each."""
        first, second = self._first_two()
        left = self._none - self._next + len(self._returned)
        is_filled, begins = len(self._stack) > 3, self._starts[first]
        can_shift = not is_filled or (left >= 2 and not begins and not self._unshiftable[first])
        can_join = is_filled and left > 0 and not begins
        can_break = left >= 2 and second == first + 1 and not self._starts[second]
        return (
            can_shift << SHIFT
            | is_filled << REDUCE
            | can_join << LEFT
            | can_join << RIGHT
            | can_break << BREAK
        )

    def act(self, move: int, label: int) -> None:
        """Makes a permitted move."""
        first, second = self._first_two()
        stack = self._stack
        top = stack[-1]
        if move == SHIFT:
            self._push(first)
        elif move == REDUCE:
            if self.heads[top] < 0 and len(stack) > 4:
                self._unshiftable[top] = True
                self._returned.append(top)
            stack.pop()
        elif move == LEFT:
            before = self.heads[top]
            if before >= 0:
                self._last_right[before] = self._before_right[top]
            self.heads[top], self.labels[top] = first, label
            self._last_left[first] = top
            self._unshiftable[first] = False
            stack.pop()
        elif move == RIGHT:
            self.heads[first], self.labels[first] = top, label
            self._before_right[first] = self._last_right[top]
            self._last_right[top] = first
            self._push(first)
        else:
            self._starts[second] = True

    def _push(self, word: int) -> None:
        self._stack.append(word)
        if self._returned:
            self._returned.pop()
        else:
            self._next += 1
