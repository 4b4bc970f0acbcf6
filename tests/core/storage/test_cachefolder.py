"""What others could have written into the cache folder is not believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mathamr.amr.cache import GraphCache
from mathamr.amr.graph import Amr
from mathamr.core.storage.cachefolder import private_cache
from mathamr.core.storage.seen import SeenFiles


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache"


def test_a_folder_that_everybody_may_write_to_is_no_cache(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    graph = Amr.from_penman("(z / zebra)")
    large = tmp_path / "large"
    large.write_bytes(b"x" * 10)
    seen = SeenFiles(smallest=1)
    seen.add(large.stat())
    GraphCache().put("parser", {"A zebra.": graph})
    assert large.stat() in SeenFiles(smallest=1)
    assert GraphCache().get("parser", ["A zebra."]) == {"A zebra.": graph}
    folder.chmod(0o777)
    assert private_cache() is None
    assert large.stat() not in SeenFiles(smallest=1)
    assert GraphCache().get("parser", ["A zebra."]) == {}
    assert "other users may write to this folder" in caplog.text


def test_a_folder_of_another_user_is_no_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = folder.stat().st_uid
    assert private_cache() == folder
    if owner == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert private_cache() is None


def test_a_folder_that_does_not_exist_yet_will_be_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_CACHE", str(tmp_path / "new"))
    assert private_cache() == tmp_path / "new"
