"""Arrays on disk are what was written, or a clear error; a file is one map."""

from __future__ import annotations

import json
import random
import zlib
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage import mappedarrays
from mathamr.core.storage.mappedarrays import intact, map_arrays, write_arrays
from tests.cases import cases

ARRAYS = {
    "vectors": np.arange(600, dtype=np.float32).reshape(20, 30),
    "ids": np.arange(7, dtype=np.int64),
    "bytes": np.arange(11, dtype=np.uint8),
    "none": np.zeros((0, 4), np.float16),
}


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a", ARRAYS)
    found = map_arrays(tmp_path / "a")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_any_byte_that_is_not_as_it_was_written_is_reported_when_the_file_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_arrays(path, ARRAYS)
    content = path.read_bytes()
    chance = random.Random(5)
    unnoticed = []
    for place in [*range(400), *chance.sample(range(len(content)), 200)]:
        changed = bytearray(content)
        changed[place] ^= 1 << chance.randrange(8)
        path.unlink()
        path.write_bytes(changed)
        try:
            found = map_arrays(path)
        except MathAMRError:
            continue
        if any(not np.array_equal(found.get(name, np.zeros(1)), array) for name, array in ARRAYS.items()):
            unnoticed.append(place)
    assert not unnoticed


@cases("shape", [[999_999_999] * 90_000, [0, 1 << 70], [-1, 4], "12"])
def test_a_shape_that_no_array_has_is_refused(tmp_path: Path, shape: object) -> None:
    header = {"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, 4]}}
    header["__metadata__"] = {
        "crc32": f"{zlib.crc32(bytes(4)):08x}",
        "head": mappedarrays._head_checksum(header),
    }
    head = json.dumps(header).encode()
    (tmp_path / "a").write_bytes(len(head).to_bytes(8, "little") + head + bytes(4))
    with pytest.raises(MathAMRError, match=r"a shape (is not a list|has what is not)"):
        map_arrays(tmp_path / "a")


def test_a_file_is_one_map_however_many_arrays_it_has(tmp_path: Path) -> None:
    arrays = {f"a{number}": np.arange(50, dtype=np.int32) for number in range(40)}
    write_arrays(tmp_path / "a", arrays)
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("this system does not list the files that a process has open")
    before = len(list(folder.iterdir()))
    kept = map_arrays(tmp_path / "a")
    assert len(list(folder.iterdir())) <= before + 1
    assert len(kept) == 40


def test_a_file_that_lies_about_its_shape_is_refused(tmp_path: Path) -> None:
    for shape in ("[99999999]", "[-1]", "[1, 1e9]", "[4]"):
        head = b'{"a": {"dtype": "I64", "shape": %s, "data_offsets": [0, 8]}, "__metadata__": {"crc32": "%s"}}' % (
            shape.encode(), b"fddf6ffd" if shape else b"",
        )  # fmt: skip
        (tmp_path / "a").write_bytes(len(head).to_bytes(8, "little") + head + bytes(8))
        with pytest.raises(MathAMRError, match="damaged"):
            map_arrays(tmp_path / "a")
    assert not intact(tmp_path / "nothing")
