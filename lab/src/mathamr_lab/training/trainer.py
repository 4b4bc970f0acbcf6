"""`Trainer`: all that the loop knows of a network that learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from torch import Tensor

B = TypeVar("B")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class ValidationFigure:
    """One figure of every validation: its name in the history, its heading in lines and cards, and if it is a loss.

    A figure that is no loss is from 0 to 1.
    """

    name: str
    heading: str
    loss: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What a network is worth: figures by name, among how many things it searched, and the one number to raise."""

    figures: Mapping[str, float]
    searched: int
    worth: float

    def to_json(self) -> dict[str, Any]:
        """For the history."""
        return {**self.figures, "searched": self.searched}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSubject:
    """What is trained, on what and how, in words: for the first lines of a run and for its card.

    `validation` is a sentence on what a validation does; `monitor` names what the best epoch is chosen by.
    """

    summary: str
    monitor: str
    validation: str
    data: Sequence[tuple[str, str]]
    configurations: Mapping[str, Mapping[str, Any]]
    notes: Sequence[str] = field(default=())


class Trainer(Protocol[B, S]):
    """A network, what it learns from, and how: one step at a time.

    The loop asks for the plan of an epoch, has its steps made ahead in threads, learns them in order, validates after
    every epoch, and saves the best. A run that was stopped goes on from `state` to the same numbers, so that whatever
    the next step depends on belongs to the state, also a plan that was made with weights of an earlier step.
    """

    epochs: int
    patience: int
    """Epochs without getting better after which training stops."""
    steps: int
    """Steps of an epoch."""
    examples: int
    """Examples of a full step, over all processes, in the unit of `unit`."""
    unit: str
    pretrained: bool
    """Whether the network is worth something before it is trained here: it is validated first, then."""

    @property
    def measured(self) -> Sequence[ValidationFigure]:
        """The figures of a validation."""
        ...

    def identity(self) -> dict[str, Any]:
        """Which run this is: a checkpoint of another one is refused, and what differs is named."""
        ...

    def subject(self) -> TrainingSubject:
        """What is trained."""
        ...

    def plan(self, epoch: int) -> Sequence[B]:
        """The batches of an epoch, in order."""
        ...

    def step(self, batch: B, epoch: int) -> S:
        """A batch made ready to learn from; called ahead, in threads."""
        ...

    def learn(self, step: S, number: int) -> Tensor:
        """Takes step `number` of all; the loss may stay on the device, so that nothing has to wait for it."""
        ...

    def figures(self, number: int) -> dict[str, float]:
        """Figures of the training itself after so many steps, such as the temperature, by name."""
        ...

    def validate(self) -> Validation | None:
        """What the network is worth now; None where there is nothing to tell it by."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on."""
        ...

    def use_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        ...

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Writes the network as it is now; `about` says of which epoch it is and what it is worth."""
        ...
