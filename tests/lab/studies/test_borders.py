"""The study of what the borders of reading cost: what is switched off, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts import reader
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.studies import borders
from tests.folders import write_files


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "notes", {"a.typ": "Let every sequence converge. // a remark\n", "b.md": "A zebra."}
    )


def words_read(folder: Path) -> int:
    list(read_posts(folder, report := Report()))
    return report.words_read


def test_what_is_switched_off_is_on_again_afterwards(notes: Path) -> None:
    usual = reader.keep_budget
    assert words_read(notes) > 0
    with borders.without(budget=True, account=True):
        assert words_read(notes) == 0
        assert reader.keep_budget is not usual
    with borders.without(budget=True, account=False):
        assert words_read(notes) > 0
    assert words_read(notes) > 0
    assert reader.keep_budget is usual


def test_each_collection_has_a_row(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(borders, "seconds_of_building", lambda _: 2.0)
    row = borders.row(notes)
    assert len(row) == len(borders.HEADINGS)
    assert row[:2] == ("notes", "2")
    assert row[5] == "2.0"
