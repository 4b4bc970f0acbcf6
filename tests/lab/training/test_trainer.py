"""The loop trains whatever stands behind `Trainer`: here a line through points, which is no network of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from mathamr.core.arrays import IntArray
from mathamr.core.tensorfile import tensor_bytes
from mathamr_lab.training.pairs import batches
from mathamr_lab.training.trainer import Validation, ValidationFigure
from tests.lab.training.contract import check_trainer, run


class Line:
    """y = 3x + 1, learned by plain descent with some noise of chance in every step."""

    summary = "a line through 20 points"
    epochs, patience, steps, examples, unit, pretrained = 4, 2, 5, 4, "points", True
    measured = (ValidationFigure("error", "error", loss=True),)

    def __init__(self) -> None:
        torch.manual_seed(3)
        self.x = torch.linspace(-1, 1, 20)
        self.weights = torch.zeros(2)
        self.saved: list[dict[str, Any]] = []

    def identity(self) -> dict[str, Any]:
        return {"points": len(self.x), "line": {"slope": 3}}

    def plan(self, epoch: int) -> list[IntArray]:
        return batches(20, 4, 0, epoch)

    def step(self, batch: IntArray, epoch: int) -> Tensor:
        return self.x[torch.from_numpy(batch)]

    def learn(self, step: Tensor, number: int) -> Tensor:
        error = self.weights[0] * step + self.weights[1] - (3 * step + 1) + 0.01 * torch.randn(len(step))
        self.weights -= 0.3 * torch.stack([(error * step).mean(), error.mean()])
        return (error**2).mean()

    def figures(self, number: int) -> dict[str, float]:
        return {"slope": float(self.weights[0])}

    def validate(self) -> Validation:
        error = float((self.weights - torch.tensor([3.0, 1.0])).abs().sum())
        return Validation(figures={"error": error}, searched=20, worth=-error)

    def state(self) -> dict[str, Tensor]:
        return {"weights": self.weights.clone(), "chance": torch.get_rng_state()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        self.weights = state["weights"].clone()
        torch.set_rng_state(state["chance"])

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        self.saved.append(about)
        (folder / "line.safetensors").write_bytes(tensor_bytes({"weights": self.weights}))


def test_a_trainer_that_is_no_network_of_ours_holds_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_trainer(Line, tmp_path, monkeypatch)


def test_the_value_before_training_and_every_figure_are_reported(tmp_path: Path) -> None:
    line = Line()
    progress, log = run(line, tmp_path)
    assert progress.before == {"error": 4.0, "searched": 20}
    assert log.startswith("a line through 20 points, cpu\nbefore training: error 4.0000 among 20\n")
    assert progress.history[-1]["validation"]["error"] < 1
    assert [about["best"]["epoch"] for about in line.saved] == [1, 2, 3, 4]
    card = (tmp_path / "README.md").read_text()
    assert "| epoch | loss | error | slope | seconds | GiB |" in card
    assert "| before | – | 4.0000 | – | – | – |" in card
    assert "| line |  |\n| --- | --- |\n| slope | 3 |" in card


def test_the_contract_finds_a_state_that_forgets_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(Line):
        def state(self) -> dict[str, Tensor]:
            return {"weights": self.weights.clone(), "chance": torch.zeros(0)}

        def use_state(self, state: dict[str, Tensor]) -> None:
            self.weights = state["weights"].clone()

    with pytest.raises(AssertionError):
        check_trainer(Forgetful, tmp_path, monkeypatch)
