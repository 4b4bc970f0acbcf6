"""`NodeTrainer`: both networks of formula graphs learn which nodes belong to the same formula (Amador and Zanibbi, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mathamr.systems.formulagraph.batch import FormulaBatch, batch_of, whole
from mathamr.systems.formulagraph.network import VIEWS, FormulaGraphConfiguration, FormulaGraphNetwork
from mathamr.systems.formulagraph.system import FormulaGraphSystem
from mathamr_lab.recipes.treetrainer import TreeTrainer
from mathamr_lab.systems.formulagraph.configuration import NodeTraining
from mathamr_lab.systems.formulagraph.losses import (
    best_in_each,
    joint_loss,
    mutual_scores,
    node_losses,
    order_loss,
    segment_means,
)
from mathamr_lab.systems.formulagraph.materials import FormulaMaterials
from mathamr_lab.systems.formulagraph.pairing import pairing
from mathamr_lab.systems.formulagraph.renaming import Renaming
from mathamr_lab.systems.formulagraph.teacher import FormulaChoice
from mathamr_lab.training.settings import autocast
from mathamr_lab.training.trainer import Validation

Which = tuple[str, bool]
"""A view, and whether it is of sub-expressions."""


@dataclass(frozen=True, slots=True, eq=False)
class TaughtBatch:
    """Formulas that a teacher ordered: `pairs` of anchors and candidates by their places, and their scores."""

    views: Mapping[str, FormulaBatch]
    pairs: tuple[Tensor, Tensor]
    scores: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class NodeStep:
    """The graphs of a step, and a teacher's scores of others."""

    graphs: Mapping[Which, FormulaBatch]
    taught: TaughtBatch | None


