"""`Trainer`: the interface between the loop and a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from torch import Tensor

B = TypeVar("B")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class ValidationFigure:
    """One figure of every validation: its name in the history, its heading in lines and cards, and whether it is a loss.

    A figure that is not a loss is from 0 to 1.
    """

    name: str
    heading: str
    loss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The quality of a network: figures by name, the number of searched items, and the one number to maximise."""

    figures: Mapping[str, float]
    searched: int
    worth: float

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form for the history."""
        return {**self.figures, "searched": self.searched}


class Trainer(Protocol[B, S]):
    """A network, its training data, and its training: one step at a time.

    The loop calls `plan` for an epoch, has its steps prefetched in threads, learns them in order, validates after
    every epoch, and saves the best. A stopped run continues from `state` with the same numbers, so everything
    that the next step depends on belongs to the state, including a plan that was made with weights of an earlier step.
    """

    epochs: int
    patience: int
    """The number of epochs without improvement after which training stops."""
    steps: int
    """The number of steps in an epoch."""
    examples: int
    """The number of examples in a full step, in the unit of `unit`."""
    unit: str
    pretrained: bool
    """True if the network is pretrained: it is then validated before training."""

    @property
    def measured(self) -> Sequence[ValidationFigure]:
        """The figures of a validation."""
        ...

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run, its configurations by name: a checkpoint of another run is refused, with the
        difference.
        """
        ...

    @property
    def summary(self) -> str:
        """One line on what is trained, on what and how large it is: for the start of a run and its card."""
        ...

    def plan(self, epoch: int) -> Sequence[B]:
        """Return the batches of an epoch, in order."""
        ...

    def step(self, batch: B, epoch: int) -> S:
        """Prepare a batch to learn from; called in prefetching threads."""
        ...

    def learn(self, step: S, number: int) -> Tensor:
        """Take step `number`, counted over all epochs; the loss may stay on the device, so that nothing waits for it."""
        ...

    def figures(self, number: int) -> dict[str, float]:
        """Return figures of the training itself after this many steps, such as the temperature, by name."""
        ...

    def validate(self) -> Validation | None:
        """Measure the network; None if there is nothing to validate on."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Return everything that the next step depends on."""
        ...

    def use_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state` returned."""
        ...

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write the current network; `about` says which epoch it is from and how good it is."""
        ...
