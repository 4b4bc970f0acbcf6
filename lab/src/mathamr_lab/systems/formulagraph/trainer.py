"""`NodeTrainer`: both networks of formula graphs learn which nodes belong to the same formula (Amador and Zanibbi, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from mathamr_lab.recipes.treetrainer import NearGraphs, TaughtGraphs, TreeTrainer
from mathamr_lab.systems.formulagraph.configuration import NodeTraining
from mathamr_lab.systems.formulagraph.losses import (
    joint_loss,
    maxsim_scores,
    mutual_scores,
    node_losses,
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


Views = Mapping[str, FormulaBatch]


class NodeTrainer(TreeTrainer[Views, Mapping[Which, FormulaBatch]]):
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

    def _pairs_of(self, batch: FormulaChoice, generator: np.random.Generator) -> dict[Which, FormulaBatch]:
        """Return first graphs unchanged, and second ones, complete or in part, renamed at random."""
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

    def _whole(self, formulas: AnyArray) -> Views:
        return {view: self._graphs(view, formulas) for view in VIEWS}

    def _masked(self, formulas: AnyArray, generator: np.random.Generator) -> Views:
        return {view: self._graphs(view, formulas, generator) for view in VIEWS}

    def _graphs(
        self, view: str, formulas: AnyArray, generator: np.random.Generator | None = None
    ) -> FormulaBatch:
        """Return complete graphs; with a generator, a share of their labels is unknown."""
        trees = self.materials.trees(view)
        taken, labels = whole(trees, formulas), None
        if generator is not None:
            hidden = generator.random(len(taken.nodes)) < self.configuration.near_mask
            labels = np.where(hidden, 0, trees.labels[taken.nodes])
        return batch_of(trees, formulas, taken, labels)

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

    def _order_scores(self, taught: TaughtGraphs[Views]) -> Iterator[Tensor]:
        """Yield the scores by MaxSim in both directions."""
        pairs = taught.anchors.repeat_interleave(taught.candidates.shape[1]), taught.candidates.flatten()
        for view, batch in taught.graphs.items():
            there = batch.to(self.device)
            vectors = self._vectors(view, there)
            scores = mutual_scores(vectors, there.starts, vectors, there.starts, pairs)
            yield scores.view_as(taught.scores)

    def _near_scores(self, near: NearGraphs[Views]) -> Iterator[Tensor]:
        """Yield the scores by MaxSim."""
        for view in VIEWS:
            ours, theirs = near.ours[view].to(self.device), near.theirs[view].to(self.device)
            vectors, others = self._vectors(view, ours), self._vectors(view, theirs)
            yield maxsim_scores(vectors, ours.starts, others, theirs.starts)

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
            losses.append(float(self._contrast(self._pairs_of(batch, generator))))
            ranks += self._ranks(batch, generator)
        loss, mrr = float(np.mean(losses)), float(np.mean([1 / rank for rank in ranks]))
        most = max(len(batch.formulas) for batch in batches)
        return self.validation(loss, mrr, most, np.random.default_rng(self.configuration.seed))

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
