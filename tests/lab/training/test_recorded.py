"""Small runs give the figures of the first release: recorded with its code, from the same seeds."""

from __future__ import annotations

import io
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mathamr.graphs.shard import Shard
from mathamr.systems.mathamrplus.configuration import MODELS
from mathamr.text import encoder
from mathamr.text.wordpieces import Pieces
from mathamr_lab.systems.mathamrplus.graph.configuration import TRAININGS
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from mathamr_lab.systems.text import trainer as texttrainer
from mathamr_lab.systems.text.corpus import TextCorpus
from mathamr_lab.systems.text.shard import TextShard
from mathamr_lab.systems.text.training import TextTraining
from mathamr_lab.training.loop import train
from mathamr_lab.training.pairs import split
from mathamr_lab.training.resources import Resources
from tests.text.small import PIECES, small_text_encoder

CPU = torch.device("cpu")
SMALL = replace(TRAININGS["small"], batch_size=8, epochs=3, patience=5)
RECORDED: dict[str, tuple[list[float], list[float], float]] = {
    "plain": ([1.8276598, 1.7647784, 1.6449270], [1.2042165, 0.8852926, 0.7911603], 847.71616),
    "dropout": ([2.6503712, 2.0832417, 2.0650228], [1.2089353, 1.2509118, 1.2557608], 846.53479),
    "parts": ([2.3192928, 1.8821464, 1.9614689], [1.0979199, 1.1138498, 1.1163759], 847.19097),
}
"""Losses of training and of validation, epoch by epoch, and the sum of the sizes of all weights of the best one."""


def case(name: str, shard: Shard) -> GraphTrainer:
    if name == "plain":
        return GraphTrainer(shard, MODELS["small"], SMALL, CPU)
    dropping = replace(MODELS["small"], dropout=0.1)
    if name == "dropout":
        training = replace(SMALL, beta=0.5, warmup=0.2, monitor="mrr")
        return GraphTrainer(shard, dropping, training, CPU, half=True)
    return GraphTrainer(shard, dropping, replace(SMALL, budget=60), CPU)


@pytest.mark.parametrize("name", RECORDED)
def test_the_graph_network_learns_as_in_the_first_release(name: str, shard: Shard, tmp_path: Path) -> None:
    resources = Resources(device=CPU, threads=1, stream=io.StringIO())
    progress = train(case(name, shard), tmp_path, resources)
    losses, validations, weights = RECORDED[name]
    assert [row["loss"] for row in progress.history] == pytest.approx(losses, rel=1e-4)
    assert [row["validation"]["loss"] for row in progress.history] == pytest.approx(validations, rel=1e-3)
    found = load_file(tmp_path / "weights.safetensors")
    assert sum(float(tensor.double().abs().sum()) for tensor in found.values()) == pytest.approx(
        weights, rel=1e-5
    )


def texts_of(shard: Shard) -> TextShard:
    """Twelve pieces a post, mostly the same for both posts of a pair."""
    draw, posts = np.random.default_rng(5), []
    for number in range(len(shard)):
        count = int(shard.starts["reps"][number + 1] - shard.starts["reps"][number])
        words = 4 + np.random.default_rng(number // 2).integers(0, len(PIECES) - 4, 12)
        numbers = np.where(draw.random(12) < 0.3, draw.integers(4, len(PIECES), 12), words)
        starts = draw.integers(0, 8, count)
        ends = starts + 3
        starts[-1], ends[-1] = 0, 12
        columns: list[Any] = [
            np.arange(count, dtype=np.int32),
            starts.astype(np.int32),
            ends.astype(np.int32),
        ]
        posts.append(Pieces(numbers.astype(np.uint16), *columns))
    return TextShard(tuple(posts))


def corpus_of(shard: Shard) -> TextCorpus:
    """The pairs of the shard as those of a corpus, a tenth of them held out as the first release did."""
    pairs = np.array(shard.pairs, np.int64)
    _, held = split(pairs, 0.1, 0)
    groups = np.arange(len(shard))
    for question, answer in pairs:
        groups[answer] = groups[question]
    return TextCorpus(
        ids=tuple(shard.ids),
        texts=texts_of(shard),
        groups=groups,
        pairs=pairs,
        held=np.isin(pairs[:, 0], held[:, 0]),
        kinds=("answer of",) * len(pairs),
        vocabulary=0,
    )


def test_the_text_encoder_learns_as_in_the_first_release(
    shard: Shard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (encoder, texttrainer):  # in thirty-two bits whatever the processor
        monkeypatch.setattr(module, "precision", lambda device: nullcontext())
    training = TextTraining(batch_size=8, epochs=3, neighbours=4, projection=8, learning_rate=0.003)
    trainer = texttrainer.TextTrainer(corpus_of(shard), small_text_encoder(), training, CPU)
    progress = train(trainer, tmp_path, Resources(device=CPU, stream=io.StringIO()))
    assert [row["loss"] for row in progress.history] == pytest.approx(
        [2.0271845, 1.7875809, 1.7857103], rel=1e-4
    )
    assert progress.before == pytest.approx(
        {"mrr": 0.188492, "mrr_maxsim": 0.166667, "searched": 40}, rel=1e-4
    )
    weights = sum(float(each.detach().double().abs().sum()) for each in trainer.encoder.model.parameters())
    assert weights == pytest.approx(5079.19612, rel=1e-5)
