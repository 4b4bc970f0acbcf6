"""Experiments of formula systems: scores against the engine's, collections as files, a whole experiment on a few formulas."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr.formulas.alignment import similarity
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.systems.models import load_system
from mathamr_lab.experiments import EXPERIMENTS, formulascores
from mathamr_lab.experiments.collection import TestCollection
from mathamr_lab.experiments.experiment import FormulaExperiment, FormulaVariant
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulaothers import other_scores
from mathamr_lab.experiments.formulascores import NOT_FOUND, collection_scores, found_in
from mathamr_lab.experiments.judgedpool import pool_collection
from mathamr_lab.experiments.ntcir12 import distinct_trees, ntcir12_collection
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.setting import ExperimentSetting
from tests.lab.experiments.test_formulaothers import GRADES, QUERIES, collection
from tests.systems.formulamodels import LATEX, tiny_formula_graph, tiny_ssemb

__all__ = ["collection"]


def test_scores_of_structures_are_cosines_of_what_the_system_encodes(
    collection: FormulaCollection, tmp_path: Path
) -> None:
    system = tiny_ssemb(tmp_path)
    found = collection_scores(system, collection, tmp_path)["structure"]
    ours = system.structures([parse(latex).opt for latex in QUERIES.values()])
    theirs = system.structures([parse(latex).opt for latex in LATEX])
    np.testing.assert_allclose(found, ours @ theirs.T, atol=1e-5)


def test_a_pool_ranks_what_was_judged_alone(collection: FormulaCollection) -> None:
    row = np.arange(len(LATEX), dtype=np.float32)
    assert [item for item, _ in found_in(collection, "B.1", row, 3)] == ["11", "10", "9"]
    pool = replace(collection, among_judged=True)
    assert [item for item, _ in found_in(pool, "B.1", row)] == ["5", "2", "0"]
    row[5] = NOT_FOUND
    assert [item for item, _ in found_in(pool, "B.1", row)] == ["2", "0"]


def test_a_judged_pool_is_read_with_quoted_trees(tmp_path: Path) -> None:
    opt, slt = (to_string(tree) for tree in (parse("x+1").opt, parse("x+1").slt))
    quoted = rf"\"{slt}\""
    header = "topic\tvisual_id\tgrade\tofficial\tlatex_if_known\topt\tslt"
    lines = [
        header,
        f"B.1\t7\t2\t1\t\t{opt}\t{quoted}",
        f"B.1\t8\t0\t1\t\t{opt}\t[V!x",
        f"B.9\t9\t2\t0\t\t{opt}\t{slt}",
    ]
    (tmp_path / "judged.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "queries.tsv").write_text(f"B.1\tx+1\t{opt}\t{slt}\n", encoding="utf-8")
    found = pool_collection(tmp_path)
    assert (found.candidates, found.topics, found.grades) == (("7", "9"), ("B.1",), {"B.1": {"7": 2}})


def test_alignment_and_shared_parts_score_without_a_network(collection: FormulaCollection) -> None:
    aligned = other_scores("alignment", collection)
    query = parse(QUERIES["B.1"])
    expected = [similarity((query.opt, query.slt), (parsed.opt, parsed.slt)) for parsed in map(parse, LATEX)]
    np.testing.assert_allclose(aligned[0], expected, atol=1e-2)
    shared = other_scores("shared parts", collection)
    assert shared.shape == aligned.shape
    order = np.argsort(-shared[0])
    assert set(order[:2].tolist()) <= {2, 5, 10}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A judged pool of the formulas, as its folder has it."""
    folder = tmp_path / "pool"
    folder.mkdir()

    def trees(latex: str) -> str:
        parsed = parse(latex)
        return f"{to_string(parsed.opt)}\t{to_string(parsed.slt)}"

    judged = [
        f"{topic}\t{number}\t{GRADES[topic].get(str(number), 0)}\t1\t\t{trees(latex)}"
        for topic in GRADES
        for number, latex in enumerate(LATEX)
    ]
    header = "topic\tvisual_id\tgrade\tofficial\tlatex_if_known\topt\tslt"
    (folder / "judged.tsv").write_text("\n".join([header, *judged]) + "\n", encoding="utf-8")
    queries = [f"{topic}\t{latex}\t{trees(latex)}" for topic, latex in QUERIES.items()]
    (folder / "queries.tsv").write_text("\n".join(queries) + "\n", encoding="utf-8")
    return folder


