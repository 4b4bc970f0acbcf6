"""Every experiment for real, on a corner of the sample, in one folder: what they share is made once."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import read_run
from mathamr_lab.experiments import graphplan, training
from mathamr_lab.experiments.collection import collection_of
from mathamr_lab.experiments.experiment import Column
from mathamr_lab.experiments.graphplan import GraphPlan
from mathamr_lab.experiments.graphs import CorpusCatalogue
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.tables import Spread
from mathamr_lab.experiments.thesistables import costs_of
from tests.lab.experiments.conftest import GRAPHS, train_here

TINY = scale_named("tiny").changed(["epochs=1"])
PARSER = "tests.amr.rule_parser:RuleParser"


def setting(corner: Path, out: Path, name: str, baselines: tuple[str, ...] = ()) -> ExperimentSetting:
    return ExperimentSetting(
        GRAPHS[name],
        collection_of([corner]),
        out,
        TINY,
        seeds=1,
        baselines=baselines,
        device="cpu",
        parser=PARSER,
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def strategies(corner: Path, out: Path) -> GraphPlan:
    return run([setting(corner, out, "retrieval-strategies")])[0]


def test_every_stage_is_done_and_every_strategy_measured(strategies: GraphPlan) -> None:
    assert all(stage.mark() is not None for stage in strategies.stages)
    assert {each.test.name for each in strategies.measured} == {"task1"}
    for variant in strategies.setting.graphs.variants:
        assert len(strategies.scores(variant.name, "task1")) == 1
        assert _costs(strategies, variant.name)["rate"].mean > 0


def _costs(plan: GraphPlan, row: str) -> dict[Column, Spread]:
    return costs_of(plan.setting, [each for each in plan.measured if each.row == row])


def test_one_model_serves_all_strategies(strategies: GraphPlan) -> None:
    assert [stage.kind for stage in strategies.stages].count("train") == 1


def test_exact_and_approximate_search_agree_where_everything_is_found(strategies: GraphPlan) -> None:
    runs = {each.row: each.path for each in strategies.measured}
    exact, approximate = (read_run(runs[name]) for name in ("single-exact", "single-hnsw"))
    for topic in exact.rankings:
        assert [hit.score for hit in approximate.rankings[topic][:5]] == pytest.approx(
            [hit.score for hit in exact.rankings[topic][:5]], abs=1e-4
        )


def test_tables_say_where_rows_of_approximate_search_were_searched_exactly(
    strategies: GraphPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "searches exactly, also in the rows of approximate search"
    monkeypatch.setenv("MATHAMR_QDRANT_URL", "local")
    assert said in strategies.markdown()
    monkeypatch.setenv("MATHAMR_QDRANT_URL", "http://localhost:6333")
    assert said not in strategies.markdown()


def test_every_experiment_runs_from_the_posts_to_its_tables(
    corner: Path, out: Path, strategies: GraphPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test, so that the models are trained once, however tests are shared among processes.

    One experiment learns in a process of its own; the others in this one: starting theirs would take longer than everything else.
    """
    before = _times(strategies)
    apart = [replace(setting(corner, out, "virtual-nodes", baselines=("bm25",)), only=("none",))]
    run(apart)
    monkeypatch.setattr(training, "run_child", train_here)
    settings = [_of_few_models(setting(corner, out, name, baselines=("bm25",))) for name in GRAPHS]
    plans = dict(zip(GRAPHS, run(settings), strict=True))
    assert _times(strategies) == before, "what was done is not done again"
    shared = {stage.mark_path for stage in plans["document-loss"].stages} & set(before)
    assert any("models" in path.parts for path in shared)
    for each in plans.values():
        assert all(stage.mark() is not None for stage in each.stages)
        _check_report(each)
    _check_representations(plans["formula-representations"])


FEW = {"linearised-graphs": 2, "virtual-nodes": 2, "connectivity": 2, "initialisation": 2, "document-loss": 6}
"""Variants that are enough where all are made in the same way."""


def _of_few_models(whole: ExperimentSetting) -> ExperimentSetting:
    experiment = whole.graphs
    return replace(
        whole, experiment=replace(experiment, variants=experiment.variants[: FEW.get(experiment.name)])
    )


def _times(plan: GraphPlan) -> dict[Path, int]:
    return {stage.mark_path: stage.mark_path.stat().st_mtime_ns for stage in plan.stages}


def _check_report(plan: GraphPlan) -> None:
    folder, variants = write_report(plan), plan.setting.graphs.variants
    for test in plan.setting.tests:
        found = [plan.scores(variant.name, test.name) for variant in variants]
        # Graphs without formulas cannot rank formulas; all can rank answers.
        assert all(found) or test.task == "formulas"
        assert any(found)
        for scores in (each for by_seed in found for each in by_seed.values()):
            assert set(scores.values["nDCG'"]) == {topic.id for topic in test.topics}
    text = (folder / "results.md").read_text(encoding="utf-8")
    for variant in variants:
        assert f"| {variant.title} |" in text


