"""`TreeTrainer`: the common part of trainings of networks over formulas."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar

from mathamr.graphs.formulashard import FormulaLabels
from mathamr_lab.systems.formulagraph.teacher import Teacher
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.trainer import TrainingSubject, ValidationFigure

Step = TypeVar("Step")


class TreeTrainer(PlainTrainer[Step]):
    """A new network, trained on formulas; validation reports its loss, that of held-out orders, and how well formulas are found."""

    unit = "formulas"
    fused = True
    found: ClassVar[str]
    """What a validation searches for, as a column heading."""

    @property
    def measured(self) -> tuple[ValidationFigure, ...]:  # type: ignore[override]
        """The figures of a validation."""
        return (
            ValidationFigure("loss", "validation loss", loss=True),
            ValidationFigure("order", "loss of held-out orders", loss=True),
            ValidationFigure("mrr", f"MRR of {self.found}"),
        )

    def precision(self) -> AbstractContextManager[object]:
        """Return no context: the networks choose their precision themselves."""
        return nullcontext()

    def describe(
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
        """Return the formulas and the configurations in words; that of the model, `model`, includes its number of parameters."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
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
