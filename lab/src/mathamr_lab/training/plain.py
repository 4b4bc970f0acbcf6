"""`PlainTrainer`: minimises one loss of a network in one process; subclasses define a step and its loss."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from mathamr.core.arrays import IntArray
from mathamr.core.tensorfile import read_tensors, tensor_bytes, under
from mathamr.text.encoder import precision
from mathamr_lab.training.checkpoint import random_states, use_random_states
from mathamr_lab.training.estimate import StepEstimate, fitted, measured
from mathamr_lab.training.optimiser import Optimiser, ParameterGroup, Schedule
from mathamr_lab.training.pairs import batches as shuffled
from mathamr_lab.training.settings import TrainingConfiguration
from mathamr_lab.training.trainer import Validation, ValidationFigure

LEARNED = "learned.safetensors"
S = TypeVar("S")


class PlainTrainer(ABC, Generic[S]):
    """The trainer of one network: parameters that need a gradient are trained, all others are frozen and not stored.

    A subclass gives the number of examples, makes steps, computes their loss, validates, and saves. One with `divides`
    computes a step in `parts`, by `in_parts`, with the loss and the gradients of the whole step.
    """

    unit = "examples"
    divides = False
    parts = 1
    compared = math.inf
    """The most bytes that comparing the examples of a step with each other takes, however many they are."""
    pretrained = False
    fused = False
    measured: Sequence[ValidationFigure] = ()

    def __init__(
        self, model: nn.Module, examples: int, configuration: TrainingConfiguration, device: torch.device
    ) -> None:
        self.model, self.device, self.configuration = model.to(device), device, configuration
        self.count, self.examples = examples, min(examples, configuration.batch_size)
        self.epochs = self.patience = configuration.epochs
        self.steps = len(self.plan(0))
        self.learned = {name: each for name, each in model.named_parameters() if each.requires_grad}
        group = ParameterGroup(
            parameters=self.learned,
            rate=configuration.learning_rate,
            minimum_rate=configuration.minimum_rate,
            weight_decay=configuration.weight_decay,
        )
        self.optimiser = Optimiser([group], self.schedule(), clip=configuration.clip, fused=self.fused)
        torch.manual_seed(configuration.seed)

    def schedule(self) -> Schedule:
        """Return the rates of all steps."""
        return Schedule(self.configuration.epochs * self.steps, self.configuration.warmup)

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """One line on what is trained."""

    @abstractmethod
    def step(self, batch: Any, epoch: int) -> S:
        """Prepare a batch of the plan."""

    @abstractmethod
    def loss(self, step: S) -> Tensor:
        """Return the loss of a step."""

    @abstractmethod
    def validate(self) -> Validation | None:
        """Measure the network."""

    @abstractmethod
    def first(self, count: int, epoch: int) -> S:
        """Return the first examples of an epoch's first step, as wide as the whole step."""

    def estimate(self, epoch: int) -> StepEstimate:
        """Estimate a step by the first examples of an epoch; nothing is learned from them."""
        size = self.examples
        buffers = {name: each.clone() for name, each in self.model.named_buffers()}
        states = random_states(self.device)
        tried = {
            count: measured(lambda count=count: self._try(self.first(count, epoch)), self.device)  # type: ignore[misc]
            for count in self.tried(size)
        }
        for name, each in self.model.named_buffers():
            each.copy_(buffers[name])
        use_random_states(states, self.device)
        level, line, square, seconds = fitted(tried, size)
        moments = 2 * sum(each.nbytes for each in self.learned.values())
        shared = moments + level + min(square, self.compared)
        return StepEstimate(
            shared=shared if self.divides else shared + line,
            divided=line if self.divides else 0.0,
            seconds=seconds,
            fewer=f"a batch_size below {size}",
            most_parts=size if self.divides else 1,
        )

    def tried(self, size: int) -> list[int]:
        """Return how many examples of a step of this size are tried: few, since all are as wide as the widest."""
        return [count for count in (2, 3, 4) if count <= size] or [size]

    def _try(self, step: S) -> None:
        self.model.train()
        with self.precision():
            loss = self.loss(step)
        torch.autograd.backward(loss)
        for each in self.learned.values():
            each.grad = None

    def in_parts(self, encode: Callable[..., Tensor], *rows: Tensor) -> Tensor:
        """Return what `encode` makes of rows, the same rows of several tensors, one part at a time.

        Only one part's way to its result is in memory: it is computed again, with the same random numbers, for the gradient.
        """
        if self.parts == 1 or not torch.is_grad_enabled():
            return encode(*rows)
        size = -(-len(rows[0]) // self.parts)
        cut = zip(*(torch.split(each, size) for each in rows), strict=True)
        return torch.cat([checkpoint(encode, *each, use_reentrant=False) for each in cut])

    def plan(self, epoch: int) -> Sequence[Any]:
        """Return the shuffled numbers of the examples of every step of an epoch."""
        return shuffled(self.count, self.configuration.batch_size, self.configuration.seed, epoch)

    def chance(self, batch: IntArray, epoch: int) -> np.random.Generator:
        """Return random numbers that depend only on the step."""
        return np.random.default_rng([self.configuration.seed, 7, epoch, int(batch[0]), len(batch)])

    def precision(self) -> AbstractContextManager[object]:
        """Return the context in which the loss is computed: sixteen bits on a GPU."""
        return precision(self.device)

    def learn(self, step: S, number: int) -> Tensor:
        """Take one step; the loss stays on the device."""
        self.model.train()
        with self.precision():
            loss = self.loss(step)
        return self.optimiser.minimise(loss, number).float()

    def figures(self, number: int) -> dict[str, float]:
        """Return the rate."""
        return {"rate": self.optimiser.rate(number)}

    def save(self, folder: Path, _about: dict[str, Any]) -> None:
        """Write the learned weights, for `use_learned`."""
        stored = {name: each.detach().cpu() for name, each in self.learned.items()}
        (folder / LEARNED).write_bytes(tensor_bytes(stored))

    def state(self) -> dict[str, Tensor]:
        """Return what is learned, the moments of the optimiser, and the random states."""
        buffers = {name for name, _ in self.model.named_buffers()}
        state = {
            f"model.{name}": tensor
            for name, tensor in self.model.state_dict().items()
            if name in self.learned or name in buffers
        }
        state |= self.optimiser.state() | random_states(self.device)
        return {name: tensor.detach().clone().contiguous() for name, tensor in state.items()}

    def use_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        self.model.load_state_dict(under(state, "model."), strict=False)
        self.optimiser.use_state(state)
        use_random_states(state, self.device)


def use_learned(network: nn.Module, path: Path, prefix: str = "") -> None:
    """Copy the weights that a training saved into the part of a network whose names begin with `prefix`; weights that the
    network lacks are left out.
    """
    parameters = dict(network.named_parameters())
    with torch.no_grad():
        for name, value in read_tensors(path).items():
            own = f"{prefix}{name.removeprefix('base.')}"
            if own in parameters:
                parameters[own].copy_(value)
