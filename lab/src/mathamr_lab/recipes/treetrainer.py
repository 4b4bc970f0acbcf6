"""`TreeTrainer`: the common part of trainings of networks over formulas."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar

from mathamr_lab.systems.formulagraph.teacher import TreeMaterials
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.settings import FormulaTraining
from mathamr_lab.training.trainer import TrainingSubject, Validation, ValidationFigure

Step = TypeVar("Step")


class TreeTrainer(PlainTrainer[Step]):
    """A new network, trained on formulas; validation reports its loss, that of held-out orders, and how well formulas are found.

    A subclass sets the configurations of the network (`shape`, that of the model as `model`) and tells the size of a formula (`nodes`).
    """

    unit = "formulas"
    fused = True
    found: ClassVar[str]
    """What a validation searches for, as a column heading."""
    searched: ClassVar[str]
    """The same in words, behind "searches for"."""
    configuration: FormulaTraining
    materials: TreeMaterials
    shape: Mapping[str, Mapping[str, Any]]
    nodes: str

    @property
    def measured(self) -> tuple[ValidationFigure, ...]:  # type: ignore[override]
        """The figures of a validation."""
        return (
            ValidationFigure("loss", "validation loss", loss=True),
            ValidationFigure("order", "loss of held-out orders", loss=True),
            ValidationFigure("mrr", f"MRR of {self.found}"),
        )

    def validation(self, loss: float, order: float, mrr: float, searched: int) -> Validation:
        """Return these figures, weighed as the training weighs the losses."""
        worth = -self.configuration.contrast * loss - self.configuration.teacher * order
        return Validation(figures={"loss": loss, "order": order, "mrr": mrr}, searched=searched, worth=worth)

    def precision(self) -> AbstractContextManager[object]:
        """Return no context: the networks choose their precision themselves."""
        return nullcontext()

    def identity(self) -> dict[str, Any]:
        """Identify the run."""
        return {
            **self.shape,
            "training": self.configuration.to_json(),
            "materials": self.materials.fingerprint,
        }

    def subject(self) -> TrainingSubject:
        """Return the formulas and the configurations in words."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        train, held, teacher = len(self.materials.train), len(self.materials.held), self.materials.teacher
        return TrainingSubject(
            summary=f"training on {train:,} formulas, validating on {held:,}; {parameters:,} parameters",
            monitor="loss",
            validation=f"Validation searches for {self.searched}",
            data=[
                ("formulas", f"{train:,} to train on, {held:,} to validate on, each visual class once"),
                ("nodes of a formula", self.nodes),
                ("labels", f"{len(self.materials.labels):,}"),
                *([("teacher", f"{len(teacher):,} orders")] if teacher is not None else []),
            ],
            configurations={
                **self.shape,
                "model": {**self.shape["model"], "parameters": f"{parameters:,}"},
                "training": self.configuration.to_json(),
            },
        )
