"""A stranger's folder leads nowhere: no link in it is followed, nothing in it keeps a reader waiting."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.durable import write_whole
from mathamr.core.storage.plainfiles import check_plain, sweep
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.admin.check import check_index
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import _checksum
from mathamr.index.storage import IndexStorage
from mathamr.search.searcher import Index
from tests.bounded import bounded

FOREIGN = {"name": "os:system", "fingerprint": "x", "model": "touch pwned"}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.write_text("what must stay", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["lock", "manifest.json", "catalogue.db", "graphs", "vectors", "lexical/x"])
def test_an_index_with_a_link_in_it_is_not_opened(index: Path, victim: Path, name: str) -> None:
    place = index / name
    if place.exists():
        place.rename(index.parent / "moved")
    place.symlink_to(victim)
    for use in (
        lambda: IndexStorage.open(index),
        lambda: IndexWriter.open(index),
        lambda: check_index(index),
        lambda: build_index([], index, BuildOptions(device="cpu")),
    ):
        with pytest.raises(MathAMRError, match="is a link"):
            use()
    assert victim.read_text(encoding="utf-8") == "what must stay"


def test_a_pipe_keeps_nobody_waiting(index: Path) -> None:
    (index / "manifest.json").unlink()
    os.mkfifo(index / "manifest.json")
    ended = bounded(
        "import sys\nfrom mathamr.index.storage import IndexStorage\nIndexStorage.open(sys.argv[1])",
        str(index),
    )
    assert "is not a regular file" in ended.stderr


def test_the_lock_follows_no_link(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "lock").symlink_to(victim)
    with pytest.raises(MathAMRError, match="cannot write"):
        WriterLock(tmp_path, "a test")
    assert victim.read_text(encoding="utf-8") == "what must stay"


def test_a_file_is_written_under_a_name_that_nobody_can_foresee(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "manifest.json.new").symlink_to(victim)
    write_whole(tmp_path / "manifest.json", b"{}")
    assert victim.read_text(encoding="utf-8") == "what must stay"
    assert (tmp_path / "manifest.json").read_bytes() == b"{}"


def test_what_a_kill_left_unfinished_is_swept_away_and_nothing_else(tmp_path: Path) -> None:
    kept = [tmp_path / "a.new", tmp_path / "manifest.json"]
    left = [tmp_path / "manifest.json.0123456789abcdef.new", tmp_path / "sub" / "x.ffffffffffffffff.new"]
    (tmp_path / "sub").mkdir()
    for path in kept + left:
        path.write_bytes(b"x")
    sweep(tmp_path)
    assert [path.exists() for path in kept + left] == [True, True, False, False]


def test_a_folder_with_too_many_folders_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * 20)).mkdir(parents=True)
    with pytest.raises(MathAMRError, match="more files and folders"):
        check_plain(tmp_path)


def test_an_index_runs_nothing_that_its_manifest_names(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = index / "manifest.json"
    row = json.loads(path.read_text(encoding="utf-8")) | {"parser": FOREIGN}
    del row["checksum"]
    path.write_text(json.dumps(row | {"checksum": _checksum(row)}), encoding="utf-8")
    with Index.open(index, device="cpu") as opened, pytest.raises(MathAMRError, match="os:system"):
        opened.search("why?")
    with pytest.raises(MathAMRError, match="os:system"):
        check_index(index, BuildOptions(device="cpu"))
    with pytest.raises(MathAMRError, match="os:system"):
        build_index([], index, BuildOptions(device="cpu"))
    with pytest.raises(MathAMRError, match="os:system"):
        build_index([], index, BuildOptions(device="cpu", parser_model="touch pwned"))
    assert not (tmp_path / "pwned").exists()
