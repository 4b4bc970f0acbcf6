"""A list of segments names plain files of its own folder, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.storage.mappedarrays import write_arrays
from mathamr.core.storage.segmentlist import SegmentList


@pytest.fixture
def listing(tmp_path: Path) -> SegmentList:
    (tmp_path / "in").mkdir()
    return SegmentList(tmp_path / "in", "list.json", (".segment",))


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/passwd", "", ".", "..", "a/b", "a\0b", "a" * 300, "é" * 200, None, 7]
)
def test_no_name_leads_out_of_the_folder(listing: SegmentList, name: object) -> None:
    with pytest.raises(MathAMRError, match="is not the name of a file in its folder"):
        listing.path(name)


@pytest.mark.parametrize("number", ["Infinity", "1e999", "NaN", "[]"])
def test_a_list_with_a_number_that_is_none_is_damaged(listing: SegmentList, number: str) -> None:
    (listing.folder / "list.json").write_text(f'{{"number": {number}}}')
    with pytest.raises(MathAMRError, match="is damaged"):
        listing.read(lambda head: int(head["number"]))


def test_links_and_pipes_are_not_opened(listing: SegmentList, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    (listing.folder / "link.segment").symlink_to(tmp_path / "outside")
    os.mkfifo(listing.folder / "pipe.segment")
    for name in ("link.segment", "pipe.segment"):
        with pytest.raises(MathAMRError, match="is not a regular file"):
            listing.path(name)


def test_a_list_that_is_replaced_while_it_is_opened_is_read_again(listing: SegmentList) -> None:
    listing.replace({"number": 1})

    def opened(head: dict[str, int]) -> int:
        if head["number"] == 1:
            listing.replace({"number": 2})
            raise MathAMRError("its files are gone")
        return head["number"]

    assert listing.read(opened) == 2
    with pytest.raises(MathAMRError, match="damaged"):
        listing.read(lambda head: head["nothing"])


def test_files_that_no_list_names_are_removed(listing: SegmentList) -> None:
    for name in ("a.segment", "b.segment", "other.txt", "c.segment.0123456789abcdef.new"):
        write_arrays(listing.folder / name, {"a": np.zeros(1)})
    listing.replace({"segments": [{"file": "a.segment", "dead": None}]})
    listing.remove_unlisted()
    assert sorted(path.name for path in listing.folder.iterdir()) == ["a.segment", "list.json", "other.txt"]
    assert json.loads((listing.folder / "list.json").read_text())["segments"][0]["file"] == "a.segment"
    listing.remove()
    assert [path.name for path in listing.folder.iterdir()] == ["other.txt"]


def test_a_whole_file_in_the_place_of_another_is_noticed(listing: SegmentList) -> None:
    for at, name in enumerate(("a.segment", "b.segment")):
        write_arrays(listing.folder / name, {"a": np.full(3, at)})
    listing.replace({"segments": ["a.segment", "b.segment"]})

    def opened(head: dict[str, list[str]]) -> list[Path]:
        return [listing.path(name) for name in head["segments"]]

    assert len(listing.read(opened)) == 2
    (listing.folder / "a.segment").write_bytes((listing.folder / "b.segment").read_bytes())
    with pytest.raises(MathAMRError, match=r"a\.segment is not the file that list\.json names.* --check "):
        listing.read(opened)
    listing.replace(
        {"segments": ["a.segment", "b.segment"]}
    )  # what was swapped is not taken for right by the next writer
    with pytest.raises(MathAMRError, match="is not the file"):
        listing.read(opened)


def test_a_list_without_checksums_is_read_and_gets_them(listing: SegmentList) -> None:
    write_arrays(listing.folder / "a.segment", {"a": np.zeros(3)})
    path = listing.folder / "list.json"
    path.write_text('{"segments": ["a.segment"]}')
    assert listing.read(lambda head: [listing.path(name) for name in head["segments"]])
    listing.replace({"segments": ["a.segment"]})
    assert list(json.loads(path.read_bytes())["checksums"]) == ["a.segment"]
