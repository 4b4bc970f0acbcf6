from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.location import network_file_system, place_warning, synchronised_by
from mathamr.search.searcher import Index
from tests.cases import cases
from tests.index.small import build, note


@cases(
    ("folder", "program"),
    [
        ("/Users/ann/Library/Mobile Documents/com~apple~CloudDocs/notes.index", "iCloud"),
        ("/Users/ann/Library/CloudStorage/Dropbox-Personal/notes.index", "Dropbox"),
        ("/home/ann/Dropbox/vault/notes.index", "Dropbox"),
        ("/home/ann/OneDrive - University of Somewhere/notes.index", "OneDrive"),
        ("/Users/ann/Library/CloudStorage/OneDrive-Personal/notes.index", "OneDrive"),
        ("/Users/ann/Library/CloudStorage/GoogleDrive-ann@example.org/My Drive/notes.index", "Google Drive"),
        ("/home/ann/Google Drive/notes.index", "Google Drive"),
        ("/home/ann/Nextcloud2/notes.index", "Nextcloud"),
        ("/home/ann/notes/On Dropbox and others/notes.index", ""),
        ("/home/ann/Dropbox.index", ""),
    ],
)
def test_folders_that_programs_synchronise_are_known_by_their_names(folder: str, program: str) -> None:
    assert synchronised_by(Path(folder)) == program


def test_folders_that_programs_synchronise_are_known_by_what_these_keep_there(tmp_path: Path) -> None:
    index = tmp_path / "vault" / "notes.index"
    index.mkdir(parents=True)
    assert synchronised_by(index) == ""
    (tmp_path / "vault" / ".stfolder").mkdir()
    assert synchronised_by(index) == "Syncthing"


def test_network_file_systems_are_told_from_disks(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "overlay / 9p rw 0 0\n"
        "server:/home /home nfs4 rw 0 0\n"
        "/dev/sda1 /home/ann/disk ext4 rw 0 0\n"
        "//server/share /mnt/our\\040share cifs rw 0 0\n"
        "host /media/host 9p rw 0 0\n"
    )
    kinds = {
        "/home/ann/notes.index": "nfs4",
        "/home/ann/disk/notes.index": "",
        "/mnt/our share/notes.index": "cifs",
        "/media/host/a/b": "9p",
        "/var/lib/notes.index": "",
        "/homes/notes.index": "",
    }
    assert {folder: network_file_system(Path(folder), mounts) for folder in kinds} == kinds
    assert network_file_system(Path("/home/ann/notes.index"), tmp_path / "none") == ""


def test_a_build_warns_once_of_a_place_that_is_synchronised(
    model_folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "Dropbox" / "index"
    out.parent.mkdir()
    for text in ("A zebra.", "A quagga."):
        build(out, [note("first", text)], model_folder)
    assert [each.message for each in caplog.records] == [place_warning(out)]
    assert "that Dropbox synchronises" in place_warning(out)
    assert "mathamr index NOTES --out FOLDER" in place_warning(out)
    build(tmp_path / "index", [note("first", "A zebra.")], model_folder)
    assert len(caplog.records) == 1


def test_an_index_is_opened_by_the_notes_it_was_made_from(model_folder: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    build(tmp_path / "notes.jsonl.index", [note("first", "A zebra.")], model_folder, name=notes.name)
    with Index.open(notes) as index:
        assert index.archive.folder == tmp_path / "notes.jsonl.index"
