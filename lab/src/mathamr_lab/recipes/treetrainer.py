"""`TreeTrainer`: the common part of trainings of networks over formulas: what is compared with what, and what a teacher knows of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray
from mathamr_lab.systems.formulagraph.losses import near_loss, order_loss
from mathamr_lab.systems.formulagraph.teacher import FormulaChoice, TreeMaterials
from mathamr_lab.training.plain import PlainTrainer
from mathamr_lab.training.settings import FormulaTraining
from mathamr_lab.training.trainer import Validation, ValidationFigure

Graphs = TypeVar("Graphs")
Pairs = TypeVar("Pairs")


class TaughtGraphs(NamedTuple, Generic[Graphs]):
    """Graphs that a teacher ordered: the places of the anchors and of the candidates of each among them, and the scores of these."""

    graphs: Graphs
    anchors: Tensor
    candidates: Tensor
    scores: Tensor


class NearGraphs(NamedTuple, Generic[Graphs]):
    """Masked graphs, those near to them, the place of the near one of each, and which others are near too."""

    ours: Graphs
    theirs: Graphs
    places: Tensor
    is_near: Tensor


class TreeStep(NamedTuple, Generic[Graphs, Pairs]):
    """What is told apart in a step, the graphs that a teacher ordered, and near ones."""

    pairs: Pairs | None
    taught: TaughtGraphs[Graphs] | None
    near: NearGraphs[Graphs] | None


class TreeTrainer(PlainTrainer[TreeStep[Graphs, Pairs]], Generic[Graphs, Pairs]):
    """A new network, trained on formulas; validation reports its loss, that of held-out orders, and how well formulas are found.

    A subclass makes graphs of formulas and compares them, and sets the configurations of the network (`shape`).
    """

    unit = "formulas"
    fused = True
    found: ClassVar[str]
    """What a validation searches for, as a column heading."""
    configuration: FormulaTraining
    materials: TreeMaterials
    shape: Mapping[str, Mapping[str, Any]]

    @abstractmethod
    def plan(self, epoch: int) -> list[FormulaChoice]:
        """Return the formulas of every batch, shuffled."""

    @abstractmethod
    def _pairs_of(self, batch: FormulaChoice, generator: np.random.Generator) -> Pairs:
        """Return the pairs of graphs that belong together, drawn for this epoch."""

    @abstractmethod
    def _contrast(self, pairs: Pairs) -> Tensor:
        """Return the loss of telling such pairs apart."""

    @abstractmethod
    def _whole(self, formulas: AnyArray) -> Graphs:
        """Return the complete graphs of formulas."""

    @abstractmethod
    def _masked(self, formulas: AnyArray, generator: np.random.Generator) -> Graphs:
        """Return the graphs of formulas, a share of their labels hidden."""

    @abstractmethod
    def _order_scores(self, taught: TaughtGraphs[Graphs]) -> Iterable[Tensor]:
        """Yield the scores of candidates for anchors, once for each view."""

    @abstractmethod
    def _near_scores(self, near: NearGraphs[Graphs]) -> Iterable[Tensor]:
        """Yield the scores of theirs (columns) for ours by what a search compares, once for each view."""

    def step(self, batch: FormulaChoice, epoch: int) -> TreeStep[Graphs, Pairs]:
        """Return what the losses compare, drawn for this epoch."""
        generator = np.random.default_rng([self.configuration.seed, 2, epoch, batch.number])
        pairs = self._pairs_of(batch, generator) if self.configuration.contrast else None
        return TreeStep(pairs, self._taught(batch), self._near(batch, generator))

    def first(self, count: int, epoch: int) -> TreeStep[Graphs, Pairs]:
        """Return the first formulas of an epoch's first batch."""
        return self.step(self.plan(epoch)[0].first(count), epoch)

    def _taught(self, batch: FormulaChoice) -> TaughtGraphs[Graphs] | None:
        teacher = self.materials.teacher
        if teacher is None or not len(batch.orders):
            return None
        formulas, *others = teacher.taught(batch.orders)
        return TaughtGraphs(
            self._whole(formulas), *(torch.from_numpy(each).to(self.device) for each in others)
        )

    def _near(self, batch: FormulaChoice, generator: np.random.Generator) -> NearGraphs[Graphs] | None:
        teacher = self.materials.teacher
        if teacher is None or not len(batch.near):
            return None
        ours, theirs, *others = teacher.draw_near(batch.near, self.configuration.nearest, generator)
        graphs = self._masked(ours, generator), self._whole(theirs)
        return NearGraphs(*graphs, *(torch.from_numpy(each).to(self.device) for each in others))

    def loss(self, step: TreeStep[Graphs, Pairs]) -> Tensor:
        """Return the loss of the pairs, of the orders that a teacher gives, and of finding near formulas."""
        own, losses = self.configuration, []
        if step.pairs is not None:
            losses.append(own.contrast * self._contrast(step.pairs))
        if step.taught is not None:
            losses.append(own.teacher * self._order_loss(step.taught))
        if step.near is not None:
            losses.append(own.near * self._near_loss(step.near))
        return torch.stack(losses).sum()

    def _order_loss(self, taught: TaughtGraphs[Graphs]) -> Tensor:
        temperature = self.configuration.teacher_temperature
        scores = self._order_scores(taught)
        return torch.stack([order_loss(each, taught.scores, temperature) for each in scores]).mean()

    def _near_loss(self, near: NearGraphs[Graphs]) -> Tensor:
        """Return the mean over the views of the loss of finding near formulas."""
        temperature, scores = self.configuration.near_temperature, self._near_scores(near)
        return torch.stack(
            [near_loss(each, near.places, near.is_near, temperature) for each in scores]
        ).mean()

    @property
    def measured(self) -> tuple[ValidationFigure, ...]:  # type: ignore[override]
        """The figures of a validation."""
        return (
            ValidationFigure("loss", "validation loss", loss=True),
            ValidationFigure("order", "loss of held-out orders", loss=True),
            ValidationFigure("near", "loss of held-out near formulas", loss=True),
            ValidationFigure("mrr", f"MRR of {self.found}"),
        )

    def validation(
        self, loss: float, mrr: float, searched: int, generator: np.random.Generator
    ) -> Validation:
        """Return the loss of held-out pairs with those of held-out orders and near formulas, weighed as the training weighs them."""
        own, held = self.configuration, self.materials.held_orders()
        taught, near = self._taught(held), self._near(held, generator)
        losses = {
            "loss": loss,
            "order": 0.0 if taught is None else float(self._order_loss(taught)),
            "near": 0.0 if near is None else float(self._near_loss(near)),
        }
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
