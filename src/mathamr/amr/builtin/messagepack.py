"""MessagePack, as far as the files of spaCy's models use it: read without the libraries that wrote it.

Those take longer to import than a query takes to answer. Arrays come as numpy's, over the file's own bytes.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from mathamr.amr.builtin.wordtext import WordList

DEEPEST = 32
_FIXED = {
    0xC0: None, 0xC2: False, 0xC3: True,
}  # fmt: skip
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i",
    0xD3: ">q",
}  # fmt: skip
_TEXTS, _BYTES = {0xD9: 1, 0xDA: 2, 0xDB: 4}, {0xC4: 1, 0xC5: 2, 0xC6: 4}
_LISTS, _MAPS = {0xDC: 2, 0xDD: 4}, {0xDE: 2, 0xDF: 4}
_MANY = 64
"""Shorter lists are read word by word."""


def unpacked(data: bytes, *, keeps_words: bool = False) -> Any:
    """What the bytes say; `ValueError` where they are not as expected.

    With `keeps_words` long lists of short words stay as they are written, as a `WordList`.
    """
    reader = _Reader(data, keeps_words)
    try:
        value = reader.value(0)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"no MessagePack: {error}") from error
    if reader.position != len(data):
        raise ValueError("no MessagePack: more follows than was announced")
    return value


class _Reader:
    def __init__(self, data: bytes, keeps_words: bool) -> None:
        self._data, self.position = data, 0
        self._keeps_words = keeps_words

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("no MessagePack of a model: too deep")
        kind = self._data[self.position]
        self.position += 1
        if kind < 0x80:
            return kind
        if kind >= 0xE0:
            return kind - 0x100
        if kind < 0x90:
            return self._map(kind & 0x0F, depth)
        if kind < 0xA0:
            return self._list(kind & 0x0F, depth)
        if kind < 0xC0:
            return self._take(kind & 0x1F).decode()
        if kind in _FIXED:
            return _FIXED[kind]
        if kind in _NUMBERS:
            form = _NUMBERS[kind]
            return struct.unpack(form, self._take(struct.calcsize(form)))[0]
        if kind in _TEXTS:
            return self._take(self._length(_TEXTS[kind])).decode()
        if kind in _BYTES:
            return self._take(self._length(_BYTES[kind]))
        if kind in _LISTS:
            return self._list(self._length(_LISTS[kind]), depth)
        if kind in _MAPS:
            return self._map(self._length(_MAPS[kind]), depth)
        raise ValueError(f"no MessagePack of a model: a value begins with {kind:#x}")

    def _take(self, size: int) -> bytes:
        begin, self.position = self.position, self.position + size
        if self.position > len(self._data):
            raise IndexError("it ends in the middle")
        return self._data[begin : self.position]

    def _length(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _list(self, count: int, depth: int) -> list[Any] | WordList:
        if self._keeps_words and count >= _MANY and (words := self._kept(count)) is not None:
            return words
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> Any:
        made = {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}
        return _array(made) if b"nd" in made or "nd" in made else made

    def _kept(self, count: int) -> WordList | None:
        """Short words in ASCII, as they are written; None where something else is."""
        match = WordList.written.match(self._data, self.position)
        words = WordList(match.group().decode("latin-1")) if match else None
        if words is None or len(words) != count:
            return None
        self.position += len(words.text)
        return words


def _array(row: dict[Any, Any]) -> Any:
    """An array of numpy, as msgpack-numpy writes it."""
    given = {key.decode() if isinstance(key, bytes) else key: value for key, value in row.items()}
    kind = given["type"].decode() if isinstance(given["type"], bytes) else given["type"]
    if kind not in ("<f4", "<f8", "<i4", "<i8", "<u8"):
        raise ValueError(f"an array of {kind!r}")
    if given["nd"] is not True:
        return np.frombuffer(given["data"], kind)[0]
    return np.frombuffer(given["data"], kind).reshape(given["shape"])
