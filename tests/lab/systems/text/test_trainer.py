from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch

from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.systems.text.corpus import TextCorpus
from mathamr_lab.systems.text.materials import ANSWER, TextMaterials, gathered, threads
from mathamr_lab.systems.text.trainer import TextTrainer
from mathamr_lab.systems.text.training import TextTraining
from mathamr_lab.training.checkpoint import TrainingProgress
from mathamr_lab.training.loop import train
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.models import sample_posts
from tests.text.small import small_text_encoder

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus() -> TextCorpus:
    """Some threads of the sample: questions with their answers, a fifth of them held out."""
    posts = sample_posts()
    wanted = {post.id for post in [post for post in posts if post.kind == "question"][:12]}
    materials = TextMaterials(held_share=0.25)
    threads([post for post in posts if post.id in wanted or post.parent in wanted], (), materials)
    materials.pairs = [pair for pair in materials.pairs if pair[2].startswith(ANSWER)]
    return gathered(materials, small_text_encoder().pieces).cut(60)


def trainer(corpus: TextCorpus, **fields: float) -> TextTrainer:
    fields = {"batch_size": 6, "epochs": 2, "neighbours": 3, "projection": 8, **fields}
    return TextTrainer(corpus, small_text_encoder(), TextTraining(**fields), CPU)  # type: ignore[arg-type]


def run(made: TextTrainer, out: Path) -> TrainingProgress:
    return train(made, out, Resources(device=CPU, threads=1, stream=io.StringIO()))


def test_training_learns_and_its_best_epoch_is_kept(corpus: TextCorpus, tmp_path: Path) -> None:
    progress = run(trainer(corpus, epochs=4, learning_rate=0.003), tmp_path)
    assert progress.history[-1]["loss"] < progress.history[0]["loss"]
    assert load_text_encoder(tmp_path, "cpu").size == 8
    worths = [row["validation"]["mrr"] + row["validation"]["mrr_maxsim"] for row in progress.history]
    assert progress.best_epoch == 1 + worths.index(max(worths))
    assert progress.before is not None
    card = (tmp_path / "README.md").read_text()
    assert "| before |" in card
    assert "MRR@10 by MaxSim" in card


def test_it_holds_the_contract_of_trainers(
    corpus: TextCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neighbours are found with the weights of the epoch's begin: a stop in its middle must not find others.
    check_trainer(lambda: trainer(corpus, learning_rate=0.01, batch_size=4), tmp_path, monkeypatch)


def test_a_batch_in_parts_learns_the_same_as_the_whole(corpus: TextCorpus) -> None:
    gradients = []
    for budget in (1_000_000, 80):
        made = trainer(corpus, budget=budget, learning_rate=0.0, head_rate=0.0, clip=1e9)
        made.encoder.model.dropout.p = 0.0
        for layer in made.encoder.model.layers:
            layer.dropout.p = layer.rate = 0.0
        step = made.step(made.plan(0)[0], 0)
        assert (len(step.parts) > 1) is (budget == 80)
        made.learn(step, 0)
        gradients.append([parameter.grad for parameter in made.encoder.model.parameters()])
    for whole, parts in zip(*gradients, strict=True):
        torch.testing.assert_close(whole, parts, rtol=1e-2, atol=1e-4)


def test_the_validation_is_that_of_a_plain_search(corpus: TextCorpus) -> None:
    made = trainer(corpus)
    found = made.validate()
    assert found is not None
    documents = sorted({int(answer) for _, answer in corpus.pairs})
    posts = range(len(corpus))
    tables = {post: row.vectors for post, row in zip(posts, made.vectors(posts), strict=True)}
    total = 0.0
    for question, answer in made.validation.tolist():
        scores = {
            document: float((tables[question] @ tables[document].T).max(1).mean()) for document in documents
        }
        better = sum(
            scores[document] > scores[answer] + 1e-7
            for document in documents
            if corpus.groups[question] != corpus.groups[document]
        )
        total += 1 / (better + 1) if better < 10 else 0
    assert found.figures["mrr_maxsim"] == pytest.approx(total / len(made.validation), abs=1e-4)
    assert found.searched == len(documents)
