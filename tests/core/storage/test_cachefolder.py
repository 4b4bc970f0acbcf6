"""What others could have written into the cache folder is not believed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.cachefolder import own_cache, private_cache, private_file
from mathamr.core.storage.seen import SeenFiles


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache"


def knows(large: Path) -> bool:
    """Whether the list of large files remembers what was written before."""
    return large.stat() in SeenFiles(smallest=1)


@pytest.fixture
def large(folder: Path, tmp_path: Path) -> Path:
    """A large file that the list knows."""
    path = tmp_path / "large"
    path.write_bytes(b"x" * 10)
    SeenFiles(smallest=1).add(path.stat())
    assert knows(path)
    return path


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o775])
def test_a_folder_that_others_may_write_to_is_no_cache(folder: Path, large: Path, mode: int) -> None:
    folder.chmod(mode)
    assert private_cache() is None
    assert not knows(large)
    with pytest.raises(MathAMRError, match=r"cache folder .* others may write to it; keep others out"):
        own_cache()


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_file_that_others_may_write_to_is_not_believed(folder: Path, large: Path, mode: int) -> None:
    for path in folder.iterdir():
        path.chmod(mode)
    assert not knows(large)


def test_nothing_that_was_planted_is_opened(folder: Path, large: Path, tmp_path: Path) -> None:
    """A folder that others could write to once may hold links, pipes and journals of theirs."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = folder / "seen-files.txt"
    path.unlink()
    path.symlink_to(victim)
    SeenFiles(smallest=1).add(large.stat())
    assert victim.read_text() == "mine"
    path.unlink()
    os.mkfifo(path)
    assert not knows(large)
    path.unlink()
    (folder / "other.sqlite-journal").symlink_to(victim)
    assert private_file("other.sqlite") is None
    assert private_file("seen-files.txt") is not None


def test_what_is_created_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path / "deep" / "new"))
    before = os.umask(0)
    try:
        private_file("list")
    finally:
        os.umask(before)
    path = tmp_path / "deep" / "new" / "list"
    assert [each.stat().st_mode & 0o777 for each in (path.parent, path)] == [0o700, 0o600]


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can be a second user")
def test_another_user_of_the_group_plants_nothing(folder: Path, large: Path, tmp_path: Path) -> None:
    other = 54321
    os.chown(folder, 0, other)
    folder.chmod(0o770)
    # What the other writes vouches for a file that nobody has verified.
    unverified = tmp_path / "unverified"
    unverified.write_bytes(b"y" * 20)
    said = " ".join(
        str(getattr(unverified.stat(), f"st_{name}"))
        for name in ("dev", "ino", "size", "mtime_ns", "ctime_ns")
    )
    planted = subprocess.run(
        ["sh", "-c", f"rm seen-files.txt && echo {said} > seen-files.txt && mkdir demo && ls -ln"],
        cwd=folder,
        user=other,
        group=other,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert planted.returncode == 0, planted.stderr
    assert str(other) in planted.stdout
    assert unverified.stat() not in SeenFiles(smallest=1)
    folder.chmod(0o700)
    assert private_cache() == folder
    assert unverified.stat() not in SeenFiles(smallest=1)  # the file is still theirs


def test_a_folder_of_another_user_is_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = folder.stat().st_uid
    assert private_cache() == folder
    if owner == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert private_cache() is None
