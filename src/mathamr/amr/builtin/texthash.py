"""The hashes by which spaCy numbers texts and selects the rows of its embedding tables.

A text's number is MurmurHash64A of its UTF-8 bytes (Appleby, public domain), except for the names of spaCy's own symbols, which
have small numbers. A hash of the number selects its four rows of an embedding table.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from mathamr.core.arrays import IntArray, UInt64Array

SYMBOLS = Path(__file__).parent / "data" / "symbols.txt"
_MASK = (1 << 64) - 1
_MULTIPLIER, _SHIFT, _SEED = 0xC6A4A7935BD1E995, 47, 1


@cache
def symbols() -> dict[str, int]:
    """The numbers of spaCy's symbols."""
    lines = SYMBOLS.read_text(encoding="ascii").splitlines()
    return {name: int(number) for number, name in (line.split(" ", 1) for line in lines)}


@lru_cache(maxsize=16_384)
def number_of(text: str) -> int:
    """The number of a text in every vocabulary of spaCy."""
    return symbols().get(text) or (hashed(text.encode()) if text else 0)


def hashed(data: bytes) -> int:
    """MurmurHash64A.

    >>> hashed(b"irrational")
    17919178529136588699
    """
    size = len(data)
    state = _SEED ^ (size * _MULTIPLIER & _MASK)
    whole = size - size % 8
    for begin in range(0, whole, 8):
        word = int.from_bytes(data[begin : begin + 8], "little") * _MULTIPLIER & _MASK
        word = (word ^ word >> _SHIFT) * _MULTIPLIER & _MASK
        state = (state ^ word) * _MULTIPLIER & _MASK
    if size > whole:
        state = (state ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    state = (state ^ state >> _SHIFT) * _MULTIPLIER & _MASK
    return state ^ state >> _SHIFT


def table_rows(numbers: UInt64Array, seed: int, size: int) -> IntArray:
    """The four rows that each number selects in a table of that size (MurmurHash3 for 64 bits, as in thinc)."""
    first = numbers * np.uint64(0x87C37B91114253D5)
    first = (first << np.uint64(31)) | (first >> np.uint64(33))
    first *= np.uint64(0x4CF5AD432745937F)
    begun = np.uint64(seed ^ 8)
    first ^= begun
    first += begun
    second = first + begun
    first, second = _mixed(first), _mixed(second)
    first += second
    second += first
    low = np.uint64(0xFFFFFFFF)
    keys = [first & low, first >> np.uint64(32), second & low, second >> np.uint64(32)]
    return (np.stack(keys, axis=1) % np.uint64(size)).astype(np.int64)


def _mixed(numbers: UInt64Array) -> UInt64Array:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        numbers = (numbers ^ (numbers >> np.uint64(33))) * np.uint64(factor)
    mixed: UInt64Array = numbers ^ (numbers >> np.uint64(33))
    return mixed