def test_a_whole_experiment_trains_measures_and_is_not_done_twice(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    few = ("nodes.pairing=slg", "nodes.batch_size=4", "nodes.epochs=1", "nodes.validation=2")
    experiment = FormulaExperiment(
        name="ssemb-fusion",
        title="A few formulas",
        source="nobody",
        question="Does it run?",
        baselines=("parts",),
        variants=(
            FormulaVariant("nodes", "formula-graph", "small", few, "layout", {"MAP'": 0.5}),
            FormulaVariant("fused", "formula-graph", "small", few, "layout", others=("shared parts",)),
            FormulaVariant("random", "formula-graph", "small", few, "layout", is_untrained=True),
            FormulaVariant("parts", ranking="shared parts"),
            FormulaVariant("two", others=("shared parts", "alignment")),
        ),
    )
    setting = ExperimentSetting(
        experiment, TestCollection((), ()), tmp_path / "out", seeds=1, device="cpu", pools=(pool,)
    )
    before = planned(setting)
    assert "| nodes |" not in write_report(before).joinpath("results.md").read_text(encoding="utf-8")
    assert [stage.kind for stage in before.stages].count("train") == 2
    run([setting])
    first = write_report(planned(setting)).joinpath("results.md").read_text(encoding="utf-8")
    assert re.search(r"\| nodes \| [01]\.\d+.* \| 0\.500 \|", first)
    assert re.search(r"\| fused \| [01]\.\d+", first)
    assert re.search(r"\| two \| [01]\.\d+", first)
    assert "| random order of the judged items |" in first
    assert "constant 60" in first
    learned = first.partition("## How the models learned")[2]
    assert re.search(r"\| nodes, seed 0 \| nodes \| \d+ \| -?\d+\.\d+ to -?\d+\.\d+ \| 1 \| \d", learned)
    assert "| parts" not in learned
    untrained = load_system(
        tmp_path / "out" / "models" / planned(setting).model(experiment.variants[2], 0).name / "model"
    )
    torch.manual_seed(0)
    fresh = type(untrained.network)(untrained.network.configuration, untrained.labels)
    assert np.allclose(
        next(iter(untrained.network.parameters())).detach(),
        next(iter(fresh.parameters())).detach(),
        atol=1e-3,
    )

    def never(*_: object, **__: object) -> None:
        raise AssertionError("done twice")

    monkeypatch.setattr("mathamr_lab.experiments.training.run_child", never)
    monkeypatch.setattr("mathamr_lab.experiments.formulaplan.other_scores", never)
    run([setting])
    assert write_report(planned(setting)).joinpath("results.md").read_text(encoding="utf-8") == first


def test_a_search_finds_the_formulas_of_the_nearest_nodes_alone(
    collection: FormulaCollection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formulascores, "NEAREST", 2)
    monkeypatch.setattr(formulascores, "AT_A_TIME", 3)
    system = tiny_formula_graph()
    (tmp_path / "judged").mkdir()
    found = collection_scores(system, collection, tmp_path)
    judged = collection_scores(system, replace(collection, among_judged=True), tmp_path / "judged")
    for field, view in (("layout", "slt"), ("operators", "opt")):
        rows = [
            v.vectors for v in system.node_vectors(view, [getattr(parse(latex), view) for latex in LATEX])
        ]
        owners = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        for number, latex in enumerate(QUERIES.values()):
            (query,) = system.node_vectors(view, [getattr(parse(latex), view)])
            cosines = query.vectors @ np.concatenate(rows).T
            # Two nodes may be equally near: whichever is taken, none is farther than the second nearest.
            least = np.sort(cosines, axis=1)[:, -2]
            allowed = {
                owners[node]
                for near, limit in zip(cosines, least, strict=True)
                for node in np.flatnonzero(near >= limit - 1e-5)
            }
            kept = set(np.flatnonzero(found[field][number] > NOT_FOUND).tolist())
            assert 0 < len(kept) < len(LATEX)
            assert kept <= allowed
            assert len(kept) >= len({owners[node] for node in cosines.argmax(1)}) - 1
            expected = np.array([cosines[:, owners == each].max(1).sum() for each in range(len(rows))])
            for each in kept:
                assert found[field][number][each] == pytest.approx(expected[each], abs=1e-4)
            pool = [int(name) for name in GRADES[list(QUERIES)[number]]]
            assert set(np.flatnonzero(judged[field][number] > NOT_FOUND).tolist()) == set(pool)
            np.testing.assert_allclose(judged[field][number][pool], expected[pool], atol=1e-4)


def test_ntcir12_is_learned_from_without_its_queries_and_each_formula_once(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("A:0 x+1\nA:1 x+1\nB:0 y^2\n", encoding="utf-8")
    (tmp_path / "topics.txt").write_text("T-1 z^9-4\n", encoding="utf-8")
    (tmp_path / "judge.dat").write_text("T-1 0 A:0 1\nT-1 0 B:0 0\n", encoding="utf-8")
    assert len(ntcir12_collection(tmp_path).shard) == 4
    assert [to_string(slt) for slt, _ in distinct_trees(tmp_path)] == [
        to_string(parse(latex).slt) for latex in ("x+1", "y^2")
    ]
    setting = ExperimentSetting(
        EXPERIMENTS["formula-graph-pairings"],
        TestCollection((), ()),
        tmp_path / "out",
        scale_named("small"),
        pools=(tmp_path,),
        only=("BM25, operator tuples",),
    )
    (plan,) = run([setting])
    assert "NTCIR-12: 1 topics, 3 formulas" in plan.markdown()  # judged 1 at best: partially relevant


def test_runs_of_others_are_rows_alone_with_ssemb_and_two_by_two() -> None:
    fusion = EXPERIMENTS["ssemb-fusion"]
    assert isinstance(fusion, FormulaExperiment)
    assert fusion.of_runs is not None
    rows = {row.name: row for row in fusion.of_runs(("Approach0-task2", "DPRL.run", "mine"))}
    assert len(rows) == 3 * 2 + 3
    assert rows["Approach0-task2 + DPRL.run"].published == {"nDCG'@10": 0.7459}
    assert rows["Approach0-task2 + DPRL.run"].others == ("Approach0-task2", "DPRL.run")
    assert not rows["Approach0-task2 + mine"].published
    assert rows["mine + SSEmb"].others == ("mine",)
