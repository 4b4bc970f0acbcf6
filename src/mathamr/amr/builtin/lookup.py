"""Numbers the features: strings are numbered once, and arrays of numbers are looked up together.

The models' features are strings (`features`) that consist of parts such as a lemma and a tag. Writing and hashing them word
by word costs more than the rest of parsing. Here every part has a number, a feature's parts form one 64-bit key, and a hash
table in numpy finds the features of a whole batch at once. The results equal those of the strings: a new key is written out
and looked up as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

import numpy as np

from mathamr.core.arrays import BoolArray, IntArray

PART_BITS = 21
MOST_STRINGS = 1 << 18
MOST_LOOKUPS = 1_000
"""The number of pairs that are resolved one by one before a form reads all pairs from its vocabulary."""
MOST_REMEMBERED = 1 << 18
_EMPTY, _NOT_CACHED = -1, -1
ABSENT = 0
"""The number of a part that is missing; a feature with a missing part is not a feature."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
"""The factor that spreads keys over the slots (Fibonacci hashing)."""


def places_of(mask: BoolArray) -> IntArray:
    """The positions of true values: `np.flatnonzero` without its overhead, which matters for small arrays."""
    return mask.nonzero()[0]


def ranges(starts: IntArray, counts: IntArray) -> IntArray:
    """The numbers of several ranges, one after another.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)


class StringNumbers(dict[str, int]):
    """Numbers strings in the order in which they arrive; `texts` maps numbers back to strings."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = [""]

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self.texts)
        self.texts.append(text)
        return number

    @property
    def full(self) -> bool:
        """True once the table holds so many strings that its owner should start a new one."""
        return len(self.texts) > MOST_STRINGS

    def numbers(self, texts: Iterable[str]) -> IntArray:
        """The numbers of many strings."""
        return np.array(list(map(self.__getitem__, texts)), dtype=np.int64)


class NumberTable:
    """A hash table from keys to numbers in arrays: open addressing, at most a quarter full."""

    def __init__(self) -> None:
        self._resize(12)

    def _resize(self, bits: int) -> None:
        self._bits, self._count = bits, 0
        self._keys = np.full(1 << bits, _EMPTY, dtype=np.int64)
        self._values = np.full(1 << bits, _NOT_CACHED, dtype=np.int64)

    def __len__(self) -> int:
        return self._count

    def _slots(self, keys: IntArray) -> IntArray:
        return ((keys.view(np.uint64) * _MIX) >> np.uint64(64 - self._bits)).view(np.int64)

    def find(self, keys: IntArray) -> IntArray:
        """The numbers of the keys, -1 for keys that are not in the table."""
        slots = self._slots(keys)
        stored = self._keys[slots]
        found = self._values[slots]
        wrong = places_of(stored != keys)
        if wrong.size:
            found[wrong] = _NOT_CACHED
            wrong = wrong[stored[wrong] != _EMPTY]
        step = 0
        while wrong.size:
            step += 1
            places = (slots[wrong] + step) & (len(self._keys) - 1)
            stored = self._keys[places]
            right = stored == keys[wrong]
            found[wrong[right]] = self._values[places[right]]
            wrong = wrong[~right & (stored != _EMPTY)]
        return found

    def put(self, keys: IntArray, values: IntArray) -> None:
        """Adds distinct keys, none of which may be in the table."""
        if 4 * (self._count + len(keys)) > len(self._keys):
            filled = self._keys != _EMPTY
            old_keys, old_values = self._keys[filled], self._values[filled]
            self._resize(max(12, (4 * (len(old_keys) + len(keys))).bit_length() + 1))
            self._put(old_keys, old_values)
        self._put(keys, values)

    def _put(self, keys: IntArray, values: IntArray) -> None:
        self._count += len(keys)
        slots = self._slots(keys)
        while keys.size:
            free = self._keys[slots] == _EMPTY
            self._keys[slots[free]] = keys[free]
            placed = self._keys[slots] == keys
            self._values[slots[placed]] = values[placed]
            keys, values = keys[~placed], values[~placed]
            slots = (slots[~placed] + 1) & (len(self._keys) - 1)

    def clear(self) -> None:
        """Removes all keys."""
        self._resize(12)


