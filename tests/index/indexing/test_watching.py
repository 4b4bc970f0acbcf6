"""Following inputs: a change is told once, the index inside the folder is none, nothing to follow is an error."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing.intake import input_record
from mathamr.index.indexing.watching import changes
from mathamr.index.manifest import InputRecord


def test_a_changed_note_is_reported_and_the_index_inside_is_not(tmp_path: Path) -> None:
    index = tmp_path / "notes.index"
    index.mkdir()
    (tmp_path / "a.md").write_text("one", encoding="utf-8")
    stop = threading.Event()
    reported: list[list[str]] = []

    def follow() -> None:
        for names in changes([input_record(tmp_path)], index, stop, settled=50):
            reported.append(names)
            stop.set()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    for round in range(1200):
        (index / "manifest.json").write_text(str(round), encoding="utf-8")
        (tmp_path / "a.md").write_text(f"changed {round}", encoding="utf-8")
        if stop.wait(0.1):
            break
    thread.join(120)
    assert reported == [["a.md"]]


def test_inputs_that_are_gone_are_reported(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="nothing to follow"):
        next(changes([InputRecord(str(tmp_path / "gone"))], tmp_path / "index"))


def test_files_that_rules_leave_out_are_not_reported_but_new_rules_are(tmp_path: Path) -> None:
    for name in ("drafts", "_build"):
        (tmp_path / name).mkdir()
    stop = threading.Event()
    reported: list[list[str]] = []

    def follow() -> None:
        record = input_record(tmp_path, exclude=["drafts/"])
        for names in changes([record], tmp_path / "index", stop, settled=50):
            reported.append(names)
            stop.set()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    for round in range(1200):
        for name in ("drafts/a.md", "_build/b.md", ".hidden.md", ".mathamrignore"):
            (tmp_path / name).write_text(f"# {round}", encoding="utf-8")
        if stop.wait(0.1):
            break
    thread.join(120)
    assert reported == [[".mathamrignore"]]
