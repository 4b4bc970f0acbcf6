"""Runs are fused and reranked topic by topic, whoever made them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.fusedruns import fuse_runs, rerank_run
from mathamr.evaluation.runs import Run, read_run, write_run
from mathamr.index.scored import Scored
from mathamr.search.fusion import FUSIONS, fuse
from tests.cases import cases

MINE = Run.of("mine", {"A.1": [("1", 9.0), ("2", 8.0), ("3", 7.0)], "A.2": [("4", 1.0)]})
THEIRS = Run.of("theirs", {"A.1": [("3", 0.9), ("5", 0.8), ("1", 0.7)], "A.3": [("6", 0.5)]})


@cases("fusion", list(FUSIONS))
def test_every_topic_is_fused_as_its_rankings_are(fusion: str) -> None:
    found = fuse_runs([MINE, THEIRS], fusion, [1.0, 2.0])
    assert set(found.rankings) == {"A.1", "A.2", "A.3"}
    assert (found.ids("A.2"), found.ids("A.3")) == (["4"], ["6"])
    rankings = [[Scored(*hit) for hit in run.rankings["A.1"]] for run in (MINE, THEIRS)]
    assert found.ids("A.1") == [hit.id for hit in fuse(fusion, rankings, [1.0, 2.0])]


def test_the_run_of_another_system_is_read_from_its_file(tmp_path: Path) -> None:
    write_run(THEIRS, tmp_path / "theirs.run")
    assert fuse_runs([MINE, read_run(tmp_path / "theirs.run")]) == fuse_runs([MINE, THEIRS])


def test_only_the_first_results_count() -> None:
    assert fuse_runs([MINE, THEIRS], depth=1).ids("A.1") == ["1"]
    with pytest.raises(MathAMRError, match="give at least one run to fuse"):
        fuse_runs([])


def test_results_are_reranked_and_those_without_a_score_stay_behind() -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    def score(topic: str, ids: Sequence[str]) -> list[Scored]:
        asked.append((topic, tuple(ids)))
        return [Scored("3", 0.2), Scored("2", -0.5), Scored("elsewhere", 1.0)]

    found = rerank_run(MINE, score, name="again")
    assert (found.name, found.ids("A.1"), found.ids("A.2")) == ("again", ["3", "2", "1"], ["4"])
    assert asked == [("A.1", ("1", "2", "3")), ("A.2", ("4",))]
    assert rerank_run(MINE, score, pool=2).ids("A.1") == ["2", "1", "3"]
