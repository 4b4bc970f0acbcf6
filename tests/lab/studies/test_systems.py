"""The table of all systems that `python -m benchmarks systems` prints."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, run_lines
from mathamr_lab.studies import systems

QRELS = Qrels({"A.1": {"x": 3, "y": 0}, "A.2": {"x": 0, "y": 3}})


def put(folder: Path, name: str, run: dict[str, list[tuple[str, float]]]) -> None:
    with gzip.open(folder / f"{name}.run.gz", "wt", encoding="utf-8") as file:
        file.writelines(run_lines(Run.of(name, run)))


def test_every_run_in_the_folder_is_a_row_with_its_interval_and_what_its_index_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "read_topic_files", lambda files: ([], QRELS))
    monkeypatch.setenv("MATHAMR_SYSTEMS", "ours ours@single")
    put(tmp_path, "ours-known-items", {"A.1": [("x", 2.0), ("y", 1.0)], "A.2": [("y", 2.0), ("x", 1.0)]})
    put(tmp_path, "ours@single-known-items", {"A.1": [("x", 2.0)], "A.2": [("x", 2.0), ("y", 1.0)]})
    put(tmp_path, "another-known-items", {"A.1": [("y", 1.0)], "A.2": [("x", 1.0)]})
    figures = {"rows": 12345, "disk": 5e6, "training": 82.0, "one core": 3.25}
    (tmp_path / "ours.json").write_text(json.dumps(figures))
    (tmp_path / "ours@single.speed.json").write_text(json.dumps({"task1": 7.0}))
    lines = list(systems.table(Path(), tmp_path))
    cells = {
        row.split(" | ")[0].removeprefix("| "): row.removesuffix(" |").split(" | ") for row in lines[2:-2]
    }
    assert list(cells) == ["ours", "ours@single", "another"]
    # The known item is first and first, first and second, never.
    assert [row[6] for row in cells.values()] == [
        "1.000 [1.000, 1.000]",
        ".750 [.500, 1.000]",
        ".000 [.000, .000]",
    ]
    assert cells["ours"][7:] == ["12,345", "5", "82 s", "3.2", "–", "–"]
    assert cells["ours@single"][7:] == ["12,345", "5", "82 s", "3.2", "7.0", "–"]
    assert set(cells["another"][7:]) == {"–"}
    assert "known-items 2" in lines[-1]
