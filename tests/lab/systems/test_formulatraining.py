"""Trainers and recipes of the systems that read formulas: the contract of trainers, from posts to a model folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import similarity
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.formulashard import FormulaShard
from mathamr.posts.post import Formula
from mathamr.systems.models import default_rankings, load_system
from mathamr.systems.system import VisualFormula
from mathamr_lab.recipes.formulaorders import OrderSettings, SharedParts, make_orders
from mathamr_lab.recipes.formulas import FORMULAS, ORDERS, prepare_formulas
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.formulagraph.configuration import configured as node_configuration
from mathamr_lab.systems.formulagraph.materials import FormulaMaterials
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.systems.formulagraph.trainer import NodeTrainer
from mathamr_lab.systems.ssemb.configuration import configured as struct_configuration
from mathamr_lab.systems.ssemb.trainer import StructMaterials, StructTrainer
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.systems.formulamodels import LATEX, shard, tiny_formula_graph, tiny_ssemb

CPU = torch.device("cpu")
MORE = tuple(f"{a}_{{{n}}}+{n}={b}^{{{n}}}" for n in range(1, 9) for a, b in ("xy", "uv", "ab"))
TAUGHT = Teacher(
    np.arange(12), np.array([[place, (place + 1) % 12] for place in range(12)]), np.tile([0.9, 0.3], (12, 1))
)
NEIGHBOURS = Teacher(
    np.arange(20),
    np.array([[(place + 1) % 20, (place + 7) % 20] for place in range(20)]),
    np.tile([0.9, 0.3], (20, 1)),
)


def nodes(*changes: str, teacher: Teacher | None = None) -> NodeTrainer:
    model, training = node_configuration("small", ["epochs=2", "batch_size=16", "validation=6", *changes])
    return NodeTrainer(FormulaMaterials.of(shard((*LATEX, *MORE)), training, teacher), model, training, CPU)


def structures(*changes: str, teacher: Teacher | None = None) -> StructTrainer:
    model, augmentation, training = struct_configuration(
        "small", ["epochs=2", "batch_size=16", "validation=6", *changes]
    )
    materials = StructMaterials.of(shard((*LATEX, *MORE)), training, teacher)
    return StructTrainer(materials, model, augmentation, training, CPU)


def test_the_trainer_of_nodes_keeps_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = ("variables=0.5", "numbers=0.5", "teacher=1")
    check_trainer(lambda: nodes(*changes, teacher=TAUGHT), tmp_path, monkeypatch)


def test_the_trainer_of_structures_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_trainer(lambda: structures("variables=0.5", "teacher=1", teacher=TAUGHT), tmp_path, monkeypatch)


def test_a_validation_says_among_how_many_formulas_it_searched() -> None:
    for trainer in (nodes("batch_size=256"), structures()):
        assert trainer.validate().searched == len(trainer.materials.held) == 6
    assert nodes("batch_size=4").validate().searched == 4


@pytest.mark.parametrize("pairing", ["slg", "opg", "slg+opg", "inner", "outer", "inner+outer"])
def test_every_pairing_learns_in_the_views_it_names(pairing: str) -> None:
    trainer = nodes(f"pairing={pairing}")
    before = {name: tensor.clone() for name, tensor in trainer.network.state_dict().items()}
    trainer.learn(trainer.step(trainer.plan(0)[0], 0), 0)
    moved = {
        name.split(".")[1]
        for name, tensor in trainer.network.state_dict().items()
        if not torch.equal(tensor, before[name])
    }
    assert moved == {"slg": {"slt"}, "opg": {"opt"}}.get(pairing, {"slt", "opt"})


def test_a_teachers_order_is_learnt() -> None:
    trainer = nodes("teacher=1", "contrast=0", "learning_rate=0.01", "epochs=40", teacher=TAUGHT)
    held = trainer._taught(trainer.materials.batches(0)[0])
    assert held is not None
    first = trainer._order_loss(held).item()
    number = 0
    for epoch in range(6):
        for batch in trainer.plan(epoch):
            trainer.learn(trainer.step(batch, epoch), number)
            number += 1
    last = trainer._order_loss(held).item()
    assert last < first / 2


NEAR = ("near=1", "contrast=0", "shared=0.75", "nearest=1", "learning_rate=0.01", "epochs=40")


@pytest.mark.parametrize("make", [nodes, structures])
def test_trainers_that_find_near_formulas_keep_the_contract(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_trainer(
        lambda: make("near=1", "teacher=1", "shared=0.5", teacher=NEIGHBOURS), tmp_path, monkeypatch
    )


def test_nodes_find_near_formulas_by_maxsim_in_both_views_as_a_loop_does() -> None:
    trainer = nodes(*NEAR, "near_mask=0", teacher=NEIGHBOURS)
    batch = trainer.materials.batches(0)[0]
    near = trainer._near(batch, np.random.default_rng(0))
    assert near is not None
    expected = []
    for view in ("slt", "opt"):
        ours, theirs = (
            trainer.network(view, graphs).detach().split(graphs.starts.diff().tolist())
            for graphs in (near.ours[view], near.theirs[view])
        )
        for row, query in enumerate(ours):
            scores = [float((query @ other.T).amax(1).mean()) / 0.05 for other in theirs]
            place = int(near.places[row])
            others = [
                each for column, each in enumerate(scores) if column == place or not near.is_near[row, column]
            ]
            expected.append(np.log(np.exp(others).sum()) - scores[place])
    assert trainer._near_loss(near).item() == pytest.approx(np.mean(expected), rel=1e-4)


def test_structures_find_near_formulas_by_cosine_as_a_loop_does() -> None:
    trainer = structures(*NEAR, "near_mask=0", teacher=NEIGHBOURS)
    near = trainer._near(trainer.plan(0)[0], np.random.default_rng(0))
    assert near is not None
    trainer.network.eval()
    ours, theirs = (trainer.network(each).detach() for each in (near.ours, near.theirs))
    expected = []
    for row, query in enumerate(ours):
        scores = [float(query @ other) / 0.05 for other in theirs]
        place = int(near.places[row])
        others = [
            each for column, each in enumerate(scores) if column == place or not near.is_near[row, column]
        ]
        expected.append(np.log(np.exp(others).sum()) - scores[place])
    assert trainer._near_loss(near).item() == pytest.approx(np.mean(expected), rel=1e-4)


@pytest.mark.parametrize("make", [nodes, structures])
def test_near_formulas_are_learnt_to_be_found(make: Any) -> None:
    trainer = make(*NEAR, teacher=NEIGHBOURS)
    losses: list[float] = []
    for epoch in range(12):
        for batch in trainer.plan(epoch):
            losses.append(float(trainer.learn(trainer.step(batch, epoch), len(losses))))
    quarter = len(losses) // 4
    assert np.mean(losses[-quarter:]) < 0.75 * np.mean(losses[:quarter])


@pytest.mark.parametrize("make", [nodes, structures])
def test_masked_labels_are_unknown_in_ours_alone_and_about_as_many_as_wanted(make: Any) -> None:
    hidden, seen = (make(*NEAR, f"near_mask={mask}", teacher=NEIGHBOURS) for mask in (0.5, 0))
    for view in ("slt", "opt") if make is nodes else ("",):
        drawn = []
        for trainer in (hidden, seen):
            near = trainer._near(trainer.plan(0)[0], np.random.default_rng(3))
            assert near is not None
            drawn.append((near.ours[view], near.theirs[view]) if view else (near.ours, near.theirs))
        (ours, theirs), (whole, others) = drawn
        changed = (ours.labels != whole.labels).float().mean()
        assert 0.2 < float(changed) < 0.8
        assert theirs.labels.tolist() == others.labels.tolist()


@pytest.mark.parametrize("make", [nodes, structures])
def test_validation_weighs_finding_near_formulas_as_the_training_does(make: Any) -> None:
    found = make("near=2", "teacher=0", "contrast=3", teacher=NEIGHBOURS).validate()
    assert found is not None
    assert found.figures["near"] > 0
    assert found.worth == pytest.approx(-3 * found.figures["loss"] - 2 * found.figures["near"])


def test_without_orders_a_teacher_cannot_be_asked() -> None:
    for wanted in ("teacher=1", "near=1"):
        with pytest.raises(MathAMRError, match="no teacher"):
            nodes(wanted)
        with pytest.raises(MathAMRError, match="no teacher"):
            structures(wanted)


def test_a_shard_brings_its_orders_along_and_old_ones_do_not_stay(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "prepared"
    for path in (source, folder):
        path.mkdir()
    shard((*LATEX, *MORE)).save(source / FORMULAS)
    NEIGHBOURS.save(source / ORDERS)
    sources = TrainingSources(path=source / FORMULAS)
    assert prepare_formulas(sources, folder, print, orders=True) == [folder / FORMULAS, folder / ORDERS]
    assert (folder / ORDERS).read_bytes() == (source / ORDERS).read_bytes()
    assert prepare_formulas(sources, folder, print, orders=False) == [folder / FORMULAS]
    assert not (folder / ORDERS).exists()


def long_sum(terms: int) -> tuple[Slt, Opt]:
    """A sum of so many terms: its layout is one chain."""
    layout = Slt(
        ("V!x", *("+" if place % 2 else f"V!{'abc'[place % 3]}" for place in range(1, terms))),
        tuple(range(-1, terms - 1)),
        "-" + "n" * (terms - 1),
    )
    labels, parents, edges = ["U!plus"], [-1], "-"
    for place in range(1, terms):
        labels.append("O!minus" if place % 2 else f"V!{'abc'[place % 3]}")
        parents.append(place - 1 if labels[place - 1] != f"V!{'abc'[(place - 1) % 3]}" else place - 2)
        edges += "01"[place % 2]
    return layout, Opt(tuple(labels), tuple(parents), edges)


def test_graphs_of_one_two_and_two_thousand_nodes_train_and_are_encoded(tmp_path: Path) -> None:
    small = [(parsed.slt, parsed.opt) for parsed in map(parse, ("x", "-x", "x^2", "a+b", "y"))]
    formulas = FormulaShard.of([*small, long_sum(2000)])
    for make in (NodeTrainer, StructTrainer):
        if make is NodeTrainer:
            model, training = node_configuration("small", ["validation=0"])
            trainer: NodeTrainer | StructTrainer = NodeTrainer(
                FormulaMaterials.of(formulas, training, None), model, training, CPU
            )
        else:
            shape, augmentation, way = struct_configuration("small", ["validation=0"])
            trainer = StructTrainer(StructMaterials.of(formulas, way, None), shape, augmentation, way, CPU)
        loss = trainer.learn(trainer.step(trainer.plan(0)[0], 0), 0)  # type: ignore[arg-type]
        assert torch.isfinite(loss)
    visuals = [
        VisualFormula(key=str(place), formula=Formula(str(place), ""), opt=opt, slt=slt)
        for place, (slt, opt) in enumerate([*small, long_sum(2000)])
    ]
    rows = list(tiny_formula_graph().encode_visuals(visuals))
    assert [len(row["layout"]) for row in rows] == [1, 2, 2, 3, 1, 2000]
    assert all(np.isfinite(row["operators"].vectors).all() for row in rows)
    structures = tiny_ssemb(tmp_path).structures([visual.opt for visual in visuals if visual.opt is not None])
    np.testing.assert_allclose(np.linalg.norm(structures, axis=1), np.ones(len(visuals)), atol=1e-5)


def test_formulas_that_share_more_parts_come_first_and_renaming_costs_little() -> None:
    latex = ("a^2+b^2=c^2", "x^2+y^2=z^2", "a^2+b^2=d", r"\int_0^1 f(x)\,dx", *MORE)
    parts = SharedParts(shard(latex))
    scores = parts.scores(0)
    order = np.argsort(-scores, kind="stable").tolist()
    assert order[0] == 0
    assert set(order[1:3]) == {1, 2}
    assert scores[3] < scores[1] / 2


def test_orders_are_judged_by_the_alignment_of_trees() -> None:
    latex = (*LATEX, *MORE)
    settings = OrderSettings(anchors=5, nearest=2, others=2, among=8, any=1)
    orders = make_orders(shard(latex), settings)
    assert orders.candidates.shape == (len(orders), 5)
    trees = [(parse(each).opt, parse(each).slt) for each in latex]
    parts = SharedParts(shard(latex))
    for anchor, candidates, scores in zip(orders.anchors, orders.candidates, orders.scores, strict=True):
        shared = parts.scores(int(anchor))
        for other, score in zip(candidates.tolist(), scores.tolist(), strict=True):
            aligned = similarity(trees[anchor], trees[other])
            assert score == pytest.approx((aligned + 0.5 * shared[other] / shared[anchor]) / 1.5, abs=1e-3)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of trees, one row twice and one broken."""
    from mathamr.formulas.notation import to_string

    path = tmp_path_factory.mktemp("trees") / "trees.tsv"
    rows = [(to_string(parsed.opt), to_string(parsed.slt)) for parsed in map(parse, (*LATEX, *MORE))]
    lines = ["opt\tslt", *("\t".join(row) for row in [*rows, rows[0]]), "[V!x\t[V!x]"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("system", "stage"), [("formula-graph", "nodes"), ("ssemb", "structure")])
