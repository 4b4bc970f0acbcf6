from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.systems.mathamrplus.text.configuration import TextTraining, text_training
from mathamr_lab.systems.mathamrplus.text.shard import TextShard
from mathamr_lab.systems.mathamrplus.text.trainer import TextTrainer
from mathamr_lab.training.checkpoint import TrainingProgress
from mathamr_lab.training.loop import train
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer

CPU = torch.device("cpu")


def trainer(text_files: Path, **fields: float) -> TextTrainer:
    fields = {"batch_size": 6, "epochs": 2, "neighbours": 3, "projection": 8, "validation": 0.2, **fields}
    return TextTrainer(
        shards.load(text_files / "pairs.npz"),
        TextShard.load(text_files / "texts.npz"),
        load_text_encoder(text_files / "base", "cpu"),
        TextTraining(**fields),  # type: ignore[arg-type]
        CPU,
    )


def run(made: TextTrainer, out: Path) -> TrainingProgress:
    return train(made, out, Resources(device=CPU, threads=1, stream=io.StringIO()))


def test_training_learns_and_its_best_epoch_is_kept(text_files: Path, tmp_path: Path) -> None:
    progress = run(trainer(text_files, epochs=4, learning_rate=0.003), tmp_path)
    assert progress.history[-1]["loss"] < progress.history[0]["loss"]
    assert load_text_encoder(tmp_path, "cpu").size == 8
    worths = [row["validation"]["mrr"] + row["validation"]["mrr_maxsim"] for row in progress.history]
    assert progress.best_epoch == 1 + worths.index(max(worths))
    assert progress.before is not None
    card = (tmp_path / "README.md").read_text()
    assert "| before |" in card
    assert "MRR@10 by MaxSim" in card


def test_it_holds_the_contract_of_trainers(
    text_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neighbours are found with the weights of the epoch's begin: a stop in its middle must not find others.
    check_trainer(lambda: trainer(text_files, learning_rate=0.01, batch_size=4), tmp_path, monkeypatch)


def test_a_batch_in_parts_learns_the_same_as_the_whole(text_files: Path) -> None:
    gradients = []
    for budget in (1_000_000, 80):
        made = trainer(text_files, budget=budget, learning_rate=0.0, head_rate=0.0, clip=1e9)
        made.encoder.model.dropout.p = 0.0
        for layer in made.encoder.model.layers:
            layer.dropout.p = layer.rate = 0.0
        step = made.step(made.plan(0)[0], 0)
        assert (len(step.parts) > 1) is (budget == 80)
        made.learn(step, 0)
        gradients.append([parameter.grad for parameter in made.encoder.model.parameters()])
    for whole, parts in zip(*gradients, strict=True):
        torch.testing.assert_close(whole, parts, rtol=1e-2, atol=1e-4)


def test_the_schedule_is_that_of_all_epochs_though_the_last_ones_are_left_out(text_files: Path) -> None:
    made, shorter = trainer(text_files, epochs=4, last_epoch=2), trainer(text_files, epochs=4)
    assert (made.epochs, shorter.epochs) == (2, 4)
    assert made.figures(5)["rate"] == shorter.figures(5)["rate"] > 0


def test_validation_pairs_are_never_trained_on(text_files: Path) -> None:
    made = trainer(text_files)
    held = {tuple(pair) for pair in made.validation.tolist()}
    assert held
    plan = made.plan(0)
    assert len(plan) == made.steps
    for places in plan:
        assert not held & {tuple(pair) for pair in made.train[places].tolist()}


def test_the_validation_is_that_of_a_plain_search(text_files: Path) -> None:
    made = trainer(text_files)
    found = made.validate()
    assert found is not None
    documents = sorted({answer for _, answer in made.shard.pairs})
    posts = range(len(made.shard))
    tables = {post: row.vectors for post, row in zip(posts, made.vectors(posts), strict=True)}
    gold = {(int(q), int(a)) for q, a in made.shard.pairs}
    total = 0.0
    for question, answer in made.validation.tolist():
        scores = {
            document: float((tables[question] @ tables[document].T).max(1).mean()) for document in documents
        }
        better = sum(
            scores[document] > scores[answer] + 1e-7
            for document in documents
            if (question, document) not in gold
        )
        total += 1 / (better + 1) if better < 10 else 0
    assert found.figures["mrr_maxsim"] == pytest.approx(total / len(made.validation), abs=1e-4)
    assert found.searched == len(documents)


def test_changes_are_checked() -> None:
    assert text_training(["epochs=3", "beta=0.25"]) == TextTraining(epochs=3, beta=0.25)
    for change, words in (
        ("colour=1", "unknown configuration field 'colour'"),
        ("epochs=0", "from 1 to"),
        ("epochs=x", "expected int"),
        ("epochs", "expected NAME=VALUE"),
    ):
        with pytest.raises(MathAMRError, match=words):
            text_training([change])


def test_texts_of_another_shard_are_refused(text_files: Path, tmp_path: Path) -> None:
    texts = TextShard.load(text_files / "texts.npz")
    TextShard(texts.posts[:-1]).save(tmp_path / "fewer.npz")
    with pytest.raises(MathAMRError, match="do not belong to a shard"):
        TextTrainer(
            shards.load(text_files / "pairs.npz"),
            TextShard.load(tmp_path / "fewer.npz"),
            load_text_encoder(text_files / "base", "cpu"),
            TextTraining(),
            CPU,
        )
