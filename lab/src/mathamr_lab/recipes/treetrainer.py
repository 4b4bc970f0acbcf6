"""`TreeTrainer`: the common part of trainings of networks over formulas."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar

from mathamr_lab.systems.formulagraph.teacher import TreeMaterials
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.settings import FormulaTraining
from mathamr_lab.training.trainer import Validation, ValidationFigure

Step = TypeVar("Step")


class TreeTrainer(PlainTrainer[Step]):
    """A new network, trained on formulas; validation reports its loss, that of held-out orders, and how well formulas are found.

    A subclass sets the configurations of the network (`shape`).
    """

    unit = "formulas"
    fused = True
    found: ClassVar[str]
    """What a validation searches for, as a column heading."""
    configuration: FormulaTraining
    materials: TreeMaterials
    shape: Mapping[str, Mapping[str, Any]]

    @property
    def measured(self) -> tuple[ValidationFigure, ...]:  # type: ignore[override]
        """The figures of a validation."""
        return (
            ValidationFigure("loss", "validation loss", loss=True),
            ValidationFigure("order", "loss of held-out orders", loss=True),
            ValidationFigure("near", "loss of held-out near formulas", loss=True),
            ValidationFigure("mrr", f"MRR of {self.found}"),
        )

    def validation(self, losses: Mapping[str, float], mrr: float, searched: int) -> Validation:
        """Return these figures, weighed as the training weighs the losses."""
        own = self.configuration
        weights = {"loss": own.contrast, "order": own.teacher, "near": own.near}
        worth = -sum(weight * losses[name] for name, weight in weights.items())
        return Validation(figures={**losses, "mrr": mrr}, searched=searched, worth=worth)

    def tried(self, size: int) -> list[int]:
        """Return how many formulas of a step of this size are tried: shares of it, since graphs differ in size."""
        return sorted({max(2, size // share) for share in (8, 4, 2)})

    def precision(self) -> AbstractContextManager[object]:
        """Return no context: the networks choose their precision themselves."""
        return nullcontext()

    def identity(self) -> dict[str, Any]:
        """Return what identifies the run."""
        return {
            **self.shape,
            "training": self.configuration.to_json(),
            "materials": self.materials.fingerprint,
        }

    @property
    def summary(self) -> str:
        """One line on the formulas and the network."""
        known = self.materials
        train, held, labels = len(known.train), len(known.held), len(known.labels)
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        return f"training on {train:,} formulas of {labels:,} labels, validating on {held:,}; {parameters:,} parameters"
