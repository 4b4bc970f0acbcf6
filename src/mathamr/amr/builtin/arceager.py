"""`ArcEager`: spaCy's dependency parser in numpy; it parses the sentences of a batch in parallel, and a few one by one.

The weights and the rules are spaCy's (arc-eager with the unshift of Honnibal and Johnson, 2015); every step takes one
action in every unfinished sentence. Tests compare the trees with those of spaCy's own loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mathamr.amr.builtin.lookup import places_of
from mathamr.amr.builtin.parsestate import BREAK, LEFT, REDUCE, RIGHT, SHIFT, ParseState
from mathamr.core.arrays import BoolArray, FloatArray, IntArray

FEW = 6
"""Up to this number, sentences are parsed one by one: a step over arrays costs as much as the steps of so many sentences."""
_MOVES = {"S": SHIFT, "D": REDUCE, "L": LEFT, "R": RIGHT, "B": BREAK}
_DELIMITER = "||"
_PADS, _FEATURES = 3, 8


class ParserWeights(NamedTuple):
    """The layers of the network as spaCy stores them: before the table of features, the table, and after it."""

    linear: FloatArray
    linear_bias: FloatArray
    lower: FloatArray
    lower_bias: FloatArray
    padding: FloatArray
    upper: FloatArray
    upper_bias: FloatArray


class ArcEager:
    """The parser of a spaCy pipeline; `names` are those of its moves."""

    def __init__(self, weights: ParserWeights, names: Sequence[str]) -> None:
        features, hidden, pieces, _ = weights.lower.shape
        if features != _FEATURES or len(names) != len(weights.upper):
            raise ValueError("the parser is not of the expected kind")
        self._linear, self._linear_bias = weights.linear.T.copy(), weights.linear_bias.copy()
        self._features, self._hidden, self._pieces = features, hidden, pieces
        by_piece = weights.lower.transpose(0, 2, 1, 3).reshape(features * pieces * hidden, -1)
        self._weights: FloatArray = np.ascontiguousarray(by_piece.T)
        self._bias: FloatArray = weights.lower_bias.T.reshape(-1).copy()
        self._padding: FloatArray = weights.padding[0].transpose(0, 2, 1).reshape(features, -1).copy()
        self._upper, self._upper_bias = weights.upper.T.copy(), weights.upper_bias.copy()
        self._move = np.array([_MOVES[name[0]] for name in names], dtype=np.int64)
        self.labels = [name[2:] for name in names]
        can = np.array(
            [[bits >> move & 1 for move in self._move.tolist()] for bits in range(1 << len(_MOVES))]
        )
        self._unfit: FloatArray = np.where(can, np.float32(0.0), np.float32(-np.inf))
        """For every set of permitted moves: minus infinity for each action that is not permitted."""

    def parse(self, vectors: FloatArray, sizes: Sequence[int]) -> tuple[list[list[int]], list[list[str]]]:
        """Heads (a root is its own) and labels of the words of each sentence."""
        table = self._precompute(vectors)
        if len(sizes) <= FEW:
            return self._parse_few(table, sizes)
        states = _States(sizes)
        while len(states.open):
            scores = self._score(table, states.context())
            scores += states.unfit()[:, self._move]
            actions = scores.argmax(axis=1)
            states.act(self._move[actions], actions)
        return self._read(states.heads.tolist(), states.labels.tolist(), sizes)

    def _parse_few(self, table: FloatArray, sizes: Sequence[int]) -> tuple[list[list[int]], list[list[str]]]:
        """Like `parse`, one sentence after the other."""
        moves, hidden = self._move.tolist(), self._hidden
        by_word = table.reshape(-1, self._features, table.shape[1])
        places = np.arange(self._features)
        heads: list[int] = []
        labels: list[int] = []
        for size in sizes:
            start, state = len(heads), ParseState(size)
            own = by_word[[*range(start, start + size), -1]]
            while not state.is_final:
                total = own[state.context(), places].sum(axis=0)
                total += self._bias
                best = total.reshape(self._pieces, hidden).max(axis=0)
                scores = best @ self._upper
                scores += self._upper_bias
                scores += self._unfit[state.fits()]
                action = int(scores.argmax())
                state.act(moves[action], action)
            heads += [head + start if head >= 0 else -1 for head in state.heads]
            labels += state.labels
        return self._read(heads, labels, sizes)

    def _precompute(self, vectors: FloatArray) -> FloatArray:
        """The contribution of every word to the hidden layer at each of the eight places; the last row stands for no word."""
        words, width = len(vectors), self._pieces * self._hidden
        table = np.empty((words + 1, self._features * width), dtype=np.float32)
        np.matmul(vectors @ self._linear + self._linear_bias, self._weights, out=table[:words])
        table[words] = self._padding.reshape(-1)
        return table.reshape((words + 1) * self._features, width)

    def _score(self, table: FloatArray, context: Sequence[IntArray]) -> FloatArray:
        total: FloatArray = table[context[0] * self._features]
        for place, words in enumerate(context[1:], start=1):
            total += table[words * self._features + place]
        total += self._bias
        hidden = total[:, : self._hidden]
        for piece in range(1, self._pieces):
            hidden = np.maximum(hidden, total[:, piece * self._hidden : (piece + 1) * self._hidden])
        scores: FloatArray = hidden @ self._upper
        scores += self._upper_bias
        return scores

    def _read(
        self, flat_heads: list[int], flat_labels: list[int], sizes: Sequence[int]
    ) -> tuple[list[list[int]], list[list[str]]]:
        heads: list[list[int]] = []
        labels: list[list[str]] = []
        start = 0
        for size in sizes:
            its_heads = [
                head - start if head >= 0 else place
                for place, head in enumerate(flat_heads[start : start + size])
            ]
            its_labels = [
                self.labels[label] if label >= 0 else "ROOT" for label in flat_labels[start : start + size]
            ]
            if any(_DELIMITER in label for label in its_labels):
                lift(its_heads, its_labels)
            heads.append(its_heads)
            labels.append(its_labels)
            start += size
        return heads, labels


class _States:
    """Stacks, buffers and arcs of all sentences; words are numbered consecutively, and the number after the last means no word."""

    def __init__(self, sizes: Sequence[int]) -> None:
        count, longest = len(sizes), max(sizes)
        self.length = np.array(sizes, dtype=np.int64)
        self.end = np.cumsum(self.length)
        words = int(self.end[-1])
        self.none = words
        self.next = self.end - self.length
        self.stack = np.full((count, longest + _PADS), words, dtype=np.int64)
        self.depth = np.zeros(count, dtype=np.int64)
        self.returned = np.full((count, longest + 2), words, dtype=np.int64)
        """Words that were moved back from the stack to the buffer, in reverse order."""
        self.returns = np.zeros(count, dtype=np.int64)
        self.heads = np.full(words, -1, dtype=np.int64)
        self.labels = np.full(words, -1, dtype=np.int64)
        self.last_left = np.full(words + 1, words, dtype=np.int64)
        self.last_right = np.full(words + 1, words, dtype=np.int64)
        self.before_right = np.full(words + 1, words, dtype=np.int64)
        self.unshiftable: BoolArray = np.zeros(words + 1, dtype=np.bool_)
        self.starts: BoolArray = np.zeros(words + 2, dtype=np.bool_)
        self.open = np.arange(count)
        self._read_ends()

    def _read_ends(self) -> None:
        """Reads the ends of stacks and buffers of the open sentences."""
        open_ones = self.open
        self._depth, returns = self.depth[open_ones], self.returns[open_ones]
        following, end = self.next[open_ones], self.end[open_ones]
        waiting = returns > 0
        self._left = end - following + returns
        self._b0 = np.where(
            waiting, self.returned[open_ones, returns - 1], np.where(following < end, following, self.none)
        )
        second = following + 1 - np.minimum(returns, 1)
        self._b1 = np.where(
            returns > 1, self.returned[open_ones, returns - 2], np.where(second < end, second, self.none)
        )
        self._s0 = self.stack[open_ones, self._depth + 2]

    def context(self) -> tuple[IntArray, ...]:
        """The eight words that the network looks at."""
        b0, s0, depth = self._b0, self._s0, self._depth
        return (
            b0, self._b1, s0, self.stack[self.open, depth + 1], self.stack[self.open, depth],
            self.last_left[b0], self.last_left[s0], self.last_right[s0],
        )  # fmt: skip

    def unfit(self) -> FloatArray:
        """Minus infinity for the moves that are not permitted."""
        b0, b1, left = self._b0, self._b1, self._left
        fits = np.empty((len(b0), 5), dtype=np.bool_)
        filled, begins = self._depth > 0, self.starts[b0]
        fits[:, SHIFT] = ~filled | ((left >= 2) & ~begins & ~self.unshiftable[b0])
        fits[:, REDUCE] = filled
        fits[:, LEFT] = fits[:, RIGHT] = filled & (left > 0) & ~begins
        fits[:, BREAK] = (left >= 2) & (b1 == b0 + 1) & ~self.starts[b1]
        return np.where(fits, np.float32(0.0), np.float32(-np.inf))

    def act(self, moves: IntArray, labels: IntArray) -> None:
        """Makes a move in every open sentence."""
        b0, s0 = self._b0, self._s0
        left, right = places_of(moves == LEFT), places_of(moves == RIGHT)
        child, head = s0[left], b0[left]
        old = self.heads[child]
        moved = old >= 0
        self.last_right[old[moved]] = self.before_right[child[moved]]
        self.heads[child], self.labels[child] = head, labels[left]
        self.last_left[head] = child
        self.unshiftable[head] = False
        child, head = b0[right], s0[right]
        self.heads[child], self.labels[child] = head, labels[right]
        self.before_right[child] = self.last_right[head]
        self.last_right[head] = child
        self.starts[self._b1[moves == BREAK]] = True
        reduced = places_of(moves == REDUCE)
        back = reduced[(self.heads[s0[reduced]] < 0) & (self._depth[reduced] > 1)]
        self._pop(np.concatenate([left, reduced]))
        self._return(back)
        self._push(np.concatenate([right, places_of(moves == SHIFT)]))
        self.open = self.open[(self.depth[self.open] > 0) | (self._remaining() > 0)]
        if len(self.open):
            self._read_ends()

    def _remaining(self) -> IntArray:
        open_ones = self.open
        return self.end[open_ones] - self.next[open_ones] + self.returns[open_ones]

    def _pop(self, which: IntArray) -> None:
        sentences = self.open[which]
        self.stack[sentences, self._depth[which] + 2] = self.none
        self.depth[sentences] -= 1

    def _return(self, which: IntArray) -> None:
        sentences, words = self.open[which], self._s0[which]
        self.unshiftable[words] = True
        self.returned[sentences, self.returns[sentences]] = words
        self.returns[sentences] += 1

    def _push(self, which: IntArray) -> None:
        sentences = self.open[which]
        self.stack[sentences, self._depth[which] + _PADS] = self._b0[which]
        self.depth[sentences] += 1
        again = self.returns[sentences] > 0
        self.returns[sentences[again]] -= 1
        self.next[sentences[~again]] += 1


def lift(heads: list[int], labels: list[str]) -> None:
    """Undoes the projective reading of arcs like ``nsubj||ccomp``: the head is a `ccomp` below, nearest first.

    Like spaCy it goes word by word, changes the tree as it goes, and searches only inside the spans of the original tree.
    """
    size = len(heads)
    first, last = list(range(size)), list(range(size))
    changed = True
    while changed:
        changed = False
        for word, head in enumerate(heads):
            if first[word] < first[head] or last[word] > last[head]:
                first[head], last[head] = min(first[head], first[word]), max(last[head], last[word])
                changed = True
    for word in range(size):
        if _DELIMITER in labels[word]:
            labels[word], wanted = labels[word].split(_DELIMITER)
            heads[word] = _below(heads, labels, word, wanted, first, last)


def _below(
    heads: list[int], labels: list[str], word: int, wanted: str, first: list[int], last: list[int]
) -> int:
    queue = [heads[word]]
    while queue:
        following = []
        for above in queue:
            for child in range(first[above], last[above] + 1):
                if heads[child] == above and child not in (above, word):
                    if labels[child] == wanted:
                        return child
                    following.append(child)
        queue = following
    return heads[word]
