from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.arrayfile import read_arrays
from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_tensors, tensor_bytes


def test_arrays_are_the_tensors_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    kinds = (torch.float32, torch.float16, torch.int64, torch.int8, torch.bool)
    tensors = {str(kind): (9 * torch.randn(3, 5)).to(kind) for kind in kinds} | {"none": torch.zeros(0, 4)}
    path.write_bytes(tensor_bytes(tensors))
    found = read_arrays(path)
    for name, tensor in read_tensors(path).items():
        assert np.array_equal(found[name], tensor.numpy())
        assert found[name].dtype == tensor.numpy().dtype


def test_arrays_cannot_be_changed_in_place(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(tensor_bytes({"a": torch.ones(2)}))
    with pytest.raises(ValueError, match="read-only"):
        read_arrays(path)["a"][0] = 2


def test_what_is_cut_off_or_of_a_strange_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    whole = tensor_bytes({"a": torch.ones(8), "b": torch.ones(4).bfloat16()})
    with pytest.raises(MathAMRError, match="no safetensors"):
        read_arrays(path)
    for content in (b"", whole[:20], whole[:-1], whole + b"x", whole):
        path.write_bytes(content)
        with pytest.raises(MathAMRError, match="no safetensors"):
            read_arrays(path)
