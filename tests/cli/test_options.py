"""The index that a user means by naming notes."""

from __future__ import annotations

from pathlib import Path

from mathamr.cli.options import _found_index, index_beside, is_index
from mathamr.index.manifest import MANIFEST


def test_the_index_of_notes_lies_beside_them(tmp_path: Path) -> None:
    assert index_beside(tmp_path / "notes") == tmp_path / "notes.index"
    assert index_beside(tmp_path / "book.tex") == tmp_path / "book.tex.index"


def test_notes_lead_to_their_index_if_there_is_one(tmp_path: Path) -> None:
    notes, index = tmp_path / "notes", tmp_path / "notes.index"
    notes.mkdir()
    assert _found_index(notes) == notes
    index.mkdir()
    (index / MANIFEST).write_text("{}")
    assert is_index(index)
    assert _found_index(notes) == index
    assert _found_index(index) == index
    assert _found_index(tmp_path / "nowhere") == tmp_path / "nowhere"
