"""Reads the subset of MessagePack that spaCy's model files use, without the libraries that wrote them.

Those libraries take longer to import than a query takes to answer. Arrays are numpy views of the file's bytes.
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
"""Lists shorter than this are read word by word."""


def unpacked(data: bytes, *, keeps_words: bool = False) -> Any:
    """Decodes the bytes; raises `ValueError` if they are not as expected.

    With `keeps_words`, a long list of short words becomes a `WordList` over its encoded text.
    """
    reader = _Reader(data, keeps_words)
    try:
        value = reader.value(0)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"not MessagePack: {error}") from error
    if reader.position != len(data):
        raise ValueError("not MessagePack: extra bytes follow the value")
    return value


class _Reader:
    def __init__(self, data: bytes, keeps_words: bool) -> None:
        self._data, self.position = data, 0
        self._keeps_words = keeps_words

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("not MessagePack of a model: nested too deeply")
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
        raise ValueError(f"not MessagePack of a model: a value begins with {kind:#x}")

    def _take(self, size: int) -> bytes:
        begin, self.position = self.position, self.position + size
        if self.position > len(self._data):
            raise IndexError("it ends in the middle")
        return self._data[begin : self.position]

    def _length(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def _list(self, count: int, depth: int) -> list[Any] | WordList:
        if self._keeps_words and count >= _MANY and (words := self._word_list(count)) is not None:
            return words
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> Any:
        decoded = {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}
        return _array(decoded) if b"nd" in decoded or "nd" in decoded else decoded

    def _word_list(self, count: int) -> WordList | None:
        """A `WordList` over short ASCII words in their encoded form; None if the list holds anything else."""
        match = WordList.written.match(self._data, self.position)
        words = WordList(match.group().decode("latin-1")) if match else None
        if words is None or len(words) != count:
            return None
        self.position += len(words.text)
        return words


def _array(row: dict[Any, Any]) -> Any:
    """Decodes a numpy array as msgpack-numpy writes it."""
    fields = {key.decode() if isinstance(key, bytes) else key: value for key, value in row.items()}
    kind = fields["type"].decode() if isinstance(fields["type"], bytes) else fields["type"]
    if kind not in ("<f4", "<f8", "<i4", "<i8", "<u8"):
        raise ValueError(f"an array of {kind!r}")
    if fields["nd"] is not True:
        return np.frombuffer(fields["data"], kind)[0]
    return np.frombuffer(fields["data"], kind).reshape(fields["shape"])
