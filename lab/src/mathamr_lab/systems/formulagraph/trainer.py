"""`NodeTrainer`: both networks of formula graphs learn which nodes belong to the same formula (Amador and Zanibbi, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray
from mathamr.systems.formulagraph.batch import FormulaBatch, batch_of, whole
from mathamr.systems.formulagraph.network import (
    VIEWS,
    FormulaGraphConfiguration,
    FormulaGraphNetwork,
    NodeNetwork,
)
from mathamr.systems.formulagraph.system import FormulaGraphSystem
from mathamr_lab.recipes.treetrainer import TreeTrainer
from mathamr_lab.systems.formulagraph.configuration import NodeTraining
from mathamr_lab.systems.formulagraph.losses import (
    joint_loss,
    maxsim_scores,
    mutual_scores,
    near_loss,
    node_losses,
    order_loss,
)
from mathamr_lab.systems.formulagraph.materials import FormulaMaterials
from mathamr_lab.systems.formulagraph.pairing import pairing
from mathamr_lab.systems.formulagraph.renaming import Renaming
from mathamr_lab.systems.formulagraph.start import share_start
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
class NearBatch:
    """Masked formulas, the formulas near to them, the place of the near one of each, and which others are near too."""

    ours: Mapping[str, FormulaBatch]
    theirs: Mapping[str, FormulaBatch]
    places: Tensor
    is_near: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class NodeStep:
    """The graphs of a step, a teacher's scores of others, and formulas with near ones."""

    graphs: Mapping[Which, FormulaBatch]
    taught: TaughtBatch | None
    near: NearBatch | None


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
        for network in self.network.views.values():
            assert isinstance(network, NodeNetwork)
            share_start(network.embedding.weight, materials.shard.labels, configuration.shared)
        self.shape = {"model": model.to_json()}
        super().__init__(self.network, len(materials.train), configuration, device)

    def plan(self, epoch: int) -> list[FormulaChoice]:
        """Return the formulas of every batch."""
        return self.materials.batches(epoch)

    def step(self, batch: FormulaChoice, epoch: int) -> NodeStep:
        """Return the graphs of a batch: complete ones, and sub-expressions drawn for this epoch, renamed at random."""
        generator = np.random.default_rng([self.configuration.seed, 2, epoch, batch.number])
        graphs = self._graphs(batch, generator) if self.configuration.contrast else {}
        return NodeStep(graphs, self._taught(batch), self._near(batch, generator))

    def first(self, count: int, epoch: int) -> NodeStep:
        """Return the graphs of the first formulas of an epoch's first batch."""
        return self.step(self.plan(epoch)[0].first(count), epoch)

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
        if teacher is None or not len(batch.orders):
            return None
        formulas, anchors, candidates, scores = teacher.taught(batch.orders)
        views = {view: self._whole(view, formulas) for view in VIEWS}
        pairs = np.repeat(anchors, candidates.shape[1]), candidates.ravel()
        return TaughtBatch(
            views, (torch.from_numpy(pairs[0]), torch.from_numpy(pairs[1])), torch.from_numpy(scores)
        )

    def _near(self, batch: FormulaChoice, generator: np.random.Generator) -> NearBatch | None:
        teacher, configuration = self.materials.teacher, self.configuration
        if teacher is None or not len(batch.near):
            return None
        found = teacher.draw_near(batch.near, configuration.nearest, generator)
        ours = {view: self._whole(view, found.ours, configuration.near_mask, generator) for view in VIEWS}
        theirs = {view: self._whole(view, found.theirs) for view in VIEWS}
        return NearBatch(ours, theirs, torch.from_numpy(found.places), torch.from_numpy(found.is_near))

    def _whole(
        self, view: str, formulas: AnyArray, mask: float = 0.0, generator: np.random.Generator | None = None
    ) -> FormulaBatch:
        """Return complete graphs; with `mask`, such a share of their labels is unknown."""
        trees = self.materials.trees(view)
        taken, labels = whole(trees, formulas), None
        if generator is not None:
            labels = np.where(generator.random(len(taken.nodes)) < mask, 0, trees.labels[taken.nodes])
        return batch_of(trees, formulas, taken, labels)

    def loss(self, step: NodeStep) -> Tensor:
        """Return the loss of the pairings, of the orders that a teacher gives, and of finding near formulas."""
        weight = self.configuration.contrast
        losses = [weight * self._contrast(step.graphs)] if weight and step.graphs else []
        if step.taught is not None:
            losses.append(self.configuration.teacher * self._order_loss(step.taught))
        if step.near is not None:
            losses.append(self.configuration.near * self._near_loss(step.near))
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

    def _near_loss(self, near: NearBatch) -> Tensor:
        """Return the mean over both views of the loss of finding near formulas by MaxSim, which is what a search compares."""
        places, is_near = near.places.to(self.device), near.is_near.to(self.device)
        losses = []
        for view in VIEWS:
            ours, theirs = near.ours[view].to(self.device), near.theirs[view].to(self.device)
            vectors, others = self._vectors(view, ours), self._vectors(view, theirs)
            scores = maxsim_scores(vectors, ours.starts, others, theirs.starts)
            losses.append(near_loss(scores, places, is_near, self.configuration.near_temperature))
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
        held = self.materials.held_orders()
        taught, near = self._taught(held), self._near(held, np.random.default_rng(self.configuration.seed))
        figures = {
            "loss": loss,
            "order": 0.0 if taught is None else float(self._order_loss(taught)),
            "near": 0.0 if near is None else float(self._near_loss(near)),
        }
        return self.validation(figures, mrr, max(len(batch.formulas) for batch in batches))

    def _ranks(self, batch: FormulaChoice, generator: np.random.Generator) -> list[int]:
        found: list[int] = []
        parts = self.materials.subexpressions(batch.formulas, generator)
        for view in sorted({pair.first for pair in self._pairs}):
            trees = self.materials.trees(view)
            asked = batch_of(trees, batch.formulas, parts[view]).to(self.device)
            there = batch_of(trees, batch.formulas, whole(trees, batch.formulas)).to(self.device)
            queries, vectors = self.network(view, asked), self.network(view, there)
            scores = maxsim_scores(queries, asked.starts, vectors, there.starts)
            own = scores.diagonal()[:, None]
            found += (scores > own).sum(1).add(1).tolist()
        return found

    def save(self, folder: Path, about: dict[str, Any]) -> None:
        """Write the model folder of the system."""
        about = {"training": self.configuration.to_json(), "formulas": len(self.materials.train), **about}
        FormulaGraphSystem(self.network, self.materials.shard.labels, name=self.name, about=about).save(
            folder
        )
