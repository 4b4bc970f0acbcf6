"""`StructTrainer`: StructEmb learns which two views belong to one formula (SSEmb, section 2.1.2)."""

from __future__ import annotations

from collections.abc import Iterator
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
from mathamr_lab.recipes.treetrainer import NearGraphs, TaughtGraphs, TreeTrainer
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


class StructTrainer(TreeTrainer[GraphNumbers, StructViews]):
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

    def _pairs_of(self, batch: FormulaChoice, generator: np.random.Generator) -> StructViews:
        graphs, labels = self.materials.graphs.chosen(batch.formulas), len(self.materials.labels)
        moves = self._renaming.drawn(len(graphs), generator)
        renamed = self._renaming.applied(graphs.labels.astype(np.int64), graphs.owners, moves)
        one = view(graphs, self.augmentation, labels, generator)
        other = view(graphs.changed(labels=renamed.astype(np.int32)), self.augmentation, labels, generator)
        return StructViews(GraphNumbers.of(one, self.device), GraphNumbers.of(other, self.device))

    def _whole(self, formulas: AnyArray) -> GraphNumbers:
        return GraphNumbers.of(self.materials.graphs.chosen(formulas), self.device)

    def _masked(self, formulas: AnyArray, generator: np.random.Generator) -> GraphNumbers:
        hidden = replace(self.augmentation, kind="attribute", mask=self.configuration.near_mask)
        graphs = self.materials.graphs.chosen(formulas)
        return GraphNumbers.of(view(graphs, hidden, len(self.materials.labels), generator), self.device)

    def _contrast(self, views: StructViews) -> Tensor:
        return agreement_loss(
            self.network.projected(views.one),
            self.network.projected(views.other),
            self.configuration.temperature,
        )

    def _order_scores(self, taught: TaughtGraphs[GraphNumbers]) -> Iterator[Tensor]:
        vectors = self.network(taught.graphs)
        yield torch.einsum("ad,acd->ac", vectors[taught.anchors], vectors[taught.candidates])

    def _near_scores(self, near: NearGraphs[GraphNumbers]) -> Iterator[Tensor]:
        """Yield the cosines."""
        yield self.network(near.ours) @ self.network(near.theirs).T

    @torch.no_grad()
    def validate(self) -> Validation | None:
        """Return the loss of held-out formulas, and how well one view finds the other among them."""
        held = self.materials.held
        if len(held) < 2:
            return None
        self.network.eval()
        generator = np.random.default_rng([self.configuration.seed, 3])
        views = self._pairs_of(FormulaChoice(0, held), generator)
        loss = float(self._contrast(views))
        scores = self.network(views.one) @ self.network(views.other).T
        ranks = (scores > scores.diagonal()[:, None]).sum(1) + 1
        return self.validation(loss, float((1 / ranks.float()).mean()), len(held), generator)

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
