"""`PlainTrainer`: minimises one loss of a network by AdamW in one process; subclasses define a step and its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.core.arrays import IntArray
from mathamr.core.tensorfile import under
from mathamr.text.encoder import precision
from mathamr_lab.training.pairs import batches as shuffled
from mathamr_lab.training.schedule import Schedule
from mathamr_lab.training.settings import TrainingConfiguration
from mathamr_lab.training.trainer import TrainingSubject, Validation, ValidationFigure

S = TypeVar("S")


class PlainTrainer(ABC, Generic[S]):
    """The trainer of one network: parameters that need a gradient are trained, all others are frozen and not stored.

    A subclass gives the number of examples, makes steps, computes their loss, validates, and saves.
    """

    unit = "examples"
    pretrained = False
    measured: Sequence[ValidationFigure] = ()

    def __init__(
        self, model: nn.Module, examples: int, configuration: TrainingConfiguration, device: torch.device
    ) -> None:
        self.model, self.device, self.configuration = model.to(device), device, configuration
        self.count, self.examples = examples, configuration.batch_size
        self.epochs = self.patience = configuration.epochs
        self.steps = len(shuffled(examples, configuration.batch_size, configuration.seed, 0))
        self.learned = {name: each for name, each in model.named_parameters() if each.requires_grad}
        self._optimiser = torch.optim.AdamW(
            list(self.learned.values()), lr=configuration.learning_rate, weight_decay=0.01
        )
        self._schedule = Schedule(configuration.epochs * self.steps, configuration.warmup)
        torch.manual_seed(configuration.seed)

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Identifies the run."""

    @abstractmethod
    def subject(self) -> TrainingSubject:
        """Describes what is trained."""

    @abstractmethod
    def step(self, batch: IntArray, epoch: int) -> S:
        """Prepares the examples of these numbers."""

    @abstractmethod
    def loss(self, step: S) -> Tensor:
        """The loss of a step."""

    @abstractmethod
    def validate(self) -> Validation | None:
        """Measures the network."""

    @abstractmethod
    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Writes the learned weights."""

    def plan(self, epoch: int) -> list[IntArray]:
        """Returns the shuffled examples of every step of an epoch."""
        return shuffled(self.count, self.configuration.batch_size, self.configuration.seed, epoch)

    def chance(self, batch: IntArray, epoch: int) -> np.random.Generator:
        """Returns random numbers that depend only on the step."""
        return np.random.default_rng([self.configuration.seed, 7, epoch, int(batch[0]), len(batch)])

    def learn(self, step: S, number: int) -> Tensor:
        """Takes one step; the loss stays on the device."""
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.rate(number, self.configuration.learning_rate)
        self._optimiser.zero_grad(set_to_none=True)
        self.model.train()
        with precision(self.device):
            loss = self.loss(step)
        torch.autograd.backward(loss)
        nn.utils.clip_grad_norm_(list(self.learned.values()), 1.0)
        self._optimiser.step()
        return loss.detach().float()

    def figures(self, number: int) -> dict[str, float]:
        """Returns the rate."""
        return {"rate": self._schedule.rate(number, self.configuration.learning_rate)}

    def state(self) -> dict[str, Tensor]:
        """Returns the learned weights, the moments of the optimiser, and the random states."""
        state: dict[str, Tensor] = {f"model.{name}": each for name, each in self.learned.items()}
        for name, parameter in self.learned.items():
            for kind, value in self._optimiser.state.get(parameter, {}).items():
                state[f"optimiser.{kind}.{name}"] = torch.as_tensor(value)
        state["chance.0"] = torch.get_rng_state()
        if self.device.type == "cuda":
            state["chance.1"] = torch.cuda.get_rng_state(self.device)
        return {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        with torch.no_grad():
            for name, value in under(state, "model.").items():
                self.learned[name].copy_(value)
        for name, parameter in self.learned.items():
            moments: dict[str, Any] = {}
            for kind in ("step", "exp_avg", "exp_avg_sq"):
                kept = state.get(f"optimiser.{kind}.{name}")
                if kept is not None:
                    moments[kind] = kept.to("cpu" if kind == "step" else self.device)
            if moments:
                self._optimiser.state[parameter] = moments
        torch.set_rng_state(state["chance.0"].cpu())
        if self.device.type == "cuda" and "chance.1" in state:
            torch.cuda.set_rng_state(state["chance.1"].cpu(), self.device)
