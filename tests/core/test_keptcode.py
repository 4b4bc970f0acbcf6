"""Machine code is kept for the next process, and only taken where it is whole and this user's own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mathamr.core import keptcode, machinecode
from mathamr.core.arrays import IntArray
from mathamr.core.keptcode import keep_code, kept_code
from mathamr.core.loops import MachineCode
from mathamr.core.machinecode import has_llvm


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path))
    return tmp_path / keptcode.FOLDER


def test_what_was_kept_is_found_unless_it_was_changed(folder: Path) -> None:
    assert kept_code("key") is None
    keep_code("key", b"code")
    assert kept_code("key") == b"code"
    path = folder / "key"
    path.write_bytes(path.read_bytes() + b"x")
    assert kept_code("key") is None
    path.write_bytes(b"")
    assert kept_code("key") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners and modes here")
def test_what_others_can_write_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_code("key", b"code")
    (folder / "key").chmod(0o622)
    assert kept_code("key") is None
    (folder / "key").chmod(0o600)
    assert kept_code("key") == b"code"
    (folder / "link").symlink_to("key")
    assert kept_code("link") is None, "no link is followed"
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert kept_code("key") is None


def test_the_oldest_files_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keptcode, "MOST", 3)
    for number in range(5):
        keep_code(f"key{number}", b"code")
        os.utime(folder / f"key{number}", (number, number))
    assert sorted(path.name for path in folder.iterdir()) == ["key2", "key3", "key4"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path / "file"))
    keep_code("key", b"code")
    assert kept_code("key") is None


def double(numbers: IntArray, count: int) -> None:
    for place in range(count):
        numbers[place] = 2 * numbers[place]


@pytest.mark.skipif(not has_llvm(), reason="needs llvmlite")
def test_a_second_process_runs_what_the_first_one_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for made in (True, False):
        kept: list[str] = []

        def keep(key: str, code: bytes, kept: list[str] = kept) -> None:
            kept.append(key)
            keep_code(key, code)

        monkeypatch.setattr(machinecode, "keep_code", keep)
        numbers = np.arange(5)
        MachineCode(double)[double](numbers, 5)
        assert numbers.tolist() == [0, 2, 4, 6, 8]
        assert len(kept) == made
        assert len(list(folder.iterdir())) == 1
