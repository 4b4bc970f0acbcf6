from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.layers.language.files import load_text_encoder, save_text_encoder
from mathamr.layers.textvectors import TextTable
from mathamr.training.export import export_store
from mathamr.training.language.__main__ import main
from mathamr.training.language.configuration import TextTraining
from mathamr.training.language.loop import TextTrainer
from mathamr.training.language.neighbours import neighbour_batches
from mathamr.training.language.shard import TextShard, export_texts
from tests.layers.language.small import small_text_encoder
from tests.models import graph_store, sample_posts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shard of some pairs of the sample, their texts, and a tiny text encoder to start from."""
    folder = tmp_path_factory.mktemp("text-training")
    posts = sample_posts()
    questions = [post for post in posts if post.kind == "question"][:12]
    wanted = {post.id for post in questions}
    chosen = [post for post in posts if post.id in wanted or post.parent in wanted]
    graph_store(folder / "graphs", chosen)
    export_store(folder / "graphs", "both-hierarchy-none", folder / "pairs.npz")
    encoder = small_text_encoder()
    save_text_encoder(folder / "base", encoder)
    shard = shards.load(folder / "pairs.npz")
    said = export_texts(chosen, shard, encoder.pieces, 60, folder / "texts.npz")
    assert f"{len(shard):,} texts" in said
    return folder


def trainer(folder: Path, **fields: float) -> TextTrainer:
    fields = {"batch_size": 6, "epochs": 2, "neighbours": 3, "projection": 8, "validation": 0.2, **fields}
    return TextTrainer(
        shards.load(folder / "pairs.npz"),
        TextShard.load(folder / "texts.npz"),
        load_text_encoder(folder / "base", "cpu"),
        TextTraining(**fields),  # type: ignore[arg-type]
        "cpu",
    )


def test_texts_round_trip_and_belong_to_their_graphs(folder: Path) -> None:
    shard, texts = shards.load(folder / "pairs.npz"), TextShard.load(folder / "texts.npz")
    assert len(texts) == len(shard)
    for place, post in enumerate(texts.posts):
        assert len(post) <= 60
        assert len(post.of)
        assert int(post.of.max()) < len(shard[place].representatives)
    with pytest.raises(MathAMRError, match="are not among the posts given"):
        export_texts([], shard, small_text_encoder().pieces, 60, folder / "none.npz")
    with pytest.raises(MathAMRError, match="no shard of texts"):
        TextShard.load(folder / "pairs.npz")


def test_training_learns_and_is_repeatable(folder: Path) -> None:
    first, second = (
        trainer(folder, epochs=4, learning_rate=0.003),
        trainer(folder, epochs=4, learning_rate=0.003),
    )
    rows, again = list(first.train()), list(second.train())
    assert rows[-1]["loss"] < rows[0]["loss"]
    assert [row["loss"] for row in rows] == pytest.approx([row["loss"] for row in again], rel=1e-4)
    assert set(rows[0]) >= {"epoch", "loss", "mrr", "mrr_maxsim", "among", "seconds"}


def test_validation_pairs_are_never_trained_on(folder: Path) -> None:
    made = trainer(folder)
    held = {tuple(pair) for pair in made.validation_pairs.tolist()}
    assert held
    for places in made._batches(0):
        assert not held & {tuple(pair) for pair in made.train_pairs[places].tolist()}


def test_the_validation_is_that_of_a_plain_search(folder: Path) -> None:
    made = trainer(folder)
    found = made.validated()
    documents = sorted({answer for _, answer in made.shard.pairs})
    tables = {
        post: row.vectors
        for post, row in zip(range(len(made.shard)), made.vectors(range(len(made.shard))), strict=True)
    }
    gold = {(int(q), int(a)) for q, a in made.shard.pairs}
    total = 0.0
    for question, answer in made.validation_pairs.tolist():
        scores = {
            document: float((tables[question] @ tables[document].T).max(1).mean()) for document in documents
        }
        better = sum(
            scores[document] > scores[answer] + 1e-7
            for document in documents
            if (question, document) not in gold
        )
        total += 1 / (better + 1) if better < 10 else 0
    assert found["mrr_maxsim"] == pytest.approx(total / len(made.validation_pairs), abs=1e-4)


def test_batches_of_neighbours_hold_every_pair_once_and_neighbours_together() -> None:
    angles = torch.tensor([0.0, 0.01, 1.0, 1.01, 2.0, 2.01, 3.0, 3.01])
    vectors = torch.stack([angles.cos(), angles.sin()], 1)
    batches = neighbour_batches(vectors, 4, 2, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(8))
    for batch in batches:
        assert {place // 2 for place in batch.tolist()} == {batch[0] // 2, batch[2] // 2}
    by_chance = neighbour_batches(vectors, 3, 1, np.random.default_rng(0))
    assert sorted(np.concatenate(by_chance).tolist()) == list(range(8))
    # A batch of one has no negative.
    assert [len(batch) for batch in neighbour_batches(vectors[:7], 3, 1, np.random.default_rng(0))] == [3, 3]


def test_the_command_writes_an_encoder_and_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, table = folder / "tuned", folder / "table.npz"
    common = [
        str(folder / "pairs.npz"),
        str(folder / "texts.npz"),
        "--base",
        str(folder / "base"),
        "--device",
        "cpu",
    ]
    changes = ["epochs=1", "batch_size=6", "neighbours=1", "projection=8", "validation=0.2"]
    sets = [word for change in changes for word in ("--set", change)]
    assert main([*common, "--out", str(out), "--table", str(table), *sets]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["epoch"] for row in rows] == [0, 1]
    assert load_text_encoder(out, "cpu").size == 8
    shard = shards.load(folder / "pairs.npz")
    made = TextTable.load(table)
    assert made.size == 8
    assert len(made.rows) == sum(len(shard[place].representatives) for place in range(len(shard)))
    assert main([*common, "--out", str(out), "--set", "colour=1"]) == 1
    assert "colour" in capsys.readouterr().err
    assert main([*common, "--out", str(out), "--set", "epochs=0"]) == 1
    assert main([*common, "--out", str(out), "--set", "epochs=x"]) == 1
    assert main([*common, "--out", str(out), "--set", "epochs"]) == 1
