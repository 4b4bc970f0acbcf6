"""Tensors in a file, by name, in the format of safetensors: a header in JSON, then plain numbers, nothing that runs.

Written and read here in a few lines, so that a machine that only trains needs nothing but torch and numpy.
https://huggingface.co/docs/safetensors describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mathamr.core.arrayfile import METADATA, check_header, read_header
from mathamr.core.errors import MathAMRError

_KINDS = {
    "I64": torch.int64,
    "F64": torch.float64,
    "F32": torch.float32,
    "I32": torch.int32,
    "BF16": torch.bfloat16,
    "F16": torch.float16,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
"""Kinds of numbers by their names in the header; those of more bytes come first in a file, so that all are aligned."""
_NAMES = {kind: name for name, kind in _KINDS.items()}


def tensor_bytes(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The content of a file with these tensors, the same for the same tensors whatever their order."""
    order = list(_KINDS)
    chosen = sorted(tensors, key=lambda name: (order.index(_name(name, tensors[name])), name))
    header: dict[str, Any] = {METADATA: dict(sorted(metadata.items()))} if metadata else {}
    parts: list[bytes] = []
    at = 0
    for name in chosen:
        tensor = tensors[name].detach().cpu().contiguous()
        parts.append(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
        end = at + len(parts[-1])
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [at, end],
        }
        at = end
    head = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    head += b" " * (-len(head) % 8)
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def _name(name: str, tensor: Tensor) -> str:
    if tensor.dtype not in _NAMES:
        raise MathAMRError(f"the tensor {name} holds {tensor.dtype}, which is not stored")
    return _NAMES[tensor.dtype]


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a file; anything but safetensors is refused."""
    try:
        with path.open("rb") as file:
            header = read_header(file.read(8), file.read)
            data = bytearray(file.read())
        check_header(header, len(data))
        return {name: _tensor(row, data) for name, row in header.items() if name != METADATA}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MathAMRError(f"{path} is no safetensors file, or it is damaged: {error}") from error


def read_metadata(path: Path) -> dict[str, str]:
    """What a file says about itself; no tensor is read."""
    try:
        with path.open("rb") as file:
            header = read_header(file.read(8), file.read)
        return {str(name): str(value) for name, value in dict(header.get(METADATA) or {}).items()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise MathAMRError(f"{path} is no safetensors file, or it is damaged: {error}") from error


def _tensor(row: dict[str, Any], data: bytearray) -> Tensor:
    kind, (begin, end) = _KINDS[row["dtype"]], row["data_offsets"]
    if begin == end:
        return torch.empty(row["shape"], dtype=kind)
    # A copy of its own: in a foreign file a tensor may begin at any byte.
    whole = torch.frombuffer(data, dtype=torch.uint8, count=end - begin, offset=begin).clone()
    return whole.view(kind).view(row["shape"])


def under(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The part of a state whose names begin so, without that beginning."""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def use_weights(module: nn.Module, weights: dict[str, Tensor], source: Path) -> None:
    """Puts weights into a module; names and shapes must agree, and every number must be finite."""
    expected = module.state_dict()
    missing, foreign = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or foreign:
        raise MathAMRError(
            f"{source} holds weights of another model: missing {_few(missing)}, not known here {_few(foreign)}"
        )
    for name, tensor in weights.items():
        if tensor.shape != expected[name].shape:
            raise MathAMRError(
                f"{source}: {name} has shape {tuple(tensor.shape)}, the configuration asks for {tuple(expected[name].shape)}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise MathAMRError(f"{source}: {name} holds numbers that are not finite; the file is damaged")
    module.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, assign=True)


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or "nothing"