def _check_representations(plan: GraphPlan) -> None:
    variants = [variant.name for variant in plan.setting.graphs.variants]
    assert {name for name in variants if not plan.scores(name, "task2")} == {"none", "absent"}
    costs = {name: _costs(plan, name) for name in variants}
    assert costs["both"]["formulas"].mean == costs["opt"]["formulas"].mean > 0
    assert costs["both"]["formula rate"].mean > 0
    assert not {"formulas", "formula rate"} & set(costs["absent"])
    index = {name: each["index"].mean for name, each in costs.items()}
    assert index["none"] < index["both"] == index["opt"] == index["slt"]
    text = (plan.setting.out / "formula-representations" / "results.md").read_text("utf-8")
    for each in ("thesis nDCG'", "| random order of the judged items |", "| bm25 |", "(12 paired t-tests"):
        assert each in text


def test_an_experiment_that_failed_goes_on_where_it_stopped(
    corner: Path, out: Path, strategies: GraphPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _times(strategies)
    more = setting(corner, out, "retrieval-strategies", baselines=("random",))

    def fails(*_: object) -> None:
        raise MathAMRError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(graphplan, "run_baseline", fails)
        with pytest.raises(MathAMRError, match="power"):
            run([more])
    left = [stage.name for stage in planned(more).stages if stage.mark() is None]
    assert left == ["run baselines/random/task1"]
    run([more])
    assert _times(strategies) == before
    assert list(planned(more).lines())[-1].startswith(f"{len(planned(more).stages)} of ")


def test_two_experiments_at_once_in_one_folder_are_refused(corner: Path, out: Path) -> None:
    from mathamr.core.storage.writerlock import WriterLock

    with WriterLock(out, "a test"), pytest.raises(MathAMRError, match="is being changed by"):
        run([setting(corner, out, "retrieval-strategies")])


def test_other_judgments_search_other_answers(
    corner: Path, out: Path, strategies: GraphPlan, tmp_path: Path
) -> None:
    shutil.copytree(corner, tmp_path / "corner")
    qrels = tmp_path / "corner" / "qrels" / "task1.qrels"
    all_lines = qrels.read_text(encoding="utf-8").splitlines(keepends=True)
    marks = []
    for lines in (all_lines, [line for line in all_lines if line.split()[3] != "0"]):
        qrels.write_text("".join(lines), encoding="utf-8")
        posts = collection_of([tmp_path / "corner"], judged_only=True)
        given = setting(corner, tmp_path / "out", "connectivity", baselines=("random",))
        plan = planned(replace(given, collection=posts))
        corpus = next(iter(plan.stages))
        assert corpus.mark() is None
        marks.append(corpus.do())
    assert marks[0].figures["answers"] > marks[1].figures["answers"]
    assert marks[0].output != marks[1].output


def test_a_store_that_lacks_posts_is_refused(corner: Path, tmp_path: Path) -> None:
    from mathamr.graphs.store import GraphStore

    with GraphStore(tmp_path / "store", create=True):
        pass
    given = ExperimentSetting(
        GRAPHS["benchmark"], collection_of([corner]), tmp_path / "out", TINY, store=tmp_path / "store"
    )
    with pytest.raises(MathAMRError, match=r"lacks \d+ posts of the corpus"):
        run([given])


def test_further_posts_are_learned_from_but_never_found(
    corner: Path, out: Path, strategies: GraphPlan, tmp_path: Path
) -> None:
    rows = [
        {"id": "1", "kind": "question", "title": "Elsewhere", "body": "Is this the post of that id?"},
        {"id": "more/1", "kind": "question", "title": "Sum", "body": "What is $1+2+3$?"},
        {"id": "more/1/a", "kind": "answer", "parent": "more/1", "body": "It is $6$."},
        {"id": "more/2", "kind": "question", "title": "Held out", "body": "What is $2^2$?"},
        {"id": "more/2/a", "kind": "answer", "parent": "more/2", "body": "It is $4$."},
    ]
    known = next(post.id for post in collection_of([corner]).posts())
    rows[0]["id"] = known
    (tmp_path / "more").mkdir()
    more = tmp_path / "more" / "more.jsonl"
    more.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "more" / "heldout.txt").write_text("more/2\n", encoding="utf-8")
    alone = setting(corner, out, "retrieval-strategies")
    both = replace(alone, collection=collection_of([corner], further=[more]), out=tmp_path)
    marks = {}
    for each in (alone, both):
        for stage in planned(each).stages:
            if stage.kind == "graphs":
                marks[each.out, stage.name.partition(" ")[0]] = stage.mark() or stage.do()
    assert marks[tmp_path, "pairs"].figures["pairs"] == marks[out, "pairs"].figures["pairs"] + 1
    catalogue = CorpusCatalogue.read(both.out / "graphs")
    assert catalogue.posts == CorpusCatalogue.read(alone.out / "graphs").posts
    assert catalogue.further == ("more/1", "more/1/a", "more/2", "more/2/a")


def test_a_model_that_cannot_be_measured_ends_the_run_and_says_why(
    corner: Path, out: Path, strategies: GraphPlan
) -> None:
    stage = next(stage for stage in strategies.stages if stage.kind == "index")
    kept = stage.mark_path.read_bytes()
    stage.mark_path.unlink()
    weights = out / "models" / stage.mark_path.parent.relative_to(out / "index") / "model"
    moved = weights / "weights.safetensors"
    moved.rename(weights / "elsewhere")
    try:
        with pytest.raises(MathAMRError, match="weights"):
            run([setting(corner, out, "retrieval-strategies")])
    finally:
        (weights / "elsewhere").rename(moved)
        stage.mark_path.write_bytes(kept)