def test_a_recipe_goes_from_a_table_of_trees_to_a_model_that_loads(
    table: Path, tmp_path: Path, system: str, stage: str
) -> None:
    said: list[str] = []
    settings = TrainingSettings(
        config="small", changes=(f"{stage}.epochs=1", f"{stage}.batch_size=16", f"{stage}.validation=4")
    )
    prepare(system, TrainingSources(path=table), settings, tmp_path / "prepared", say=said.append)
    assert said == [
        f"{len(LATEX) + len(MORE)} formulas that look different, of {len(LATEX) + len(MORE) + 2};"
        " 1 could not be read and are left out"
    ]
    rows = list(train_prepared(tmp_path / "prepared", tmp_path, Resources(device=CPU, threads=0)))
    assert [row["epoch"] for row in rows] == [1]
    loaded = load_system(tmp_path / "model", "cpu")
    assert loaded.kind == system
    about = json.loads((tmp_path / "model" / "config.json").read_text(encoding="utf-8"))
    assert about["training"]["batch_size"] == 16


@pytest.mark.parametrize(
    ("system", "stage", "ranking"), [("formula-graph", "nodes", "max"), ("ssemb", "structure", "paper")]
)
def test_a_model_of_the_paper_s_configuration_is_ranked_as_published(
    table: Path, tmp_path: Path, system: str, stage: str, ranking: str
) -> None:
    changes = (f"{stage}.epochs=1", f"{stage}.batch_size=16", f"{stage}.validation=4", f"{stage}.rare=1")
    for config in ("paper", "small"):
        out = tmp_path / config
        settings = TrainingSettings(config=config, changes=changes)
        prepare(system, TrainingSources(path=table), settings, out / "prepared", say=lambda _: None)
        assert list(train_prepared(out / "prepared", out, Resources(device=CPU, threads=0)))
    assert default_rankings(tmp_path / "paper" / "model") == {"formulas": ranking}
    assert default_rankings(tmp_path / "small" / "model") == {}


