"""Safetensors files: a header in JSON, then plain numbers; nothing in them can run code.

`read_arrays` maps a file into memory with numpy alone; `read_tensors` and `tensor_bytes` are for torch, which is imported
only there. The format (https://huggingface.co/docs/safetensors) takes so few lines that a machine that trains needs nothing
but torch and numpy.
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.core.storage.plainfiles import DAMAGED

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

METADATA = "__metadata__"
LONGEST_HEADER = 4 << 20
"""Forty times the header of any model; read as JSON it takes up to thirty times as much memory."""
MOST_DIMENSIONS, LARGEST_DIMENSION = 8, 1 << 40
"""No tensor of a model has more; the product of a long list of numbers takes time in the square of its length."""
_DTYPES: dict[str, npt.DTypeLike | None] = {
    "I64": np.int64,
    "F64": np.float64,
    "F32": np.float32,
    "I32": np.int32,
    "BF16": None,  # numpy has no such type
    "F16": np.float16,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
"""Types by their names in the header. Wider ones come first in a file, so that every tensor is aligned."""


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """Return the arrays of a file, mapped read-only into memory."""
    with _refusing(path):
        return {name: _array(row, data) for name, row, data in _rows(path)}


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file, each copied into its own memory."""
    with _refusing(path):
        return {name: _tensor(row, data) for name, row, data in _rows(path)}


def read_metadata(path: Path) -> dict[str, str]:
    """Return the metadata of a file; no tensor is read."""
    with _refusing(path):
        header, _ = _header(path)
        return {str(name): str(value) for name, value in dict(header.get(METADATA) or {}).items()}


def array_bytes(arrays: Mapping[str, AnyArray], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the content of a file with these arrays; equal arrays give equal bytes, whatever their order."""
    names = {np.dtype(dtype): name for name, dtype in _DTYPES.items() if dtype is not None}
    return _file_bytes(
        {
            name: (names[array.dtype], array.shape, np.ascontiguousarray(array).tobytes())
            for name, array in arrays.items()
        },
        metadata,
    )


def tensor_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the content of a file with these tensors; equal tensors give equal bytes, whatever their order."""
    import torch

    names = {dtype: name for name, dtype in _torch_types().items()}
    rows = {}
    for name, tensor in tensors.items():
        if tensor.dtype not in names:
            raise MathAMRError(
                f"the tensor {name} holds {tensor.dtype}, which safetensors files cannot store"
            )
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        rows[name] = (names[tensor.dtype], tuple(tensor.shape), flat.view(torch.uint8).numpy().tobytes())
    return _file_bytes(rows, metadata)


def _file_bytes(
    rows: Mapping[str, tuple[str, tuple[int, ...], bytes]], metadata: Mapping[str, str] | None
) -> bytes:
    """Return the content of a file; a row is the type, the shape and the bytes of a tensor."""
    order = list(_DTYPES)
    header: dict[str, Any] = {METADATA: dict(sorted(metadata.items()))} if metadata else {}
    parts: list[bytes] = []
    at = 0
    for name in sorted(rows, key=lambda name: (order.index(rows[name][0]), name)):
        dtype, shape, content = rows[name]
        parts.append(content)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + len(content)]}
        at += len(content)
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def halved(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Move tensors to the CPU and convert them to sixteen bits, as most models store them."""
    return {name: tensor.detach().cpu().half().contiguous() for name, tensor in tensors.items()}


def under(state: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the entries of a state whose names begin with a prefix, without that prefix."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def use_weights(module: nn.Module, weights: Mapping[str, Tensor], source: Path) -> None:
    """Put weights into a module; names and shapes must agree, and every number must be finite."""
    import torch

    expected = module.state_dict()
    missing, unknown = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or unknown:
        raise MathAMRError(
            f"{source} holds weights of another model: missing {_few(missing)}, not known here {_few(unknown)}"
        )
    for name, tensor in weights.items():
        if tensor.shape != expected[name].shape:
            raise MathAMRError(
                f"{source}: {name} has shape {tuple(tensor.shape)}, the configuration requires {tuple(expected[name].shape)}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise MathAMRError(f"{source}: {name} holds numbers that are not finite; the file is damaged")
    module.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, assign=True)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn any problem with a file into one clear error."""
    try:
        yield
    except (OSError, *DAMAGED) as error:
        raise MathAMRError(f"{path} is not a safetensors file, or it is damaged: {error}") from error


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Return the header of a file, and the offset at which the numbers begin."""
    with path.open("rb") as file:
        length = file.read(8)
        size = int.from_bytes(length, "little")
        if len(length) < 8 or size > LONGEST_HEADER:
            raise ValueError("it has no header")
        text = file.read(size)
    if len(text) < size:
        raise ValueError("its header is cut off")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("its header is not an object")
    return header, 8 + size


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any], AnyArray]]:
    """Yield every tensor's name, its row of the header, and its bytes, which stay in the file until they are read."""
    header, begin = _header(path)
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    rows = {name: row for name, row in header.items() if name != METADATA}
    _check(list(rows.values()), len(data) - begin)
    for name, row in rows.items():
        first, end = row["data_offsets"]
        content = np.frombuffer(data, np.uint8, end - first, begin + first) if end > first else np.empty(0)
        yield name, row, content


def _check(rows: list[dict[str, Any]], size: int) -> None:
    """Check that the tensors fill the file without gaps, each with as many bytes as its shape needs."""
    at = 0
    for row in sorted(rows, key=lambda row: tuple(row["data_offsets"])):
        begin, end = row["data_offsets"]
        if not all(isinstance(number, int) and number >= 0 for number in (begin, end)):
            raise ValueError("an offset is not a number")
        check_shape(row["shape"])
        if begin != at or end - begin != math.prod(row["shape"]) * _bytes(row["dtype"]):
            raise ValueError("its tensors do not lie end to end")
        at = end
    if at != size:
        raise ValueError(f"it holds {size} bytes of numbers, its header describes {at}")


def check_shape(shape: object) -> None:
    """Raise `ValueError` for a shape that no array of ours has."""
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"a shape is not a list of at most {MOST_DIMENSIONS} numbers")
    if not all(type(number) is int and 0 <= number <= LARGEST_DIMENSION for number in shape):
        raise ValueError("a shape has what is not a number of entries")


def _bytes(name: str) -> int:
    dtype = _DTYPES[name]
    return 2 if dtype is None else np.dtype(dtype).itemsize


def _array(row: dict[str, Any], content: AnyArray) -> AnyArray:
    dtype = _DTYPES[row["dtype"]]
    if dtype is None:
        raise ValueError(f"numpy cannot read the type {row['dtype']}")
    return content.view(dtype).reshape(row["shape"]) if len(content) else np.zeros(row["shape"], dtype)


def _tensor(row: dict[str, Any], content: AnyArray) -> Tensor:
    import torch

    dtype = _torch_types()[row["dtype"]]
    if not len(content):
        return torch.empty(row["shape"], dtype=dtype)
    return torch.from_numpy(content.copy()).view(dtype).view(row["shape"])


def _torch_types() -> dict[str, torch.dtype]:
    import torch

    return {
        name: torch.bfloat16 if dtype is None else torch.from_numpy(np.empty(0, dtype)).dtype
        for name, dtype in _DTYPES.items()
    }


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or "nothing"
