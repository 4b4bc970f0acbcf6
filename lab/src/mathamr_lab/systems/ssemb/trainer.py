"""`StructTrainer`: StructEmb learns which two views belong to one formula (SSEmb, section 2.1.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray
from mathamr.graphs.formulashard import FormulaLabels, FormulaShard
from mathamr.systems.ssemb.graphs import OperatorGraphs
from mathamr.systems.ssemb.network import GraphNumbers, StructEmb, StructEmbConfiguration
from mathamr.systems.ssemb.system import SsembSystem
from mathamr_lab.recipes.treetrainer import TreeTrainer
from mathamr_lab.systems.formulagraph.losses import near_loss, order_loss
from mathamr_lab.systems.formulagraph.renaming import Renaming
from mathamr_lab.systems.formulagraph.start import share_start
from mathamr_lab.systems.formulagraph.teacher import (
    FormulaChoice,
    Teacher,
    TreeMaterials,
    choose,
    split_formulas,
)
from mathamr_lab.systems.ssemb.augmentation import AugmentationConfiguration, view
from mathamr_lab.systems.ssemb.configuration import StructTraining
from mathamr_lab.training.losses import info_nce
from mathamr_lab.training.trainer import Validation


@dataclass(frozen=True, eq=False, kw_only=True)
class StructMaterials(TreeMaterials):
    """The operator graphs of a shard's formulas."""

    graphs: OperatorGraphs

    @classmethod
    def of(
        cls, shard: FormulaShard, configuration: StructTraining, teacher: Teacher | None
    ) -> StructMaterials:
        """Take formulas with enough nodes; labels that are rare in operator trees count as their type."""
        counts = np.bincount(shard.opt.labels, minlength=len(shard.labels)).tolist()
        frequent = dict(zip(shard.labels.labels, counts, strict=True))
        own = shard.renumbered(FormulaLabels.of_counts(frequent, configuration.rare))
        graphs = OperatorGraphs.of_numbers(own.opt, shard.opt.labels)
        usable = np.flatnonzero(np.diff(graphs.node_starts) >= configuration.smallest)
        train, held = split_formulas(usable, configuration, teacher)
        taught = teacher.checked(len(shard)) if teacher is not None and configuration.is_taught else None
        return cls(labels=own.labels, graphs=graphs, teacher=taught, train=np.sort(train), held=np.sort(held))

    @property
    def arrays(self) -> list[AnyArray]:
        """The operator graphs."""
        return [self.graphs.labels, self.graphs.sources, self.graphs.targets]


class StructViews(NamedTuple):
    """Two views of the same formulas."""

    one: GraphNumbers
    other: GraphNumbers


class NearStructures(NamedTuple):
    """Masked graphs, those near to them, the place of the near one of each, and which others are near too."""

    ours: GraphNumbers
    theirs: GraphNumbers
    places: Tensor
    is_near: Tensor


class StructStep(NamedTuple):
    """Two views of the same formulas; the graphs that a teacher ordered, by their places, with their scores; and near ones."""

    views: StructViews | None
    taught: tuple[GraphNumbers, Tensor, Tensor, Tensor] | None
    near: NearStructures | None


