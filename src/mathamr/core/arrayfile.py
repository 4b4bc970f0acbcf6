"""Arrays in a file of safetensors, by name, read where they lie: no copy, nothing loaded that is not looked at.

https://huggingface.co/docs/safetensors describes the format: a header in JSON, then plain numbers, nothing that runs.
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError

METADATA = "__metadata__"
LONGEST_HEADER = 100_000_000
BYTES = {
    "I64": 8,
    "F64": 8,
    "F32": 4,
    "I32": 4,
    "BF16": 2,
    "F16": 2,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}
"""Kinds of numbers by their names in the header, and their bytes; in a file those of more bytes come first, so that all are aligned."""
_KINDS: dict[str, npt.DTypeLike] = {
    "I64": np.int64,
    "F64": np.float64,
    "F32": np.float32,
    "I32": np.int32,
    "F16": np.float16,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """The arrays of a file, mapped into memory; anything but safetensors is refused."""
    try:
        with path.open("rb") as file:
            header = read_header(file.read(8), file.read)
            begin = file.tell()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        check_header(header, len(data) - begin)
        return {name: _array(row, data, begin) for name, row in header.items() if name != METADATA}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MathAMRError(f"{path} is no safetensors file, or it is damaged: {error}") from error


def read_header(length: bytes, read: Callable[[int], bytes]) -> dict[str, Any]:
    """What a file says about its tensors."""
    size = int.from_bytes(length, "little")
    if len(length) < 8 or size > LONGEST_HEADER:
        raise ValueError("it has no header")
    text = read(size)
    if len(text) < size:
        raise ValueError("its header is cut off")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    return header


def check_header(header: dict[str, Any], size: int) -> None:
    """The tensors fill the file without a gap, each with as many bytes as its shape needs."""
    at = 0
    rows = [row for name, row in header.items() if name != METADATA]
    for row in sorted(rows, key=lambda row: tuple(row["data_offsets"])):
        begin, end = row["data_offsets"]
        if not all(isinstance(number, int) and number >= 0 for number in (begin, end, *row["shape"])):
            raise ValueError("a shape or an offset is no number")
        if begin != at or end - begin != math.prod(row["shape"]) * BYTES[row["dtype"]]:
            raise ValueError("its tensors do not lie end to end")
        at = end
    if at != size:
        raise ValueError(f"it holds {size} bytes of numbers, its header tells of {at}")


def _array(row: dict[str, Any], data: mmap.mmap, begin: int) -> AnyArray:
    kind = row["dtype"]
    if kind not in _KINDS:
        raise ValueError(f"numbers of the kind {kind} are not read here")
    first, end = row["data_offsets"]
    if first == end:
        return np.zeros(row["shape"], _KINDS[kind])
    found = np.frombuffer(data, _KINDS[kind], math.prod(row["shape"]), begin + first)
    return found.reshape(row["shape"])
