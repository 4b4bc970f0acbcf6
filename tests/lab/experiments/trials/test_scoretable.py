from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import Run
from mathamr_lab.experiments.trials.scoretable import ScoreTable

SCORES = {"A": {"x": 1.0, "y": -1.0, "z": 0.25}, "B": {"x": 0.0, "y": 0.5, "z": 0.5}}


def test_a_table_gives_back_the_cosines_of_what_a_run_found_and_no_others(tmp_path: Path) -> None:
    ScoreTable.of(SCORES).save(tmp_path / "table.npz")
    table = ScoreTable.load(tmp_path / "table.npz")
    run = Run.of("other", {"A": [("z", 9.0), ("strange", 8.0), ("y", 7.0)], "C": [("x", 1.0)]})
    found = table.over(run, "ours")
    assert [hit.id for hit in found.rankings["A"]] == ["z", "y"]
    assert [hit.score for hit in found.rankings["A"]] == pytest.approx([0.25, -1.0], abs=2 / 65535)
    assert not found.rankings.get("C")


def test_topics_with_different_items_are_no_table() -> None:
    with pytest.raises(MathAMRError, match="the same items"):
        ScoreTable.of({"A": {"x": 1.0}, "B": {"y": 1.0}})


def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(MathAMRError, match="damaged"):
        ScoreTable.load(path)
    np.savez(path, topics=np.array(["A"]), items=np.array(["x"]), steps=np.zeros((2, 2), np.uint16))
    with pytest.raises(MathAMRError, match="do not fit"):
        ScoreTable.load(path)
