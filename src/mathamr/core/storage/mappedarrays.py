"""Named arrays in one file, memory-mapped when read: the safetensors format, with checksums.

A file is mapped once, however many arrays it holds, and its checksum is verified when a process first maps it: a file that
was changed since it was written raises an error. Only very large files that have not changed since they were last verified
are not verified again (`SeenFiles`).
"""

from __future__ import annotations

import json
import math
import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.durable import write_parts
from mathamr.core.storage.plainfiles import DAMAGED
from mathamr.core.storage.seen import SeenFiles
from mathamr.core.tensorfile import check_shape

_TYPES = {
    "F64": "<f8",
    "I64": "<i8",
    "F32": "<f4",
    "I32": "<i4",
    "F16": "<f2",
    "U8": "|u1",
    "I8": "|i1",
}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}
_LONGEST_HEADER = 1 << 20
_PIECE = 1 << 22


def write_arrays(path: Path, arrays: Mapping[str, AnyArray]) -> int:
    """Write the arrays durably and return the number of bytes."""
    header: dict[str, Any] = {}
    parts: list[memoryview] = []
    checksum = offset = 0
    # Wide types first: then every array starts at a multiple of its type's size.
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        content = np.ascontiguousarray(array).data.cast("B") if array.size else memoryview(b"")
        checksum = zlib.crc32(content, checksum)
        end = offset + content.nbytes
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, end],
        }
        parts.append(content)
        offset = end
    header["__metadata__"] = {"crc32": f"{checksum:08x}", "head": _head_checksum(header)}
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    write_parts(path, [len(text).to_bytes(8, "little"), text, *parts])
    return 8 + len(text) + offset


def map_arrays(path: Path) -> dict[str, AnyArray]:
    """Return the arrays of a file, memory-mapped; a file that was cut short or changed raises an error."""
    try:
        with path.open("rb") as file:
            header, start = _header(file)
            # A private map instead of a read-only one, since torch has no read-only tensors and warns of them.
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            _verify(header, memoryview(content)[start:], os.fstat(file.fileno()))
        return {
            name: _viewed(
                content, np.dtype(_TYPES[row["dtype"]]), row["shape"], start + row["data_offsets"][0]
            )
            for name, row in header.items()
            if name != "__metadata__"
        }
    except OSError as error:
        raise MathAMRError(f"cannot read {path}: {error.strerror or error}") from error
    except DAMAGED as error:
        raise MathAMRError(
            f"{path} is damaged ({error}); repair it with: mathamr index --check --out DIR"
        ) from error


def intact(path: Path) -> bool:
    """Return True if a file's content still matches its checksum."""
    try:
        with path.open("rb") as file:
            header, start = _header(file)
            wanted, checksum = int(header["__metadata__"]["crc32"], 16), 0
            file.seek(start)
            while piece := file.read(1 << 22):
                checksum = zlib.crc32(piece, checksum)
    except (OSError, *DAMAGED):
        return False
    return checksum == wanted


def checksum_of(path: Path) -> str:
    """Return the checksum that a file gives itself, by which a list knows it; `map_arrays` verifies that it is right."""
    try:
        with path.open("rb") as file:
            header, _ = _header(file)
            return "{crc32}-{head}".format(**header["__metadata__"])
    except OSError as error:
        raise MathAMRError(f"cannot read {path}: {error.strerror or error}") from error
    except DAMAGED as error:
        raise MathAMRError(
            f"{path} is damaged ({error}); repair it with: mathamr index --check --out DIR"
        ) from error


def _header(file: BinaryIO) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(file.read(8), "little")
    if length > _LONGEST_HEADER:
        raise ValueError("its header is too long")
    header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("its header is not an object")
    if header["__metadata__"]["head"] != _head_checksum(header):
        raise ValueError("the checksum of its header is wrong")
    return header, 8 + length


def _head_checksum(header: Mapping[str, Any]) -> str:
    rows = sorted((name, row) for name, row in header.items() if name != "__metadata__")
    return f"{zlib.crc32(json.dumps(rows).encode()):08x}"


_verified: Cache[tuple[int, ...], bool] = Cache(4096)
_seen = SeenFiles()


def _verify(header: Mapping[str, Any], content: memoryview, found: os.stat_result) -> None:
    """Raise `ValueError` if the content is not what was written; a file verified before and unchanged is not read again."""
    key = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
    if key in _verified or found in _seen:
        return
    checksum = 0
    for start in range(0, len(content), _PIECE):
        checksum = zlib.crc32(content[start : start + _PIECE], checksum)
    if checksum != int(header["__metadata__"]["crc32"], 16):
        raise ValueError("the checksum of its content is wrong")
    _verified.put(key, True)
    _seen.add(found)


def _viewed(content: mmap.mmap, dtype: np.dtype[Any], shape: list[int], offset: int) -> AnyArray:
    check_shape(shape)
    if 0 in shape:
        return np.zeros(shape, dtype)
    count = math.prod(shape)
    if offset < 0:
        raise ValueError("its header names places outside of it")
    return np.frombuffer(content, dtype, count, offset).reshape(shape)