class StructTrainer(TreeTrainer[StructStep]):
    """Trains StructEmb on formulas."""

    found = "own view"
    configuration: StructTraining
    materials: StructMaterials

    def __init__(
        self,
        materials: StructMaterials,
        model: StructEmbConfiguration,
        augmentation: AugmentationConfiguration,
        configuration: StructTraining,
        device: torch.device,
        name: str = "ssemb",
    ) -> None:
        self.materials, self.augmentation, self.name = materials, augmentation, name
        self._renaming = Renaming(materials.labels, configuration.variables, configuration.numbers)
        torch.manual_seed(configuration.seed)
        self.network = StructEmb(model, len(materials.labels))
        share_start(self.network.embedding.weight, materials.labels, configuration.shared)
        self.shape = {"model": model.to_json(), "augmentation": augmentation.to_json()}
        super().__init__(self.network, len(materials.train), configuration, device)

    def plan(self, epoch: int) -> list[FormulaChoice]:
        """Return the formulas of every batch, shuffled."""
        configuration = self.configuration
        generator = np.random.default_rng([configuration.seed, 1, epoch])
        order, size = generator.permutation(self.materials.train), configuration.batch_size
        cuts = [order[start : start + size] for start in range(0, len(order), size)]
        cuts = [cut for cut in cuts if len(cut) > 1]
        return choose(cuts, self.materials.teacher, configuration, generator)

    def step(self, batch: FormulaChoice, epoch: int) -> StructStep:
        """Return what the losses compare, drawn for this epoch."""
        generator = np.random.default_rng([self.configuration.seed, 2, epoch, batch.number])
        views = self._views(batch, generator) if self.configuration.contrast else None
        return StructStep(views, self._taught(batch), self._near(batch, generator))

    def first(self, count: int, epoch: int) -> StructStep:
        """Return the first formulas of an epoch's first batch."""
        return self.step(self.plan(epoch)[0].first(count), epoch)

    def _views(self, batch: FormulaChoice, generator: np.random.Generator) -> StructViews:
        graphs, labels = self.materials.graphs.chosen(batch.formulas), len(self.materials.labels)
        moves = self._renaming.drawn(len(graphs), generator)
        renamed = self._renaming.applied(graphs.labels.astype(np.int64), graphs.owners, moves)
        one = view(graphs, self.augmentation, labels, generator)
        other = view(graphs.changed(labels=renamed.astype(np.int32)), self.augmentation, labels, generator)
        return StructViews(GraphNumbers.of(one, self.device), GraphNumbers.of(other, self.device))

    def _taught(self, batch: FormulaChoice) -> tuple[GraphNumbers, Tensor, Tensor, Tensor] | None:
        teacher = self.materials.teacher
        if teacher is None or not len(batch.orders):
            return None
        formulas, *places = teacher.taught(batch.orders)
        ours, others, scores = (torch.from_numpy(each).to(self.device) for each in places)
        return GraphNumbers.of(self.materials.graphs.chosen(formulas), self.device), ours, others, scores

    def _near(self, batch: FormulaChoice, generator: np.random.Generator) -> NearStructures | None:
        teacher, configuration = self.materials.teacher, self.configuration
        if teacher is None or not len(batch.near):
            return None
        found, graphs = teacher.draw_near(batch.near, configuration.nearest, generator), self.materials.graphs
        hidden = replace(self.augmentation, kind="attribute", mask=configuration.near_mask)
        ours = view(graphs.chosen(found.ours), hidden, len(self.materials.labels), generator)
        return NearStructures(
            GraphNumbers.of(ours, self.device),
            GraphNumbers.of(graphs.chosen(found.theirs), self.device),
            torch.from_numpy(found.places).to(self.device),
            torch.from_numpy(found.is_near).to(self.device),
        )

    def loss(self, step: StructStep) -> Tensor:
        """Return the loss of both views, of the orders that a teacher gives, and of finding near formulas."""
        losses = []
        if step.views is not None:
            losses.append(self.configuration.contrast * self._agreement(step.views))
        if step.taught is not None:
            losses.append(self.configuration.teacher * self._order_loss(step.taught))
        if step.near is not None:
            losses.append(self.configuration.near * self._near_loss(step.near))
        return torch.stack(losses).sum()

    def _agreement(self, views: StructViews) -> Tensor:
        return agreement_loss(
            self.network.projected(views.one),
            self.network.projected(views.other),
            self.configuration.temperature,
        )

    def _order_loss(self, taught: tuple[GraphNumbers, Tensor, Tensor, Tensor]) -> Tensor:
        graphs, ours, others, wanted = taught
        vectors = self.network(graphs)
        scores = torch.einsum("ad,acd->ac", vectors[ours], vectors[others])
        return order_loss(scores, wanted, self.configuration.teacher_temperature)

    def _near_loss(self, near: NearStructures) -> Tensor:
        """Return the loss of finding near formulas by the cosine of their vectors, which is what a search compares."""
        scores = self.network(near.ours) @ self.network(near.theirs).T
        return near_loss(scores, near.places, near.is_near, self.configuration.near_temperature)

    @torch.no_grad()
    def validate(self) -> Validation | None:
        """Return the loss of held-out formulas, and how well one view finds the other among them."""
        held = self.materials.held
        if len(held) < 2:
            return None
        self.network.eval()
        generator = np.random.default_rng([self.configuration.seed, 3])
        views, orders = self._views(FormulaChoice(0, held), generator), self.materials.held_orders()
        taught, near = self._taught(orders), self._near(orders, generator)
        figures = {
            "loss": float(self._agreement(views)),
            "order": 0.0 if taught is None else float(self._order_loss(taught)),
            "near": 0.0 if near is None else float(self._near_loss(near)),
        }
        scores = self.network(views.one) @ self.network(views.other).T
        ranks = (scores > scores.diagonal()[:, None]).sum(1) + 1
        return self.validation(figures, float((1 / ranks.float()).mean()), len(held))

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write the folder of the network; the recipe's next stage adds the text encoder."""
        about = {
            "training": {**self.augmentation.to_json(), **self.configuration.to_json()},
            "formulas": len(self.materials.train),
            **about,
        }
        own = self.configuration
        SsembSystem(
            self.network,
            self.materials.labels,
            reader=own.reader,
            windows=own.windows,
            name=self.name,
            about=about,
        ).save(folder)


def agreement_loss(one: Tensor, other: Tensor, temperature: float) -> Tensor:
    """Return InfoNCE over two views of the same graphs, in both directions: the other graphs of the batch are negatives."""
    scores = one @ other.T
    return (info_nce(scores, temperature) + info_nce(scores.T, temperature)) / 2
