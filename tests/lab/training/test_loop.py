from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.systems.mathamrplus.configuration import MODELS
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr_lab.systems.mathamrplus.graph.configuration import TRAININGS, GraphTraining
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from mathamr_lab.training.checkpoint import TrainingProgress
from mathamr_lab.training.loop import train
from mathamr_lab.training.resources import Resources
from tests.lab.training.conftest import small_shard

SMALL = replace(TRAININGS["small"], batch_size=8, epochs=3, patience=5)
CPU = torch.device("cpu")
MODEL = replace(MODELS["small"], dropout=0.1)


def run(
    shard: Shard, out: Path, training: GraphTraining = SMALL, *, threads: int = 0, fresh: bool = False
) -> tuple[TrainingProgress, str]:
    stream = io.StringIO()
    trainer = GraphTrainer(shard, MODEL, training, CPU)
    resources = Resources(device=CPU, threads=threads, stream=stream)
    return train(trainer, out, resources, fresh=fresh), stream.getvalue()


def without_times(progress: TrainingProgress) -> list[dict[str, object]]:
    return [
        {name: value for name, value in row.items() if name not in ("seconds", "training_seconds", "memory")}
        for row in progress.history
    ]


def test_training_learns_to_find_answers_it_has_not_seen(tmp_path: Path) -> None:
    training = replace(TRAININGS["small"], validation=0.2, epochs=4)
    trainer = GraphTrainer(small_shard(300), MODELS["small"], training, CPU)
    progress = train(trainer, tmp_path, Resources(device=CPU, threads=0, stream=io.StringIO()))
    first, last = progress.history[0], progress.history[-1]
    assert last["loss"] < 0.8 * first["loss"]
    assert last["validation"]["loss"] < first["validation"]["loss"]
    assert last["validation"]["recall"] > 0.5  # by chance 10 of 60, that is 0.17
    assert last["validation"]["mrr"] > first["validation"]["mrr"]


def test_the_folder_holds_a_model_and_a_card(shard: Shard, tmp_path: Path) -> None:
    progress, log = run(shard, tmp_path)
    encoder = GraphEncoder.load(tmp_path, "cpu")
    assert len(list(encoder.encode([shard[0]]))) == 1
    card = (tmp_path / "README.md").read_text()
    for words in (
        "# Training card",
        "training on 36 pairs, validating on 4",
        "| learning_rate | 0.003 |",
        "torch",
    ):
        assert words in card
    assert f"best epoch {progress.best_epoch} of 3" in log
    assert "validation" in log


def test_a_finished_run_is_not_done_again(shard: Shard, tmp_path: Path) -> None:
    before, _ = run(shard, tmp_path)
    weights = (tmp_path / "weights.safetensors").read_bytes()
    after, log = run(shard, tmp_path)
    assert without_times(after) == without_times(before)
    assert "done: best epoch" in log
    assert (tmp_path / "weights.safetensors").read_bytes() == weights
    # What is done needs no state to go on from.
    assert not load_file(tmp_path / "checkpoint.safetensors")


def test_a_checkpoint_of_another_run_is_refused_unless_fresh(shard: Shard, tmp_path: Path) -> None:
    run(shard, tmp_path, replace(SMALL, epochs=1))
    with pytest.raises(MathAMRError, match="belongs to another run: other training"):
        run(shard, tmp_path, replace(SMALL, epochs=1, seed=1))
    with pytest.raises(MathAMRError, match="other materials"):
        run(small_shard(41), tmp_path, replace(SMALL, epochs=1))
    progress, _ = run(shard, tmp_path, replace(SMALL, epochs=1, seed=1), fresh=True)
    assert progress.done


def test_a_damaged_checkpoint_is_refused(shard: Shard, tmp_path: Path) -> None:
    run(shard, tmp_path, replace(SMALL, epochs=1))
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(MathAMRError, match="not a safetensors file, or it is damaged"):
        run(shard, tmp_path, replace(SMALL, epochs=1))


def test_training_stops_early_when_nothing_gets_better(shard: Shard, tmp_path: Path) -> None:
    training = replace(SMALL, epochs=9, patience=2, learning_rate=0.0, minimum_rate=0.0)
    progress, log = run(shard, tmp_path, training)
    assert progress.epoch == 3
    assert progress.best_epoch == 1
    assert "stopping early: no better for 2 epochs" in log


def test_a_loss_that_is_no_number_ends_the_run_with_a_word(
    shard: Shard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GraphTrainer, "learn", lambda self, step, number: torch.tensor(torch.nan))
    with pytest.raises(MathAMRError, match="the loss is no longer a number in epoch 1, step 1"):
        run(shard, tmp_path)
