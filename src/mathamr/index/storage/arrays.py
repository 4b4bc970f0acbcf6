"""Named arrays in one file, memory-mapped when read: the safetensors format, with a checksum."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.errors import MathAMRError
from mathamr.index.storage.durable import write_parts

Array = npt.NDArray[Any]

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


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> int:
    """Writes the arrays, durably; the number of bytes is returned."""
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
    header["__metadata__"] = {"crc32": f"{checksum:08x}"}
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    write_parts(path, [len(text).to_bytes(8, "little"), text, *parts])
    return 8 + len(text) + offset


def map_arrays(path: Path) -> dict[str, Array]:
    """The arrays of a file, read where they lie; a file that was cut short is refused."""
    try:
        header, start = _header(path)
        return {
            name: _map(path, np.dtype(_TYPES[row["dtype"]]), row["shape"], start + row["data_offsets"][0])
            for name, row in header.items()
            if name != "__metadata__"
        }
    except OSError as error:
        raise MathAMRError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise MathAMRError(f"{path} is damaged ({error}); build the index again") from error


def intact(path: Path) -> bool:
    """Whether a file's content still has its checksum."""
    try:
        header, start = _header(path)
        wanted, checksum = int(header["__metadata__"]["crc32"], 16), 0
        with path.open("rb") as file:
            file.seek(start)
            while piece := file.read(1 << 22):
                checksum = zlib.crc32(piece, checksum)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return checksum == wanted


def _header(path: Path) -> tuple[dict[str, Any], int]:
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _LONGEST_HEADER:
            raise ValueError("its header is too long")
        header = json.loads(file.read(length))
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    return header, 8 + length


def _map(path: Path, dtype: np.dtype[Any], shape: list[int], offset: int) -> Array:
    if 0 in shape:
        return np.zeros(shape, dtype)
    # A plain array on the map, since numpy's memmap class makes every slice slower; and a private map ("c") instead of
    # a read-only one, since torch has no read-only tensors and warns of them.
    return np.asarray(np.memmap(path, dtype, "c", offset, tuple(shape)))
