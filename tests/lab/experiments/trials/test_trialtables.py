from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.posts.post import Formula, Post
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.experiment import TrialExperiment, TrialRow, TrialTable
from mathamr_lab.experiments.trials.preparation import math_share
from mathamr_lab.experiments.trials.rerank import by_visual, fused, lines, reranked
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
    text = markdown(EXPERIMENT, tmp_path, tmp_path, (0, 1), {"task1": QRELS})
    # One is wrong at two of three topics, then at one: (2/3 + 5/6) / 2.
    assert "| one | 0.750 ± 0.118 [0.500, 1.000] |  |" in text
    assert "| two | 1.000 ± 0.000 [1.000, 1.000] | 0.900 |" in text
    assert "| two | MRR@10 | +0.250 |" in text


def test_what_is_not_measured_yet_is_left_out(tmp_path: Path) -> None:
    assert "## Answers" not in markdown(EXPERIMENT, tmp_path, tmp_path, (0,), {})


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
    text = markdown(experiment, tmp_path, tmp_path / "prepared", (0,), {"task1": QRELS})
    assert "| one | all | 3 | 0.667 |" in text
    assert "| one | > 50% | 2 | 1.000 |" in text
    assert "| one | > 50% | 1 | 1.000 |" in text


def test_a_run_is_ordered_again_by_cosines_and_what_is_unknown_follows() -> None:
    run = Run.of("other", {"A.1": [("a", 3.0), ("b", 2.0), ("c", 1.0)]})
    ours = Run.of("ours", {"A.1": [("c", 0.9), ("a", 0.1), ("z", 0.5)]})
    again = reranked(run, ours)
    assert again.ids("A.1") == ["c", "a", "b"]
    assert [hit.score for hit in again.rankings["A.1"]][:2] == [0.9, 0.1]
    # Shares of the best score over ranks: c is 1/61 + (1/3)/63, a is 1/61 + (0.1/0.9)/62.
    assert fused(run, ours).ids("A.1") == ["c", "a", "b"]


def test_a_run_by_formula_ids_is_converted_to_visual_ids() -> None:
    formulas = (
        Formula("7", "x", visual_id="v1"),
        Formula("8", "x", visual_id="v1"),
        Formula("9", "y", visual_id="v2"),
    )
    posts = [Post("1", "answer", "$x$ $x$ $y$", markup="text", formulas=formulas)]
    run = Run.of("theirs", {"B.1": [("8", 3.0), ("7", 2.0), ("9", 1.0), ("404", 0.5)]})
    assert by_visual({"theirs": run}, posts)["theirs"].rankings["B.1"] == (("v1", 3.0), ("v2", 1.0))
    ready = Run.of("ready", {"B.1": [("v2", 3.0), ("v1", 2.0)]})
    assert by_visual({"ready": ready}, posts)["ready"].ids("B.1") == ["v2", "v1"]
    with pytest.raises(MathAMRError, match="names no formula of the collection"):
        by_visual({"odd": Run.of("odd", {"B.1": [("404", 1.0)]})}, posts)


def test_a_table_of_zeros_is_an_error(tmp_path: Path) -> None:
    qrels = Qrels({"B.1": {"v1": 3}})
    ours = Run.of("ours", {"B.1": [("v9", 0.9)]})
    with pytest.raises(MathAMRError, match="every measure of the run 'theirs' is 0"):
        list(lines({"theirs": Run.of("theirs", {"B.1": [("v9", 1.0)]})}, [ours], qrels))
    with pytest.raises(MathAMRError, match="no result of any topic is judged relevant"):
        keep_run(tmp_path, "seed-0/opt", {"B.1": {"v9": 1.0}}, qrels)


def test_precision_is_shown_by_the_complexity_of_topics(tmp_path: Path) -> None:
    scores = {topic: {"x": 1.0, "y": 0.0} for topic in QRELS.grades}
    keep_run(tmp_path / "seed-0", "one/task1", scores, QRELS, ("P'@10",))
    (tmp_path / "complexity.json").write_text(json.dumps({"A.1": "low", "A.2": "high", "A.3": "low"}))
    table = replace(TABLE, measures=("P'@10",), strata=True)
    text = markdown(replace(EXPERIMENT, tables=(table,)), tmp_path, tmp_path, (0,), {})
    assert "| P'@10 | low | medium | high |" in text
    assert "| one | 0.100 |  | 0.100 |" in text


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
