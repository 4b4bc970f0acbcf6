"""Two experiments for real, on a corner of the sample, in one folder: what they share is made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.errors import MathAMRError
from mathamr.evaluation.experiments import EXPERIMENTS, plan
from mathamr.evaluation.experiments.collection import collection_of
from mathamr.evaluation.experiments.findings import findings
from mathamr.evaluation.experiments.plan import Plan, planned
from mathamr.evaluation.experiments.report import write_report
from mathamr.evaluation.experiments.runner import run
from mathamr.evaluation.experiments.scale import scale_named
from mathamr.evaluation.experiments.setting import Setting
from mathamr.evaluation.runs import read_run

TINY = scale_named("tiny").changed(["epochs=1"])


def setting(corner: Path, out: Path, name: str, workers: int = 1, baselines: tuple[str, ...] = ()) -> Setting:
    return Setting(
        EXPERIMENTS[name],
        collection_of([corner]),
        out,
        TINY,
        seeds=1,
        baselines=baselines,
        device="cpu",
        workers=workers,
    )


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def strategies(corner: Path, out: Path) -> Plan:
    return run([setting(corner, out, "retrieval-strategies")])[0]


@pytest.fixture(scope="module")
def representations(corner: Path, out: Path, strategies: Plan) -> tuple[Plan, dict[Path, float]]:
    """The second experiment, and when the marks of the first were written before it ran."""
    before = {stage.mark_path: stage.mark_path.stat().st_mtime_ns for stage in strategies.stages}
    made = run([setting(corner, out, "formula-representations", workers=2, baselines=("bm25",))])
    return made[0], before


def test_every_stage_is_done_and_every_strategy_measured(strategies: Plan) -> None:
    assert all(stage.mark() is not None for stage in strategies.stages)
    found = findings(strategies)
    (task1,) = found.tests
    assert [len(row.scores) for row in task1.rows] == [1] * 8
    assert {test.test.name for test in found.tests} == {"task1"}
    for row in task1.rows:
        assert found.costs[row.variant.name]["rate"].mean > 0


def test_one_model_serves_all_strategies(strategies: Plan) -> None:
    assert [stage.kind for stage in strategies.stages].count("train") == 1


def test_exact_and_approximate_search_agree_where_everything_is_found(strategies: Plan) -> None:
    runs = {each.variant.name: each for each in strategies.measured if each.variant is not None}
    exact, approximate = (
        read_run(runs[name].run.mark_path.with_suffix(".run")) for name in ("single-exact", "single-hnsw")
    )
    for topic in exact.rankings:
        assert [hit.score for hit in approximate.rankings[topic][:5]] == pytest.approx(
            [hit.score for hit in exact.rankings[topic][:5]], abs=1e-4
        )


def test_the_second_experiment_redoes_nothing_of_the_first(
    representations: tuple[Plan, dict[Path, float]],
) -> None:
    second, before = representations
    assert {path: path.stat().st_mtime_ns for path in before} == before
    shared = {stage.mark_path for stage in second.stages} & set(before)
    assert any("models" in path.parts for path in shared)


def test_models_trained_side_by_side_are_all_measured(
    representations: tuple[Plan, dict[Path, float]],
) -> None:
    found = findings(representations[0])
    task1, task2 = found.tests
    assert all(row.scores for row in task1.rows)
    assert {row.variant.name for row in task2.rows if not row.scores} == {"none"}
    assert [scores.run for scores in task1.references] == ["random order of the judged items", "bm25"]
    assert len(task1.differences) == 12
    index = {name: costs["index"].mean for name, costs in found.costs.items()}
    assert index["none"] < index["both"] == index["opt"] == index["slt"]


def test_the_report_has_tables_figures_and_pictures(representations: tuple[Plan, dict[Path, float]]) -> None:
    folder, _ = write_report(representations[0])
    text = (folder / "results.md").read_text(encoding="utf-8")
    assert "| Both (OPT+SLT) |" in text
    assert "thesis nDCG'" in text
    for name in ("bars", "curves", "heatmaps"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (folder / f"{name}.svg").read_bytes()
        assert f"({name}.png)" in text
    rows = (folder / "results.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("experiment,variant,seed,test_set,measure,value")
    assert any(row.startswith("formula-representations,both,0,task1,nDCG',") for row in rows)


def test_an_experiment_that_failed_goes_on_where_it_stopped(
    corner: Path, out: Path, strategies: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {stage.mark_path: stage.mark_path.stat().st_mtime_ns for stage in strategies.stages}
    more = setting(corner, out, "retrieval-strategies", baselines=("random",))

    def fails(*_: object) -> None:
        raise MathAMRError("the power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(plan, "run_baseline", fails)
        with pytest.raises(MathAMRError, match="power"):
            run([more])
    left = [stage.name for stage in planned(more).stages if stage.mark() is None]
    assert left == ["run random/task1", "evaluate random/task1"]
    run([more])
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert list(planned(more).lines())[-1].endswith("stages done; about 0.0 s left")


def test_two_experiments_at_once_in_one_folder_are_refused(corner: Path, out: Path) -> None:
    from mathamr.index.lock import WriterLock

    with WriterLock(out, "a test"), pytest.raises(MathAMRError, match="is being changed by"):
        run([setting(corner, out, "retrieval-strategies")])


def test_a_store_that_lacks_posts_is_refused(corner: Path, tmp_path: Path) -> None:
    from mathamr.graphs.store import GraphStore

    with GraphStore(tmp_path / "store", create=True):
        pass
    given = Setting(
        EXPERIMENTS["benchmark"], collection_of([corner]), tmp_path / "out", TINY, store=tmp_path / "store"
    )
    with pytest.raises(MathAMRError, match=r"lacks \d+ posts of the corpus"):
        run([given])


def test_an_unknown_baseline_lists_the_known_ones(corner: Path, tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="unknown baseline 'luck'; known: random"):
        setting(corner, tmp_path, "benchmark", baselines=("luck",))
