"""Encodes rows in the binary format of COPY, so that vectors need no conversion to text."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from mathamr.core.arrays import FloatArray

HEAD = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
END = struct.pack(">h", -1)
_TEXT = 25
"""Postgres's object id of the type text."""
_ESCAPE = "\ue000"


def copied(cells: Sequence[bytes | None]) -> bytes:
    """Encode one row of cells, each in the binary format of its column's type; `None` is NULL."""
    parts = [struct.pack(">h", len(cells))]
    for cell in cells:
        parts += [struct.pack(">i", -1)] if cell is None else [struct.pack(">i", len(cell)), cell]
    return b"".join(parts)


def text(word: str) -> bytes:
    """Return a cell of the type text."""
    return escaped(word).encode()


def texts(words: Sequence[str]) -> bytes:
    """Return a cell of the type text[]."""
    if not words:
        return struct.pack(">iii", 0, 0, _TEXT)
    parts = [struct.pack(">iiiii", 1, 0, _TEXT, len(words), 1)]
    for word in words:
        cell = text(word)
        parts += [struct.pack(">i", len(cell)), cell]
    return b"".join(parts)


def vector(numbers: FloatArray) -> bytes:
    """Return a cell of pgvector's type vector."""
    return struct.pack(">hh", len(numbers), 0) + numbers.astype(">f4").tobytes()


def number(value: int | None) -> bytes | None:
    """Return a cell of the type bigint."""
    return None if value is None else struct.pack(">q", value)


def real(value: float | None) -> bytes | None:
    """Return a cell of the type double precision."""
    return None if value is None else struct.pack(">d", value)


def escaped(word: str) -> str:
    r"""Replace the character 0, which Postgres cannot store in a text.

    >>> escaped("a\0b") == "a\ue000\ue001b", unescaped(escaped("\0\ue000\ue001")) == "\0\ue000\ue001"
    (True, True)
    """
    if "\0" not in word and _ESCAPE not in word:
        return word
    return word.replace(_ESCAPE, _ESCAPE * 2).replace("\0", f"{_ESCAPE}\ue001")


def unescaped(word: str) -> str:
    """Return the inverse of `escaped`."""
    if _ESCAPE not in word:
        return word
    parts = word.split(_ESCAPE * 2)
    return _ESCAPE.join(part.replace(f"{_ESCAPE}\ue001", "\0") for part in parts)


def floats(cell: bytes, size: int) -> FloatArray:
    """Rows of float32 from a cell of the type bytea."""
    return np.frombuffer(cell, "<f4").reshape(-1, size).astype(np.float32, copy=False)
