"""Writes graphs of operations for ONNX Runtime: the few ONNX messages that mathamr needs.

https://onnx.ai/onnx/repo-docs/IR.html describes the format. It uses protocol buffers: numbered fields, each a number or
a run of bytes, so one page of code replaces a dependency.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray

IR_VERSION = 8
OPSET = 18
MICROSOFT = "com.microsoft"
"""The domain of ONNX Runtime's own operations; its first version is the only one."""
_KINDS = {
    np.dtype(np.float32): 1,
    np.dtype(np.uint8): 2,
    np.dtype(np.int8): 3,
    np.dtype(np.int32): 6,
    np.dtype(np.int64): 7,
}
_FLOAT, _INTEGER = 1, 2


class OnnxGraph:
    """A graph that is built operation by operation; every result has a unique name."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: dict[str, tuple[bytes, memoryview]] = {}
        self._inputs: list[bytes] = []
        self._made = 0

    def input(self, name: str, shape: Sequence[int | str], kind: npt.DTypeLike = np.float32) -> str:
        """Declare a tensor that every run passes in; a variable dimension has a name."""
        self._inputs.append(_value(name, shape, kind))
        return name

    def constant(self, name: str, array: AnyArray) -> str:
        """Add a tensor that belongs to the graph; a name that already exists keeps its value."""
        if name not in self._constants:
            content = np.ascontiguousarray(array)
            dims = b"".join(_number(1, size) for size in content.shape)
            head = dims + _number(2, _KINDS[content.dtype]) + _bytes(8, name) + _head(9, content.nbytes)
            self._constants[name] = head, content.reshape(-1).view(np.uint8).data
        return name

    def add(
        self, operation: str, inputs: Sequence[str], *, domain: str = "", **attributes: int | float
    ) -> str:
        """Add an operation with one result and return its name; an omitted input is an empty name."""
        (name,) = self.split(operation, inputs, 1, domain=domain, **attributes)
        return name

    def split(
        self,
        operation: str,
        inputs: Sequence[str],
        results: int,
        *,
        domain: str = "",
        **attributes: int | float,
    ) -> list[str]:
        """Add an operation with several results and return their names."""
        names = []
        for _ in range(results):
            self._made += 1
            names.append(f"{operation}_{self._made}")
        self._nodes.append(
            b"".join(_bytes(1, name) for name in inputs)
            + b"".join(_bytes(2, name) for name in names)
            + _bytes(4, operation)
            + b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())
            + _bytes(7, domain)
        )
        return names

    def model(self, outputs: Mapping[str, Sequence[int | str]], kind: npt.DTypeLike = np.float32) -> bytes:
        """Return the bytes of a model with these results, all of one kind."""
        parts: list[bytes | memoryview] = [_bytes(1, node) for node in self._nodes]
        parts.append(_bytes(2, "mathamr"))
        for head, content in self._constants.values():
            parts += [_head(5, len(head) + content.nbytes) + head, content]
        parts += [_bytes(11, value) for value in self._inputs]
        parts += [_bytes(12, _value(name, shape, kind)) for name, shape in outputs.items()]
        opsets = _bytes(8, _number(2, OPSET)) + _bytes(8, _bytes(1, MICROSOFT) + _number(2, 1))
        # Joined once: weights have many megabytes, and each copy takes as long as reading them.
        return b"".join([_number(1, IR_VERSION), _head(7, sum(map(len, parts))), *parts, opsets])


@cache
def multiplies_signed() -> bool:
    """Return True if products of unsigned with signed eight-bit numbers are exact on this processor.

    On x86 this needs VNNI; older processors add two products in sixteen bits, which can overflow, so both factors must be
    unsigned there.
    """
    if platform.machine().lower() in ("aarch64", "arm64"):
        return True
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(flag in flags for flag in ("avx512_vnni", "avx_vnni", "avx512vnni"))


def _value(name: str, shape: Sequence[int | str], kind: npt.DTypeLike) -> bytes:
    dims = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size)) for size in shape
    )
    tensor = _number(1, _KINDS[np.dtype(kind)]) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor))


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, _INTEGER)
    return _bytes(1, name) + bytes([2 << 3 | 5]) + struct.pack("<f", value) + _number(20, _FLOAT)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value & (1 << 64) - 1)


def _bytes(field: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return _head(field, len(data)) + data


def _head(field: int, size: int) -> bytes:
    """Return the head of a field with that many bytes."""
    return _varint(field << 3 | 2) + _varint(size)


def _varint(value: int) -> bytes:
    """Encode a number with seven bits per byte, the lowest first; the eighth bit says that more follow.

    >>> _varint(300).hex()
    'ac02'
    """
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)