def test_a_recipe_refuses_what_it_does_not_know(table: Path, tmp_path: Path) -> None:
    for system, wrong in (("formula-graph", "nodes.pairing=both"), ("ssemb", "structure.kind=other")):
        settings = TrainingSettings(config="small", changes=(wrong,))
        with pytest.raises(MathAMRError, match="unknown"):
            prepare(system, TrainingSources(path=table), settings, tmp_path / "prepared")


def test_only_the_formulas_that_are_used_stay_in_memory() -> None:
    whole = shard((*LATEX, *MORE))
    _, training = node_configuration("small", ["formulas=6", "validation=1", "rare=1"])
    found = FormulaMaterials.of(whole, training, None)
    assert len(found.shard) == 6 < len(whole)
    assert sorted([*found.train, *found.held]) == list(range(6))
    order = np.random.default_rng([training.seed, 0]).permutation(len(whole))[:6]
    assert [whole.both(int(each)) for each in order[1:]] == [
        found.shard.both(int(each)) for each in np.searchsorted(np.sort(order), order[1:])
    ]
    assert found.shard.both(int(found.held[0])) == whole.both(int(order[0]))


@pytest.mark.parametrize(("pairing", "view"), [("slg", "slt"), ("opg", "opt")])
def test_a_pairing_of_one_view_draws_any_internal_node_of_that_view(pairing: str, view: str) -> None:
    materials = nodes(f"pairing={pairing}").materials
    trees, parts = materials.trees(view), materials.parts[view]
    (formula,) = np.diff(trees.starts).argmax(keepdims=True)
    chosen = np.array([formula])
    internal = np.arange(trees.starts[formula], trees.starts[formula + 1])
    internal = internal[trees.sizes[internal] > 1]
    expected = {tuple(parts.without(chosen, np.array([node])).nodes.tolist()) for node in internal}
    drawn = {
        tuple(materials.subexpressions(chosen, np.random.default_rng(seed))[view].nodes.tolist())
        for seed in range(300)
    }
    assert len(expected) > 2
    assert drawn == expected


def test_a_label_is_rare_by_its_operator_trees_alone() -> None:
    formulas = shard(("x+1",) * 6 + ("y+1",) * 12)
    _, _, training = struct_configuration("small", ["rare=11", "smallest=1"])
    labels = StructMaterials.of(formulas, training, None).labels.labels
    assert "V!y" in labels
    assert "V!x" not in labels  # six times in layouts, six times in operator trees
