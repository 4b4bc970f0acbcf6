"""`TreeTrainer`: the common part of trainings of networks over formulas: descent, state, and reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from torch import Tensor, nn

from mathamr.graphs.formulashard import FormulaLabels
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.training.descent import Descent
from mathamr_lab.training.schedule import Schedule
from mathamr_lab.training.settings import FormulaTraining
from mathamr_lab.training.trainer import TrainingSubject, ValidationFigure

Step = TypeVar("Step")


class TreeTrainer(ABC, Generic[Step]):
    """A new network, trained on formulas; validation reports its loss, that of held-out orders, and how well formulas are found."""

    unit = "formulas"
    pretrained = False
    found: ClassVar[str]
    """What a validation searches for, as a column heading."""
    descent: Descent

    @property
    def measured(self) -> tuple[ValidationFigure, ...]:
        """The figures of a validation."""
        return (
            ValidationFigure("loss", "validation loss", loss=True),
            ValidationFigure("order", "loss of held-out orders", loss=True),
            ValidationFigure("mrr", f"MRR of {self.found}"),
        )

    def descend(self, network: nn.Module, configuration: FormulaTraining, steps: int) -> None:
        """Sets the length and rate of the training; `steps` are those of an epoch."""
        self.epochs = self.patience = configuration.epochs
        self.examples, self.steps = configuration.batch_size, steps
        self.descent = Descent(
            network,
            Schedule(steps * configuration.epochs, configuration.warmup),
            rate=configuration.learning_rate,
            minimum=configuration.minimum_rate,
            weight_decay=configuration.weight_decay,
            clip=configuration.clip,
        )

    @abstractmethod
    def _loss(self, step: Step) -> Tensor: ...

    def learn(self, step: Step, number: int) -> Tensor:
        """Takes one step."""
        self.descent.model.train()
        return self.descent.step(self._loss(step), number)

    def figures(self, number: int) -> dict[str, float]:
        """The rate."""
        return {"rate": self.descent.rate(number)}

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on."""
        return self.descent.state()

    def use_state(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        self.descent.use_state(state)

    def described(
        self,
        train: int,
        held: int,
        *,
        nodes: str,
        labels: FormulaLabels,
        teacher: Teacher | None,
        validation: str,
        configurations: Mapping[str, Mapping[str, Any]],
    ) -> TrainingSubject:
        """Returns the formulas and the configurations in words; that of the model, `model`, includes its number of parameters."""
        parameters = sum(parameter.numel() for parameter in self.descent.model.parameters())
        return TrainingSubject(
            summary=f"training on {train:,} formulas, validating on {held:,}; {parameters:,} parameters",
            monitor="loss",
            validation=validation,
            data=[
                ("formulas", f"{train:,} to train on, {held:,} to validate on, each visual class once"),
                ("nodes of a formula", nodes),
                ("labels", f"{len(labels):,}"),
                *([("teacher", f"{len(teacher):,} orders")] if teacher is not None else []),
            ],
            configurations={
                **configurations,
                "model": {**configurations["model"], "parameters": f"{parameters:,}"},
            },
        )
