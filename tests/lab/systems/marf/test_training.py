from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.systems.marf.configuration import CONFIGURATIONS
from mathamr.systems.marf.inference import context_vectors
from mathamr.systems.marf.model import made_model
from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.postinput import PostInput
from mathamr.systems.models import system_of
from mathamr.systems.system import Item
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.marf.configuration import PartTraining
from mathamr_lab.systems.marf.freshnetwork import stored_weights
from mathamr_lab.systems.marf.postshard import PostShard
from mathamr_lab.systems.marf.recipe import part_trainer
from mathamr_lab.systems.marf.trainers import FormulaTrainer, FusionTrainer, WordTrainer
from mathamr_lab.systems.stateencoder import StateEncoder
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.systems.tinytext import VOCABULARIES, tiny_base, tiny_network

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


def network(base: Path, tuning: str = "low-rank") -> MarfNetwork:
    torch.manual_seed(1)
    return tiny_network(base, CONFIGURATIONS["tiny"], tuning)


@pytest.fixture(scope="module")
def shard(base: Path) -> PostShard:
    reader = VOCABULARIES.reader(load_text_encoder(base, "cpu").pieces, CONFIGURATIONS["tiny"])
    return PostShard.of([each.id for each in POSTS], reader.posts(POSTS), PAIRS)


@pytest.mark.parametrize(
    ("stage", "way"),
    [
        ("words", WAY),
        ("words", replace(WAY, next_sentence=True)),
        ("context", WAY),
        ("context", replace(WAY, total=True, temperature=1.0)),
        ("formulas", WAY),
        ("fusion", WAY),
    ],
)
def test_the_trainers_keep_to_the_contract(
    stage: str,
    way: PartTraining,
    base: Path,
    shard: PostShard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_trainer(lambda: part_trainer(stage, shard, network(base), way, CPU), tmp_path, monkeypatch)


def test_half_of_the_second_sentences_follow_the_first(base: Path) -> None:
    # Eight sentences of two tokens, 10 11, 12 13, …, between the marks 2 and 3.
    numbers = np.array([2, *range(10, 26), 3], np.uint16)
    of = np.array([0, *np.repeat(np.arange(8), 2), 7], np.uint16)
    shard = PostShard(
        tuple(map(str, range(60))), (PostInput(numbers, (), of),) * 60, np.zeros((0, 2), np.int32)
    )
    text = network(base).context.transformer
    assert isinstance(text, StateEncoder)
    step = WordTrainer(shard, text, replace(WAY, next_sentence=True), CPU).step(np.arange(60), 0)
    assert step.follows is not None
    assert 15 < int(step.follows.sum()) < 45
    shown = step.numbers.masked_scatter(step.hidden, step.were)
    assert set(shown[:, [0, 3, 6]].unique().tolist()) == {2, 3}
    firsts, seconds = shown[:, 1:3], shown[:, 4:6]
    assert (firsts[:, 1] == firsts[:, 0] + 1).all()
    assert (seconds[:, 0] == firsts[:, 1] + 1)[step.follows.bool()].all()


def test_a_full_training_is_stored_as_changes_that_give_its_vectors_back(
    base: Path, shard: PostShard
) -> None:
    fresh = network(base, "full")
    trainer = part_trainer("context", shard, fresh, replace(WAY, learning_rate=0.03), CPU)
    for number, batch in enumerate(trainer.plan(0)):
        trainer.learn(trainer.step(batch, 0), number)
    fresh.eval()
    rank = min(16, fresh.context.transformer.size)
    configuration = replace(CONFIGURATIONS["tiny"], rank=rank, base=str(base))
    fresh.configuration = configuration
    weights = stored_weights(fresh, torch.eye(configuration.size)[:, : configuration.stored])
    made = made_model(load_text_encoder(base, "cpu"), VOCABULARIES, configuration, weights)
    untrained = network(base, "full").eval()
    sample = shard.posts[:6]
    wanted, found, before = (
        torch.cat(context_vectors(each, sample, CPU)) for each in (fresh, made.network, untrained)
    )
    assert float((wanted * found).sum(1).min()) > 0.995
    assert float((wanted * before).sum(1).min()) < 0.995


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
    trainer = part_trainer("formulas", shard, network(base), WAY, CPU)
    assert isinstance(trainer, FormulaTrainer)
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
        assert again.posts[number].sentences.tolist() == shard.posts[number].sentences.tolist()
        assert [each.tolist() for each in again.formulas(number)] == [
            each.tolist() for each in shard.formulas(number)
        ]


SMALL = ("all.batch_size=4", "all.epochs=1", "all.validation=0.3", "all.length=32")


def test_the_recipe_goes_from_posts_to_a_model_folder_without_held_out_pairs(
    base: Path, tmp_path: Path
) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(each.to_json() + "\n" for each in POSTS), encoding="utf-8")
    (tmp_path / "without.txt").write_text("q9\n", encoding="utf-8")
    sources = TrainingSources(path=path, without=(tmp_path / "without.txt",), base=base)
    settings = TrainingSettings(config="tiny", changes=SMALL)
    prepare("marf", sources, settings, tmp_path / "prepared", say=lambda line: None)
    assert {"q9", "a9"}.isdisjoint(PostShard.load(tmp_path / "prepared" / "posts.npz").ids)
    resources = Resources(device=CPU, threads=0)
    reported = list(train_prepared(tmp_path / "prepared", tmp_path / "out", resources))
    assert [row["stage"] for row in reported] == ["words", "context", "formulas", "fusion", "join"]
    row = json.loads((tmp_path / "out" / "model" / "config.json").read_text(encoding="utf-8"))
    assert (row["system"], row["name"]) == ("marf", "marf")
    loaded = system_of(tmp_path / "out" / "model").load(tmp_path / "out" / "model", "cpu")
    (found,) = loaded.encode([Item(post=POSTS[3])])
    assert len(found.post) == 2
