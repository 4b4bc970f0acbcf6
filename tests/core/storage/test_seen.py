"""Files that were looked at, remembered from process to process."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage import mappedarrays, seen
from mathamr.core.storage.mappedarrays import map_arrays, write_arrays
from mathamr.core.storage.seen import SeenFiles

SMALL = 1 << 16
"""So that a test writes no files of 256 MB."""


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(bytes(SMALL))
    return path


def test_a_file_is_known_to_the_next_process_until_it_is_written_to(tmp_path: Path, large: Path) -> None:
    record = tmp_path / "cache" / "seen"
    SeenFiles(record, SMALL).add(large.stat())
    assert large.stat() in SeenFiles(record, SMALL)
    before = large.stat()
    while large.stat().st_ctime_ns == before.st_ctime_ns:  # the clock of many file systems ticks every 4 ms
        with large.open("r+b") as file:
            file.write(b"1")
        os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert large.stat().st_mtime_ns == before.st_mtime_ns
    assert large.stat() not in SeenFiles(record, SMALL)


def test_small_files_are_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"few")
    SeenFiles(tmp_path / "seen", SMALL).add((tmp_path / "small").stat())
    assert not (tmp_path / "seen").exists()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"nonsense\n", b"1 " * (seen.MOST * 256)])
def test_a_record_that_cannot_be_read_says_nothing(tmp_path: Path, large: Path, content: bytes) -> None:
    record = tmp_path / "seen"
    record.write_bytes(content)
    assert large.stat() not in SeenFiles(record, SMALL)
    SeenFiles(record, SMALL).add(large.stat())


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, large: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    again = SeenFiles(tmp_path / "file" / "seen", SMALL)
    again.add(large.stat())
    assert large.stat() in again


def test_the_record_has_an_end(tmp_path: Path, large: Path) -> None:
    record = tmp_path / "seen"
    for number in range(9):
        os.utime(large, ns=(number, number))
        SeenFiles(record, SMALL, most=3).add(large.stat())
    assert len(record.read_text().splitlines()) <= 4


def test_what_changed_in_a_large_file_of_arrays_is_reported_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "arrays.safetensors"
    write_arrays(path, {"many": np.arange(SMALL, dtype=np.int64)})

    def next_process() -> None:
        monkeypatch.setattr(mappedarrays, "_verified", type(mappedarrays._verified)())
        monkeypatch.setattr(mappedarrays, "_seen", SeenFiles(tmp_path / "seen", SMALL))

    next_process()
    map_arrays(path)
    next_process()
    sizes: list[int] = []
    crc32 = zlib.crc32
    monkeypatch.setattr("zlib.crc32", lambda data, start=0: sizes.append(len(data)) or crc32(data, start))
    map_arrays(path)
    assert sum(sizes) < 1000  # the head alone was read again
    next_process()
    with path.open("r+b") as file:
        file.seek(-5, os.SEEK_END)
        file.write(b"X")
    with pytest.raises(MathAMRError, match="checksum"):
        map_arrays(path)


def test_a_file_that_rotted_is_found_though_its_times_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a disk changes by itself changes no time: a file that is not very large is verified in every process."""
    path, record = tmp_path / "arrays.safetensors", SeenFiles(tmp_path / "seen")
    write_arrays(path, {"many": np.arange(SMALL, dtype=np.int64)})
    map_arrays(path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    record.add(path.stat())
    monkeypatch.setattr(mappedarrays, "_verified", type(mappedarrays._verified)())
    monkeypatch.setattr(mappedarrays, "_seen", record)
    with pytest.raises(MathAMRError, match="the checksum of its content is wrong"):
        map_arrays(path)
