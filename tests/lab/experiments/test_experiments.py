"""The declarations: complete, consistent, and with the thesis's own figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr import sample
from mathamr.systems.mathamrplus.configuration import VirtualStart
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.collection import collection_of
from mathamr_lab.experiments.experiment import JUDGED, GraphExperiment, Strategy
from mathamr_lab.experiments.planner import planned
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.systems.mathamrplus.graph.configuration import configured
from tests.lab.experiments.conftest import GRAPHS

ALL = list(GRAPHS.values())


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_experiment_is_known_by_its_own_name(name: str) -> None:
    assert EXPERIMENTS[name].name == name


@pytest.mark.parametrize("experiment", ALL, ids=lambda each: each.name)
def test_variants_differ_and_are_tested_against_one_another(experiment: GraphExperiment) -> None:
    names = [variant.name for variant in experiment.variants]
    assert len(set(names)) == len(names) == len({variant.title for variant in experiment.variants})
    different = {(v.learned, v.strategy) for v in experiment.variants}
    assert len(different) == len(names)
    for variant in experiment.variants:
        assert variant.baseline is None or variant.baseline in names
        assert variant.baseline != variant.name


@pytest.mark.parametrize("experiment", ALL, ids=lambda each: each.name)
def test_the_thesis_s_figures_stand_beside_every_variant(experiment: GraphExperiment) -> None:
    best, means, costs = experiment.tables
    for variant in experiment.variants:
        published = variant.published
        # The thesis leaves formulas out entirely; kept placeholders, untrained and boxed models are beyond its tables.
        beyond = variant.graphs.formulas == "none" or variant.is_untrained or variant.model
        assert bool(published.best or published.spread) == (not beyond)
        assert set(published.stars) <= set(published.best) <= set(JUDGED)
        for value in [*published.best.values(), *(mean for mean, _ in published.spread.values())]:
            assert 0 < value < 1
    assert any(v.published.spread for v in experiment.variants) == bool(means)
    assert any(v.published.costs for v in experiment.variants) == bool(costs)
    assert any(v.published.best for v in experiment.variants) == bool(best)


def test_the_conditions_are_the_thesis_s() -> None:
    modes = {variant.graphs.formulas for variant in GRAPHS["formula-representations"].variants}
    edges = {variant.graphs.auxiliary for variant in GRAPHS["connectivity"].variants}
    assert modes == {"both", "opt", "slt", "none", "absent"}
    assert edges == {"none", "sequential", "circular", "full"}
    starts = set()
    for variant in GRAPHS["initialisation"].variants:
        starts.add(configured("thesis", variant.changes)[0].virtual_start)
    assert starts == set(VirtualStart.__args__)  # type: ignore[attr-defined]
    betas = {configured("thesis", v.changes)[1].beta for v in GRAPHS["document-loss"].variants}
    assert betas == {1.0, 0.7, 0.5, 0.3, 0.0}
    strategies = {(v.strategy.ranking, v.strategy.exact) for v in GRAPHS["retrieval-strategies"].variants}
    assert strategies == {(r, e) for r in ("maxsim", "rerank", "single") for e in (True, False)}


def test_pools_are_as_large_a_share_as_the_thesis_s() -> None:
    pools = {v.strategy.pool_size(33_771) for v in GRAPHS["retrieval-strategies"].variants}
    assert {round(pool, -3) for pool in pools} == {1000, 5000, 34_000}
    assert Strategy("rerank", pool=0.03).pool_size(5) == 5


def test_an_experiment_s_rows_are_the_same_at_a_scale_with_a_document_loss() -> None:
    for name, betas in (("document-loss", {1.0, 0.7, 0.5, 0.3, 0.0}), ("virtual-nodes", {1.0, 0.0})):
        found = {
            scale_named("thesis-full").configurations(v.changes, 0)[1]["beta"] for v in GRAPHS[name].variants
        }
        assert found == betas, name


def test_a_change_to_the_default_names_no_other_model(tmp_path: Path) -> None:
    collection = collection_of([sample.folder()])
    models = {}
    for name in ("document-loss", "virtual-nodes", "initialisation", "retrieval-strategies"):
        plan = planned(ExperimentSetting(GRAPHS[name], collection, tmp_path, scale_named("thesis"), 1))
        models[name] = {stage.name for stage in plan.stages if stage.kind == "train"}
    (shared,) = models.pop("retrieval-strategies")
    assert shared == "train both-hierarchy-none/thesis/seed-0"
    for name, names in models.items():
        assert shared in names, name


def test_changes_of_a_scale_give_way_to_what_an_experiment_varies() -> None:
    scale = scale_named("thesis").changed(["beta=0.5", "epochs=1", "epochs=2"])
    assert scale.changes == ("beta=0.5", "epochs=2")
    _, training = scale.configurations(("beta=0.0",), seed=0)
    assert (training["beta"], training["epochs"]) == (0.0, 2)
