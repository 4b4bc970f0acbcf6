"""Experiments of formula systems: beds of formulas as posts, searches against loops, a whole experiment on a few formulas."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mathamr.evaluation.runs import Run, read_run
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import trees_of
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.formulasystem import FormulaSystem
from mathamr.systems.models import load_system
from mathamr_lab.experiments import EXPERIMENTS
from mathamr_lab.experiments.collection import TestCollection
from mathamr_lab.experiments.experiment import FormulaExperiment, FormulaVariant
from mathamr_lab.experiments.formulabed import FormulaBed, formula_post, write_posts
from mathamr_lab.experiments.formulaplan import RANKINGS, WITHOUT_NETWORK, from_nearest
from mathamr_lab.experiments.indexes import index_from, index_posts, search_index
from mathamr_lab.experiments.judgedpool import pool_bed
from mathamr_lab.experiments.ntcir12 import ntcir12_bed
from mathamr_lab.experiments.planner import planned, write_report
from mathamr_lab.experiments.runner import run
from mathamr_lab.experiments.scale import scale_named
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.recipes.formulas import FormulaCounts, formulas_of_sources
from tests.lab.experiments.test_formulaothers import GRADES, QUERIES
from tests.systems.formulamodels import LATEX, tiny_formula_graph, tiny_ssemb
from tests.systems.tinytext import tiny_base


def written(bed: FormulaBed, folder: Path) -> Path:
    assert bed.formulas is not None
    path = folder / "posts.jsonl"
    write_posts(map(formula_post, bed.formulas()), path)
    return path


def searched(pool: Path, folder: Path, system: FormulaSystem, rankings: dict[str, object]) -> dict[str, Run]:
    """The runs of a system over all formulas of a pool, by an index that is made from another one."""
    bed = pool_bed(pool)
    setting = ExperimentSetting(
        EXPERIMENTS["ssemb-fusion"], TestCollection((), ()), folder, device="cpu", pools=(pool,)
    )
    posts = (written(bed, folder),)
    system.save(folder / "model")
    index_posts(setting, folder / "start", "formula-graph", posts)
    with index_from(setting, folder / "start", folder / "model", posts) as index:
        return {each.name: each for each in search_index(index, bed.topics(), "formulas", rankings, 99)}


def scores(run: Run, topic: str) -> np.ndarray:
    """The score of each formula, nan for those that were not found."""
    found = {hit.id: hit.score for hit in run.rankings[topic]}
    return np.array([found.get(str(number), np.nan) for number in range(len(LATEX))])


def test_scores_of_structures_are_cosines_of_what_the_system_encodes(pool: Path, tmp_path: Path) -> None:
    system = tiny_ssemb(tiny_base(tmp_path / "base"))
    run = searched(pool, tmp_path, system, {"structure": RANKINGS["ssemb"]["structure"]})["structure"]
    ours = system.structures([parse(latex).opt for latex in QUERIES.values()])
    theirs = system.structures([parse(latex).opt for latex in LATEX])
    for topic, expected in zip(QUERIES, ours @ theirs.T, strict=True):
        # Weights are stored in sixteen bits, vectors in eight.
        np.testing.assert_allclose(scores(run, topic), expected, atol=6e-3)


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
    bed = pool_bed(tmp_path)
    found = list(read_posts(written(bed, tmp_path), Report()))
    assert [[each.visual_id for each in post.formulas] for post in found] == [["7"], ["9"]]
    (asked,) = bed.topics()
    assert asked.id == "B.1"
    assert bed.qrels().grades == {"B.1": {"7": 2}}
    for formula in (asked.formula, *(post.formulas[0] for post in found)):
        assert formula is not None
        assert trees_of(formula) == ((parse("x+1").opt, parse("x+1").slt), False)


def test_lexical_search_of_given_trees_has_the_terms_of_the_trees(pool: Path, tmp_path: Path) -> None:
    run = searched(pool, tmp_path, tiny_formula_graph(), dict(WITHOUT_NETWORK))["lexical"]
    assert set(run.ids("B.1")[:2]) <= {"2", "5", "10"}


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
    (ranked,) = [each.path for each in before.measured if each.row == "nodes"]
    assert {topic: set(read_run(ranked).ids(topic)) for topic in GRADES} == {
        topic: set(map(str, range(len(LATEX)))) for topic in GRADES
    }
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
    monkeypatch.setattr("mathamr_lab.experiments.formulaplan.other_run", never)
    monkeypatch.setattr("mathamr_lab.experiments.formulaplan.index_posts", never)
    run([setting])
    assert write_report(planned(setting)).joinpath("results.md").read_text(encoding="utf-8") == first


def test_a_search_finds_the_formulas_of_the_nearest_nodes_alone(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mathamr_lab.experiments.formulaplan.ROWS", 2)
    system, rankings = tiny_formula_graph(), RANKINGS["formula-graph"]
    chosen = {name: rankings[name] for name in ("layout", "operators")}
    near = {f"near {name}": from_nearest(ranking) for name, ranking in chosen.items()}
    fused = {"near max": from_nearest(rankings["max"])}
    runs = searched(pool, tmp_path, system, {**chosen, **near, **fused})
    both = {}
    for field, view in (("layout", "slt"), ("operators", "opt")):
        rows = [
            v.vectors for v in system.node_vectors(view, [getattr(parse(latex), view) for latex in LATEX])
        ]
        owners = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        for topic, latex in QUERIES.items():
            (query,) = system.node_vectors(view, [getattr(parse(latex), view)])
            cosines = query.vectors @ np.concatenate(rows).T
            expected = np.array([cosines[:, owners == each].max(1).sum() for each in range(len(rows))])
            # Alone a view is ranked by means, which order like sums.
            every, found = (
                scores(runs[name], topic) * len(query.vectors) for name in (field, f"near {field}")
            )
            np.testing.assert_allclose(every, expected, atol=2e-2)
            kept = ~np.isnan(found)
            # Two nodes may be equally near: whichever is taken, none is farther than the second nearest.
            least = np.sort(cosines, axis=1)[:, -2]
            allowed = {
                owners[node]
                for row, limit in zip(cosines, least, strict=True)
                for node in np.flatnonzero(row >= limit - 2e-3)
            }
            assert 0 < kept.sum() < len(LATEX)
            assert set(np.flatnonzero(kept).tolist()) <= allowed
            np.testing.assert_allclose(found[kept], expected[kept], atol=2e-2)
            both.setdefault(topic, []).append(np.nan_to_num(found))
    for topic, (layout, operators) in both.items():
        # What one view has not found counts 0 there.
        np.testing.assert_allclose(
            np.nan_to_num(scores(runs["near max"], topic)), np.maximum(layout, operators), atol=2e-2
        )


def test_ntcir12_is_learned_from_without_its_queries_and_each_formula_once(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("A:0 x+1\nA:1 x+1\nB:0 y^2\n", encoding="utf-8")
    (tmp_path / "topics.txt").write_text("T-1 z^9-4\n", encoding="utf-8")
    (tmp_path / "judge.dat").write_text("T-1 0 A:0 1\nT-1 0 B:0 0\n", encoding="utf-8")
    bed = ntcir12_bed(tmp_path)
    assert [(topic.id, topic.formula and topic.formula.latex) for topic in bed.topics()] == [("T-1", "z^9-4")]
    posts = written(bed, tmp_path)
    assert [post.formulas[0].visual_id for post in read_posts(posts, Report())] == ["A:0", "A:1", "B:0"]
    assert [to_string(slt) for slt, _ in formulas_of_sources((posts,), FormulaCounts())] == [
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
