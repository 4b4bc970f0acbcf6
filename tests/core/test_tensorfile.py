from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load, save

from mathamr.core.errors import MathAMRError
from mathamr.core.tensorfile import read_arrays, read_metadata, read_tensors, tensor_bytes

NAMES = "float32 float16 bfloat16 float64 int64 int32 int16 int8 uint8 bool"
KINDS = tuple(getattr(torch, name) for name in NAMES.split())


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(KINDS), st.lists(st.integers(0, 4), max_size=3)),
        max_size=6,
    )
)
def test_the_library_reads_what_is_written_and_writes_the_same_bytes(
    shapes: dict[str, tuple[torch.dtype, list[int]]],
) -> None:
    torch.manual_seed(0)
    tensors = {name: (100 * torch.randn(shape)).to(kind) for name, (kind, shape) in shapes.items()}
    written = tensor_bytes(tensors)
    found = load(written)
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)
    if all(ord(character) < 128 for name in tensors for character in name):
        assert written == save(tensors)


def test_what_the_library_wrote_is_read(tmp_path: Path) -> None:
    tensors = {f"{number}": (9 * torch.randn(3, number)).to(kind) for number, kind in enumerate(KINDS)} | {
        "one number": torch.tensor(7.5)
    }
    (tmp_path / "file").write_bytes(save(tensors, metadata={"step": "7", "of": "ä"}))
    found = read_tensors(tmp_path / "file")
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)
    assert read_metadata(tmp_path / "file") == {"step": "7", "of": "ä"}


def test_a_tensor_may_begin_at_any_byte(tmp_path: Path) -> None:
    header = {
        "a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [1, 9]},
    }
    head = json.dumps(header).encode()
    numbers = torch.tensor([1.5, -2.0]).numpy().tobytes()
    (tmp_path / "file").write_bytes(len(head).to_bytes(8, "little") + head + b"\x07" + numbers)
    assert read_tensors(tmp_path / "file")["b"].tolist() == [1.5, -2.0]


WHOLE = tensor_bytes({"a": torch.ones(2, 2), "b": torch.zeros(3, dtype=torch.int8)})
HEADER = json.loads(WHOLE[8 : 8 + int.from_bytes(WHOLE[:8], "little")])
DATA = WHOLE[8 + int.from_bytes(WHOLE[:8], "little") :]


def changed(**rows: object) -> bytes:
    head = json.dumps(HEADER | rows).encode()
    return len(head).to_bytes(8, "little") + head + DATA


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x00",
        WHOLE[:20],
        WHOLE[:-1],
        WHOLE + b"\x00",
        (1 << 62).to_bytes(8, "little") + WHOLE[8:],
        (2).to_bytes(8, "little") + b"[]" + DATA,
        (10_000).to_bytes(8, "little") + b"[" * 10_000,
        changed(a={"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 16]}),
        changed(a={"dtype": "F32", "shape": [-2, -2], "data_offsets": [0, 16]}),
        changed(a={"dtype": "F32", "shape": [2, 2.0], "data_offsets": [0, 16]}),
        changed(a={"dtype": "F99", "shape": [2, 2], "data_offsets": [0, 16]}),
        changed(a={"dtype": "F32", "shape": [1 << 60, 1 << 60], "data_offsets": [0, 16]}),
        changed(b={"dtype": "I8", "shape": [3], "data_offsets": [0, 3]}),
        changed(b={"dtype": "I8", "shape": [3]}),
        changed(b=None),
        changed(c={"dtype": "F32", "shape": [0, 1 << 70], "data_offsets": [19, 19]}),
        changed(padding="a" * (4 << 20)),
        changed(b={"dtype": "I8", "shape": "3", "data_offsets": [16, 19]}),
        changed(b={"dtype": ["I8"], "shape": [3], "data_offsets": [16, 19]}),
        changed(b={"dtype": "I8", "shape": [3], "data_offsets": [16, 19, 20]}),
    ],
)
def test_anything_else_is_refused_with_a_clear_word(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(MathAMRError, match="not a safetensors file, or it is damaged"):
        read_tensors(tmp_path / "file")
    with pytest.raises(MathAMRError, match="not a safetensors file, or it is damaged"):
        read_arrays(tmp_path / "file")


@pytest.mark.parametrize(
    "shape", [[999_999_999] * 90_000, [1] * 9, [2, 1 << 41], [True, 2], [[2], 2], {"2": 2}]
)
def test_a_shape_that_no_tensor_has_is_refused_before_it_is_multiplied(tmp_path: Path, shape: object) -> None:
    (tmp_path / "file").write_bytes(changed(a={"dtype": "F32", "shape": shape, "data_offsets": [0, 16]}))
    with pytest.raises(MathAMRError, match=r"a shape (is not a list|has what is not)"):
        read_arrays(tmp_path / "file")


def test_a_missing_file_and_a_strange_kind_of_number_are_named(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="not a safetensors file"):
        read_metadata(tmp_path / "none")
    with pytest.raises(MathAMRError, match=r"the tensor c holds torch\.complex64"):
        tensor_bytes({"c": torch.zeros(1, dtype=torch.complex64)})


def test_arrays_are_the_tensors_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    kinds = (torch.float32, torch.float16, torch.int64, torch.int8, torch.bool)
    tensors = {str(kind): (9 * torch.randn(3, 5)).to(kind) for kind in kinds} | {"none": torch.zeros(0, 4)}
    path.write_bytes(tensor_bytes(tensors))
    found = read_arrays(path)
    for name, tensor in read_tensors(path).items():
        assert np.array_equal(found[name], tensor.numpy())
        assert found[name].dtype == tensor.numpy().dtype
    with pytest.raises(ValueError, match="read-only"):
        found["torch.float32"][0] = 2
    path.write_bytes(tensor_bytes({"a": torch.ones(4).bfloat16()}))
    with pytest.raises(MathAMRError, match="not a safetensors"):  # numpy has no such numbers
        read_arrays(path)
