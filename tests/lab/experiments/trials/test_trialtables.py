from __future__ import annotations

import json
from pathlib import Path

import pytest

from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.posts.post import Formula, Post
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.experiment import TrialExperiment, TrialRow, TrialTable
from mathamr_lab.experiments.trials.preparation import math_share
from mathamr_lab.experiments.trials.rerank import fused, reranked
from mathamr_lab.experiments.trials.scorefiles import keep_run
from mathamr_lab.experiments.trials.trialtables import markdown

QRELS = Qrels({"A.1": {"x": 3, "y": 0}, "A.2": {"y": 3, "x": 0}, "A.3": {"x": 3, "y": 0}})
TABLE = TrialTable(
    title="Answers",
    test="task1",
    rows=(TrialRow("one", "seed-{seed}/one"), TrialRow("two", "seed-{seed}/two", {"MRR@10": 0.9})),
    measures=("MRR@10",),
)
EXPERIMENT = TrialExperiment(name="e", title="T", question="Q?", trial="marf", tables=(TABLE,))


def test_tables_have_the_mean_over_seeds_the_seeds_figures_and_a_paired_test(tmp_path: Path) -> None:
    for seed, wrong in ((0, 2), (1, 1)):
        for name, flips in (("one", wrong), ("two", 0)):
            scores = {
                topic: {
                    "x": 1.0,
                    "y": 2.0 if place < flips and topic != "A.2" else 0.0 if topic != "A.2" else 3.0,
                }
                for place, topic in enumerate(("A.1", "A.3", "A.2"))
            }
            keep_run(tmp_path / f"seed-{seed}", f"{name}/task1", scores, QRELS, ("MRR@10",), depth=10)
    text = markdown(EXPERIMENT, tmp_path, (0, 1), {"task1": QRELS})
    # One is wrong at two of three topics, then at one: (2/3 + 5/6) / 2.
    assert "| one | 0.750 ± 0.118 [0.500, 1.000] |  |" in text
    assert "| two | 1.000 ± 0.000 [1.000, 1.000] | 0.900 |" in text
    assert "| two | MRR@10 | +0.250 |" in text


def test_what_is_not_measured_yet_is_left_out(tmp_path: Path) -> None:
    assert "## Answers" not in markdown(EXPERIMENT, tmp_path, (0,), {})


def test_recall_counts_relevant_answers_above_a_share_of_mathematics(tmp_path: Path) -> None:
    keep_run(
        tmp_path / "seed-0",
        "one/task1",
        {"A.1": {"x": 2.0, "y": 1.0}, "A.2": {"x": 2.0}, "A.3": {"x": 1.0}},
        QRELS,
        ("MRR@10",),
        depth=10,
    )
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared" / "shares.json").write_text(
        json.dumps({"answers": {"x": 0.9, "y": 0.1}, "task1": {"A.1": 0.8}})
    )
    rows = (TrialRow("one", "seed-{seed}/one"),)
    table = TrialTable(
        title="R", test="task1", rows=rows, measures=("recall@1",), least=(0.0, 0.5), answers=True
    )
    shares = TrialTable(title="S", test="task1", rows=rows, measures=("MRR@10",), least=(0.0, 0.5))
    experiment = TrialExperiment(name="e", title="T", question="Q?", trial="marf", tables=(table, shares))
    text = markdown(experiment, tmp_path, (0,), {"task1": QRELS})
    assert "| one | all | 3 | 0.667 |" in text
    assert "| one | > 50% | 2 | 1.000 |" in text
    assert "| one | > 50% | 1 | 1.000 |" in text


def test_a_run_is_ordered_again_and_what_is_unknown_follows() -> None:
    run = Run.of("other", {"A.1": [("a", 3.0), ("b", 2.0), ("c", 1.0)]})
    ours = Run.of("ours", {"A.1": [("c", 0.9), ("a", 0.1), ("z", 0.5)]})
    again = reranked(run, ours)
    assert again.ids("A.1") == ["c", "a", "b"]
    # Shares of the best score over ranks: c is 1/61 + (1/3)/63, a is 1/61 + (0.1/0.9)/62.
    assert fused(run, again).ids("A.1") == ["c", "a", "b"]


def test_every_trial_has_the_papers_figures_somewhere() -> None:
    trials = [each for name in EXPERIMENTS if isinstance(each := EXPERIMENTS[name], TrialExperiment)]
    assert len(trials) == 5
    for trial in trials:
        printed = [row.published for table in trial.tables for row in table.rows if row.published]
        assert printed or "Table" in trial.note


def test_the_share_of_mathematics_of_a_post() -> None:
    assert math_share(Post("1", "note", "no formula", markup="text")) == 0.0
    formula = (Formula("2:0", r"\frac{a}{b}"),)
    assert math_share(Post("2", "note", r"$\frac{a}{b}$", markup="text", formulas=formula)) == 1.0
    assert math_share(Post("3", "note", "", markup="text")) == pytest.approx(0.0)