class NodeTrainer(TreeTrainer[NodeStep]):
    """Trains both networks on formulas."""

    found = "own formula"
    configuration: NodeTraining
    materials: FormulaMaterials

    def __init__(
        self,
        materials: FormulaMaterials,
        model: FormulaGraphConfiguration,
        configuration: NodeTraining,
        device: torch.device,
        name: str = "formula-graph",
    ) -> None:
        self.materials, self.name = materials, name
        self._pairs = pairing(configuration.pairing)
        self._renaming = Renaming(materials.shard.labels, configuration.variables, configuration.numbers)
        torch.manual_seed(configuration.seed)
        self.network = FormulaGraphNetwork(model, materials.shard.labels)
        self.shape = {"model": model.to_json()}
        super().__init__(self.network, len(materials.train), configuration, device)

    def plan(self, epoch: int) -> list[FormulaChoice]:
        """Return the formulas of every batch."""
        return self.materials.batches(epoch)

    def step(self, batch: FormulaChoice, epoch: int) -> NodeStep:
        """Return the graphs of a batch: complete ones, and sub-expressions drawn for this epoch, renamed at random."""
        generator = np.random.default_rng([self.configuration.seed, 2, epoch, batch.number])
        graphs = self._graphs(batch, generator) if self.configuration.contrast else {}
        return NodeStep(graphs, self._taught(batch))

    def _graphs(self, batch: FormulaChoice, generator: np.random.Generator) -> dict[Which, FormulaBatch]:
        """Return first graphs unchanged, and second ones, complete or in part, renamed."""
        moves = self._renaming.drawn(len(batch.formulas), generator)
        found: dict[Which, FormulaBatch] = {}
        for view in sorted({pair.first for pair in self._pairs}):
            trees = self.materials.trees(view)
            found[view, False] = batch_of(trees, batch.formulas, whole(trees, batch.formulas))
        parts = self.materials.subexpressions(batch.formulas, generator)
        for view, part in sorted({(pair.second, pair.part) for pair in self._pairs}):
            trees = self.materials.trees(view)
            taken = parts[view] if part else whole(trees, batch.formulas)
            key = (view, True) if part else (f"{view}'", False)
            if not part and not moves.any() and (view, False) in found:
                found[key] = found[view, False]
                continue
            owners = np.repeat(np.arange(len(taken.counts)), taken.counts)
            labels = self._renaming.applied(trees.labels[taken.nodes].astype(np.int64), owners, moves)
            found[key] = batch_of(trees, batch.formulas, taken, labels)
        return found

    def _taught(self, batch: FormulaChoice) -> TaughtBatch | None:
        teacher = self.materials.teacher
        if teacher is None or not len(batch.anchors):
            return None
        formulas, anchors, candidates, scores = teacher.taught(batch.anchors)
        views = {}
        for view in VIEWS:
            trees = self.materials.trees(view)
            views[view] = batch_of(trees, formulas, whole(trees, formulas))
        pairs = np.repeat(anchors, candidates.shape[1]), candidates.ravel()
        return TaughtBatch(
            views, (torch.from_numpy(pairs[0]), torch.from_numpy(pairs[1])), torch.from_numpy(scores)
        )

    def loss(self, step: NodeStep) -> Tensor:
        """Return the loss of the pairings, and of the orders that a teacher gives."""
        weight = self.configuration.contrast
        losses = [weight * self._contrast(step.graphs)] if weight and step.graphs else []
        if step.taught is not None:
            losses.append(self.configuration.teacher * self._order_loss(step.taught))
        return torch.stack(losses).sum()

    def _contrast(self, given: Mapping[Which, FormulaBatch]) -> Tensor:
        graphs = {which: batch.to(self.device) for which, batch in given.items()}
        # A complete graph that is not renamed is the first and the second of a pair: it is encoded once.
        vectors: dict[int, Tensor] = {}
        for which, batch in given.items():
            if id(batch) not in vectors:
                vectors[id(batch)] = self._vectors(which[0].rstrip("'"), graphs[which])
        losses = []
        for pair in self._pairs:
            first = (pair.first, False)
            second = (pair.second, True) if pair.part else (f"{pair.second}'", False)
            losses.append(
                (
                    pair.first,
                    node_losses(
                        vectors[id(given[first])],
                        graphs[first].owners,
                        vectors[id(given[second])],
                        graphs[second].starts,
                        self.configuration.temperature,
                    ),
                )
            )
        return joint_loss(losses)

    def _vectors(self, view: str, batch: FormulaBatch) -> Tensor:
        with autocast(self.configuration.precision, self.device):
            found: Tensor = self.network(view, batch)
        return found

    def _order_loss(self, taught: TaughtBatch) -> Tensor:
        pairs = (taught.pairs[0].to(self.device), taught.pairs[1].to(self.device))
        wanted = taught.scores.to(self.device)
        losses = []
        for view, batch in taught.views.items():
            there = batch.to(self.device)
            vectors = self._vectors(view, there)
            scores = mutual_scores(vectors, there.starts, vectors, there.starts, pairs)
            losses.append(order_loss(scores.view_as(wanted), wanted, self.configuration.teacher_temperature))
        return torch.stack(losses).mean()

    @torch.no_grad()
    def validate(self) -> Validation | None:
        """Return the loss of held-out formulas, and how well a sub-expression finds its own formula among them."""
        batches = self.materials.held_batches()
        if not batches:
            return None
        self.network.eval()
        losses, ranks = [], []
        for batch in batches:
            generator = np.random.default_rng([self.configuration.seed, 3, batch.number])
            losses.append(float(self._contrast(self._graphs(batch, generator))))
            ranks += self._ranks(batch, generator)
        loss, mrr = float(np.mean(losses)), float(np.mean([1 / rank for rank in ranks]))
        taught = self._taught(self.materials.held_orders())
        order = 0.0 if taught is None else float(self._order_loss(taught))
        return self.validation(loss, order, mrr, self.configuration.batch_size)

    def _ranks(self, batch: FormulaChoice, generator: np.random.Generator) -> list[int]:
        found: list[int] = []
        parts = self.materials.subexpressions(batch.formulas, generator)
        for view in sorted({pair.first for pair in self._pairs}):
            trees = self.materials.trees(view)
            asked = batch_of(trees, batch.formulas, parts[view]).to(self.device)
            there = batch_of(trees, batch.formulas, whole(trees, batch.formulas)).to(self.device)
            queries, vectors = self.network(view, asked), self.network(view, there)
            scores = segment_means(best_in_each(queries, vectors, there.starts).T.contiguous(), asked.starts)
            own = scores.diagonal()[:, None]
            found += (scores > own).sum(1).add(1).tolist()
        return found

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write the model folder of the system."""
        about = {"training": self.configuration.to_json(), "formulas": len(self.materials.train), **about}
        FormulaGraphSystem(self.network, self.materials.shard.labels, name=self.name, about=about).save(
            folder
        )
