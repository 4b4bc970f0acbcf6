"""A backup is one state of an index, whatever happens meanwhile; a restored index is that state again."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import tarfile
import threading
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.writerlock import WriterLock
from mathamr.index.admin import backup as module
from mathamr.index.admin.backup import backup, restore
from mathamr.index.indexing.builder import build_index
from mathamr.index.indexing.writer import IndexWriter
from mathamr.index.manifest import InputRecord, Manifest
from mathamr.index.storage import IndexStorage
from tests.cases import cases
from tests.index.kills import content, differences
from tests.index.small import note, options, write_posts
from tests.models import sample_posts


def test_a_restored_index_is_what_was_backed_up(index: Path, model_folder: Path, tmp_path: Path) -> None:
    made = backup(index, tmp_path / "index.tar")
    assert (made.posts, made.derived) == (5, True)
    report = restore(made.path, tmp_path / "again", options(model_folder))
    assert report.sound
    assert report.problems == []
    assert not differences(content(tmp_path / "again"), content(index))
    with pytest.raises(MathAMRError, match="exists already"):
        backup(index, made.path)
    with pytest.raises(MathAMRError, match="is not empty"):
        restore(made.path, tmp_path / "again")


@pytest.mark.slow
def test_vectors_of_a_server_are_made_again_in_files(model_folder: Path, tmp_path: Path) -> None:
    chosen = replace(options(model_folder), engine="qdrant", engine_options={"url": "local"})
    posts = write_posts(tmp_path / "posts.jsonl", sample_posts(3))
    build_index([posts], tmp_path / "index", chosen)
    made = backup(tmp_path / "index", tmp_path / "index.tar")
    assert not made.derived
    assert restore(made.path, tmp_path / "again", options(model_folder)).sound
    with IndexStorage.open(tmp_path / "again") as restored, IndexStorage.open(tmp_path / "index") as before:
        assert restored.manifest.engine.name == restored.engine.name == "flat"
        for field in before.engine.fields:
            assert sorted(restored.engine[field.name].ids()) == sorted(before.engine[field.name].ids()) != []


def test_a_backup_is_taken_while_posts_are_put(index: Path, model_folder: Path, tmp_path: Path) -> None:
    done = threading.Event()
    with IndexWriter.open(index, device="cpu") as archive:

        def write() -> None:
            for number in range(1000):
                if done.is_set():
                    return
                archive.put([note(f"put {number}", f"The note number {number} with $x^{number}$.")])

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for number in range(2):
                backup(index, tmp_path / f"{number}.tar")
        finally:
            done.set()
            writer.join()
    for number in range(2):
        folder = tmp_path / str(number)
        assert restore(tmp_path / f"{number}.tar", folder, options(model_folder)).sound
        with IndexStorage.open(folder) as restored:
            ids = list(restored.catalogue.ids())
        put = [int(name.removeprefix("put ")) for name in ids if name.startswith("put ")]
        assert put == list(range(len(put))), "a state between two writes, and no other"


def test_what_a_busy_index_could_not_give_is_made_again(
    index: Path, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = iter([(1, True), (2, True)])
    monkeypatch.setattr(module, "_state", lambda _: next(states))
    made = backup(index, tmp_path / "index.tar", attempts=1)
    assert not made.derived
    with tarfile.open(made.path) as archive:
        assert not [name for name in archive.getnames() if name.startswith(("vectors", "lexical"))]
    assert restore(made.path, tmp_path / "again", options(model_folder)).sound
    assert not differences(content(tmp_path / "again"), content(index))


def packed(path: Path, files: dict[str, bytes], listed: dict[str, str] | None = None, link: str = "") -> Path:
    """An archive that somebody else made."""
    listing = {"format": 1, "files": listed if listed is not None else dict.fromkeys(files, "0")}
    with tarfile.open(path, "w") as archive:
        for name, body in {"backup.json": json.dumps(listing).encode(), **files}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(body)
            if name == link:
                entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc/passwd", 0
            archive.addfile(entry, io.BytesIO(body))
    return path


@cases("name", ["../outside", "/etc/outside", "vectors/../../outside", "other/file", "vectors\\..\\x", ""])
def test_no_name_in_a_backup_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    files = {"manifest.json": b"{}", "catalogue.db": b"", name: b"x"}
    with pytest.raises(MathAMRError, match=r"not a backup|not belong"):
        restore(packed(tmp_path / "evil.tar", files), tmp_path / "in" / "index")
    assert not list(tmp_path.rglob("outside*"))
    assert not (tmp_path / "in" / "index").exists()


def test_a_sparse_entry_fills_no_disk(tmp_path: Path) -> None:
    """Of an entry of a terabyte the archive holds a few bytes, and a map of where they belong."""
    zero = tmp_path / "sparse"
    with zero.open("wb") as file:
        file.truncate(1 << 24)
    files = {"manifest.json": b"{}", "catalogue.db": b"x" * 512}
    path = packed(tmp_path / "sparse.tar", files)
    content = bytearray(path.read_bytes())
    with tarfile.open(path) as archive:
        start = archive.getmember("catalogue.db").offset
    head = content[start : start + 512]
    head[156:157] = b"S"
    head[386:398], head[398:410] = b"%011o\0" % 0, b"%011o\0" % 512
    head[482:483], head[483:495] = b"\0", b"%011o\0" % (1 << 30)
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    content[start : start + 512] = head
    path.write_bytes(content)
    with tarfile.open(path) as archive:
        assert archive.getmember("catalogue.db").size == 1 << 30
    with pytest.raises(MathAMRError, match=r"'manifest.json' is not what was packed|contains a sparse file"):
        restore(path, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_what_a_killed_restore_left_behind_is_removed_by_the_next(
    index: Path, model_folder: Path, tmp_path: Path
) -> None:
    made = backup(index, tmp_path / "index.tar")
    left = tmp_path / ".again.abc.restoring"
    left.mkdir()
    (left / "manifest.json").write_text("half")
    (left / "lock").touch()
    assert restore(made.path, tmp_path / "again", options(model_folder)).sound
    assert not list(tmp_path.glob(".*"))


def test_what_a_killed_backup_left_behind_is_removed_by_the_next(index: Path, tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from mathamr.index.admin import backup\n"
        "backup._pack = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)\n"
        "backup.backup(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, index, tmp_path / "index.tar"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(".*"))) == 1
    backup(index, tmp_path / "another.tar")
    assert not list(tmp_path.glob(".*"))


def test_folders_that_others_use_and_that_only_look_alike_are_left(index: Path, tmp_path: Path) -> None:
    used, new, link = (tmp_path / f".backup-{name}" for name in ("used", "new", "link"))
    used.mkdir()
    new.mkdir()  # its lock is about to be made
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "lock").touch()
    link.symlink_to(tmp_path / "target")
    with WriterLock(used, "another backup"):
        backup(index, tmp_path / "index.tar")
    assert used.is_dir()
    assert new.is_dir()
    assert (tmp_path / "target" / "lock").exists()


def test_a_backup_makes_nobody_read_the_files_that_its_manifest_names(
    index: Path, model_folder: Path, tmp_path: Path
) -> None:
    secret = write_posts(tmp_path / "secret.jsonl", [note("secret", "of this machine")])
    manifest = Manifest.read(index)
    replace(manifest, inputs=(InputRecord(str(secret)),)).write(index)
    made = backup(index, tmp_path / "index.tar")
    (index / "catalogue.db").write_bytes(b"nonsense" * 512)
    files = {}
    with tarfile.open(made.path) as archive:
        for entry in archive.getmembers():
            content = archive.extractfile(entry)
            assert content is not None
            files[entry.name] = content.read()
    del files["backup.json"]
    files["catalogue.db"] = b"nonsense" * 512
    listed = {name: sha256(body).hexdigest() for name, body in files.items()}
    report = restore(packed(tmp_path / "evil.tar", files, listed), tmp_path / "a", options(model_folder))
    assert not report.sound
    assert (tmp_path / "a" / "catalogue.db").read_bytes() == b"nonsense" * 512


def test_links_and_damage_in_a_backup_are_refused(index: Path, tmp_path: Path) -> None:
    files = {"manifest.json": b"{}", "catalogue.db": b""}
    with pytest.raises(MathAMRError, match="not belong to a backup"):
        restore(packed(tmp_path / "link.tar", files, link="manifest.json"), tmp_path / "a")
    with pytest.raises(MathAMRError, match="is not what was packed"):
        restore(packed(tmp_path / "hash.tar", files), tmp_path / "b")
    hashes = {"manifest.json": sha256(b"").hexdigest(), "catalogue.db": "0"}
    few = packed(tmp_path / "few.tar", {"manifest.json": b""}, hashes)
    with pytest.raises(MathAMRError, match="is missing"):
        restore(few, tmp_path / "c")
    whole = backup(index, tmp_path / "whole.tar").path
    content = whole.read_bytes()
    whole.write_bytes(content[: len(content) // 2])
    with pytest.raises(MathAMRError, match="damaged"):
        restore(whole, tmp_path / "d")
    whole.write_bytes(b"rubbish" * 500)
    with pytest.raises(MathAMRError, match="is not a backup"):
        restore(whole, tmp_path / "e")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["index"]


@pytest.mark.parametrize("how", ["a link", "no model"])
@pytest.mark.parametrize("existed", [False, True])
def test_a_refused_backup_leaves_no_folder(index: Path, tmp_path: Path, how: str, existed: bool) -> None:
    if how == "no model":
        manifest = Manifest.read(index)
        replace(manifest, model=replace(manifest.model, folder=str(tmp_path / "gone"))).write(index)
        made = backup(index, tmp_path / "index.tar").path
    else:
        made = tmp_path / "index.tar"
        with tarfile.open(made, "w") as archive:
            entry = tarfile.TarInfo("catalogue.db")
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(entry)
    place = tmp_path / "some" / "where" / "again"
    if existed:
        place.mkdir(parents=True)
    with pytest.raises(MathAMRError):
        restore(made, place)
    assert place.exists() == (tmp_path / "some").exists() == existed
    if existed:
        assert not list(place.iterdir())


def test_a_swapped_segment_in_a_backup_is_found_by_restore(
    index: Path, model_folder: Path, tmp_path: Path
) -> None:
    before = content(index)
    ours, theirs = (next((index / "lexical" / kind).glob("*.segment")) for kind in ("posts", "formulas"))
    theirs.write_bytes(ours.read_bytes())
    made = backup(index, tmp_path / "index.tar").path
    report = restore(made, tmp_path / "again", options(model_folder))
    assert {problem.outcome for problem in report.problems} == {"mended"}
    assert "is not the file that segments.json names" in "".join(report.lines())
    assert not differences(content(tmp_path / "again"), before)