class Form:
    """One kind of feature, like ``lpl={lemma}|{previous}``, over a vocabulary; `unknown` is the number of a text that is not a feature.

    A combination of parts is looked up in the vocabulary once and then cached. A form of two parts with a separator reads
    all its pairs from the vocabulary after many lookups, since most pairs of words are not features; a single sentence
    does not wait for that.
    """

    def __init__(
        self, form: str, vocabulary: Mapping[str, int], strings: StringNumbers, unknown: int
    ) -> None:
        self._vocabulary, self._strings, self._unknown = vocabulary, strings, unknown
        pieces = self.pieces = [(literal, name) for literal, name, _, _ in Formatter().parse(form)]
        self.parts = tuple(name for _, name in pieces if name is not None)
        self._write = "".join(literal + ("{}" if name is not None else "") for literal, name in pieces).format
        self._dense: IntArray = np.full(1, unknown, dtype=np.int64)
        self._table = NumberTable()
        self._ends = (pieces[0][0], pieces[1][0]) if len(pieces) == len(self.parts) == 2 else ("", "")
        self._complete = False

    def _read_vocabulary(self, opening: str, separator: str) -> None:
        """Fills the table with every split of a vocabulary entry into two parts."""
        strings, found = self._strings, {}
        for text, number in self._vocabulary.items():
            if text.startswith(opening):
                place = text.find(separator, len(opening))
                while place >= 0:
                    left, right = text[len(opening) : place], text[place + len(separator) :]
                    found[strings[left] << PART_BITS | strings[right]] = number
                    place = text.find(separator, place + 1)
        size = len(found)
        self._table.clear()
        self._complete = True
        self._table.put(
            np.fromiter(found, dtype=np.int64, count=size),
            np.fromiter(found.values(), dtype=np.int64, count=size),
        )

    def __call__(self, *parts: IntArray) -> IntArray:
        """The numbers of the features whose parts are given as arrays."""
        if len(parts) == 1:
            return self._of_one(parts[0])
        keys = parts[0]
        for part in parts[1:]:
            keys = keys << PART_BITS | part
        found = self._table.find(keys)
        uncached = places_of(found == _NOT_CACHED)
        if (
            uncached.size
            and not self._complete
            and self._ends[1]
            and len(self._table) + uncached.size > MOST_LOOKUPS
        ):
            self._read_vocabulary(*self._ends)
            found = self._table.find(keys)
            uncached = places_of(found == _NOT_CACHED)
        if uncached.size:
            found[uncached] = (
                self._unknown if self._complete else self._resolve_all(keys[uncached], len(parts))
            )
        return found

    def _resolve_all(self, keys: IntArray, count: int) -> IntArray:
        distinct, places = np.unique(keys, return_inverse=True)
        values = np.array([self._resolve(key, count) for key in distinct.tolist()], dtype=np.int64)
        if len(self._table) + len(distinct) > MOST_REMEMBERED:
            self._table.clear()
        self._table.put(distinct, values)
        return values[places.reshape(-1)]

    def _of_one(self, part: IntArray) -> IntArray:
        size = len(self._strings.texts)
        if len(self._dense) < size:
            grown = np.full(2 * size, _NOT_CACHED, dtype=np.int64)
            grown[: len(self._dense)] = self._dense
            self._dense = grown
        found = self._dense[part]
        uncached = places_of(found == _NOT_CACHED)
        if uncached.size:
            for number in set(part[uncached].tolist()):
                self._dense[number] = self._resolve(number, 1)
            found = self._dense[part]
        return found

    def _resolve(self, key: int, count: int) -> int:
        mask = (1 << PART_BITS) - 1
        numbers = [key >> PART_BITS * place & mask for place in range(count - 1, -1, -1)]
        if ABSENT in numbers:
            return self._unknown
        texts = self._strings.texts
        return self._vocabulary.get(self._write(*[texts[number] for number in numbers]), self._unknown)
