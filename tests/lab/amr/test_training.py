"""The parser's training keeps the loop's contract, and takes the steps of a plain loop whose weights are averaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mathamr_lab.amr.fit import AVERAGE, WEIGHT, ParserTrainer, ParserTraining, Reader
from mathamr_lab.training.plain import LEARNED, use_learned
from tests.lab.training.contract import check_trainer, run

EPOCHS, STEPS, RATE, SEED = 3, 4, 0.05, 1


class Stub(nn.Module):
    """What a `Reader` is to its trainer: shares of layers, a network, and losses by name."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.tensor([0.3, 0.7]))
        self.network = nn.Linear(2, 2)
        self.frozen = nn.Linear(2, 2).requires_grad_(False)

    def forward(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        found = self.network(batch["x"] * self.mix)
        return {"tag": (found - 3).pow(2).mean(), "head": found.abs().sum()}


def stub() -> Reader:
    torch.manual_seed(4)
    return cast(Reader, Stub())


BATCHES = [
    {"x": torch.from_numpy(np.random.default_rng(n).normal(size=(5, 2)).astype(np.float32))} for n in range(6)
]


def trainer() -> ParserTrainer:
    configuration = ParserTraining(batch_size=5, epochs=EPOCHS, steps=STEPS, learning_rate=RATE, seed=SEED)
    return ParserTrainer(stub(), BATCHES, configuration, "none")


def test_a_stopped_training_of_the_parser_goes_on_as_if_it_had_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_trainer(trainer, tmp_path, monkeypatch)


def test_its_weights_are_those_of_a_plain_loop_averaged(tmp_path: Path) -> None:
    expected = stub()
    trained = [*expected.network.parameters(), expected.mix]
    averaged = [each.detach().clone() for each in trained]
    optimiser = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    random, steps = np.random.default_rng(SEED), EPOCHS * STEPS
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / 100) * max(0.01, 1 - step / steps)
        losses: dict[str, Any] = expected(BATCHES[random.integers(len(BATCHES))])
        loss = sum(WEIGHT[part] * value for part, value in losses.items())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        with torch.no_grad():
            for kept, new in zip(averaged, trained, strict=True):
                kept.lerp_(new, 1 - min(AVERAGE, (step + 1) / (step + 10)))
    progress, _ = run(trainer(), tmp_path / "parser")
    assert progress.done
    assert len(progress.history) == EPOCHS
    assert {"tag", "head", "rate"} <= progress.history[-1].keys()
    found = stub()
    use_learned(found, tmp_path / "parser" / LEARNED)
    for ours, theirs, last in zip([*found.network.parameters(), found.mix], averaged, trained, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-7, rtol=1e-6)
        assert not torch.equal(theirs, last)
