from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.systems.marf.configuration import CONFIGURATIONS
from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.system import MarfSystem
from mathamr.systems.system import Item
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.marf.configuration import PartTraining
from mathamr_lab.systems.marf.freshnetwork import fresh_network
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.trainers import ContextTrainer, FormulaTrainer, FusionTrainer, WordTrainer
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.systems.tinytext import VOCABULARIES, tiny_base

CPU = torch.device("cpu")
WAY = PartTraining(batch_size=3, epochs=2, validation=0.3, length=32)


def post(identifier: str, body: str, parent: str | None = None) -> Post:
    formulas = formulas_of(identifier, "", body, "text")
    return Post(
        identifier, "answer" if parent else "question", body, markup="text", parent=parent, formulas=formulas
    )


POSTS = [
    each
    for number, letter in enumerate("abcdefghij")
    for each in (
        post(f"q{number}", f"why is ${letter}+{letter}={number}$ for {letter}?"),
        post(
            f"a{number}",
            f"since ${letter}^2={number}$ and $\\frac{{{letter}}}{{2}}$" if number else "no formula",
            f"q{number}",
        ),
    )
]
PAIRS = [(f"q{number}", f"a{number}") for number in range(10)]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("marf") / "base")


def network(base: Path) -> MarfNetwork:
    torch.manual_seed(1)
    return fresh_network(load_text_encoder(base, "cpu"), VOCABULARIES, CONFIGURATIONS["tiny"])


@pytest.fixture(scope="module")
def shard(base: Path) -> PostShard:
    reader = VOCABULARIES.reader(load_text_encoder(base, "cpu").pieces, CONFIGURATIONS["tiny"])
    return PostShard.of([each.id for each in POSTS], reader.posts(POSTS), PAIRS)


@pytest.mark.parametrize("part", ["words", "context", "token", "passage", "fusion"])
def test_the_trainers_keep_to_the_contract(
    part: str, base: Path, shard: PostShard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> WordTrainer | ContextTrainer | FormulaTrainer | FusionTrainer:
        fresh = network(base)
        if part == "words":
            return WordTrainer(shard, fresh.context, 4, WAY, CPU)
        if part == "context":
            return ContextTrainer(shard, fresh.context, WAY, CPU)
        if part == "fusion":
            return FusionTrainer(shard, fresh, WAY, CPU)
        return FormulaTrainer(shard, fresh.formula, part, WAY, CPU)

    check_trainer(made, tmp_path, monkeypatch)


def test_only_the_fusion_learns_while_both_encoders_stay(base: Path, shard: PostShard) -> None:
    fresh = network(base)
    before = {name: each.clone() for name, each in fresh.state_dict().items()}
    trainer = FusionTrainer(shard, fresh, WAY, CPU)
    for batch in trainer.plan(0):
        trainer.learn(trainer.step(batch, 0), 1)
    changed = {
        name.partition(".")[0]
        for name, each in fresh.state_dict().items()
        if not torch.equal(each, before[name])
    }
    assert changed == {"fusion"}


def test_formulas_are_learned_from_pairs_where_both_sides_have_some(base: Path, shard: PostShard) -> None:
    trainer = FormulaTrainer(shard, network(base).formula, "token", WAY, CPU)
    used = {shard.ids[number] for number in np.concatenate([trainer.train, trainer.held]).flatten().tolist()}
    assert "a0" not in used
    assert len(used) == 18


def test_a_shard_comes_back_as_it_was_saved(shard: PostShard, tmp_path: Path) -> None:
    shard.save(tmp_path / "posts.npz")
    again = PostShard.load(tmp_path / "posts.npz")
    assert again.ids == shard.ids
    assert again.pairs.tolist() == shard.pairs.tolist()
    for number in range(len(shard)):
        assert again.posts[number].numbers.tolist() == shard.posts[number].numbers.tolist()
        assert [each.tolist() for each in again.formulas(number)] == [
            each.tolist() for each in shard.formulas(number)
        ]


def test_the_recipe_goes_from_posts_to_a_model_folder_without_held_out_pairs(
    base: Path, tmp_path: Path
) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(each.to_json() + "\n" for each in POSTS), encoding="utf-8")
    (tmp_path / "without.txt").write_text("q9\n", encoding="utf-8")
    settings = TrainingSettings(
        config="tiny", changes=("all.batch_size=4", "all.epochs=1", "all.validation=0.3", "all.length=32")
    )
    sources = TrainingSources(path=path, without=(tmp_path / "without.txt",), base=base)
    prepare("marf", sources, settings, tmp_path / "prepared", say=lambda line: None)
    assert {"q9", "a9"}.isdisjoint(PostShard.load(tmp_path / "prepared" / "posts.npz").ids)
    resources = Resources(device=CPU, threads=0)
    reported = list(train_prepared(tmp_path / "prepared", tmp_path / "out", resources))
    assert [row["stage"] for row in reported] == ["words", "context", "formulas", "fusion", "join"]
    assert (
        json.loads((tmp_path / "out" / "model" / "config.json").read_text(encoding="utf-8"))["system"]
        == "marf"
    )
    system = MarfSystem.load(tmp_path / "out" / "model", "cpu")
    (found,) = system.encode([Item(post=POSTS[3])])
    assert len(found.post) == 2
