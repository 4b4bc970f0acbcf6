"""`GraphPairs`: the graphs and pairs a network is trained on, and the steps made from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from mathamr.core.arrays import AnyArray, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.posts.level import Level
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.layers.stack import GraphStack, packed
from mathamr.systems.mathamrplus.graphencoder import BUDGET
from mathamr.text.textvectors import TextTable
from mathamr_lab.systems.mathamrplus.graph.augmentation import augmented, graph_keys
from mathamr_lab.systems.mathamrplus.graph.configuration import GraphTraining
from mathamr_lab.systems.mathamrplus.graph.formulapairs import FormulaBags
from mathamr_lab.systems.mathamrplus.graph.negatives import HardNegatives
from mathamr_lab.training.learner import ContrastiveStep
from mathamr_lab.training.losses import Contrast
from mathamr_lab.training.maxsim import there
from mathamr_lab.training.pairs import Answers, checked, split
from mathamr_lab.training.processes import Processes


class GraphPairs:
    """The training and validation pairs of a shard, and steps made from them."""

    def __init__(
        self,
        shard: Shard,
        configuration: GraphTraining,
        *,
        texts: TextTable | None = None,
        negatives: HardNegatives | None = None,
        processes: Processes | None = None,
    ) -> None:
        self.shard, self.configuration = shard, configuration
        self.processes = processes or Processes()
        self.processes.share(configuration.batch_size)
        pairs: IntArray = checked(np.array(shard.pairs, np.int64).reshape(-1, 2), len(shard))
        self.train, self.validation = split(pairs, configuration.validation, configuration.seed)
        if len(self.train) < 2:
            raise MathAMRError("too few pairs are left to train on after the validation part was taken out")
        self._answers = Answers(pairs, len(shard))
        if texts is not None and len(texts.rows) != int(shard.starts["reps"][-1]):
            raise MathAMRError(
                f"the text vectors are of {len(texts.rows)} representatives, the shard has {shard.starts['reps'][-1]}"
            )
        if configuration.hard_negatives and negatives is None:
            raise MathAMRError("the configuration asks for hard negatives: give the file that lists them")
        self._texts, self._negatives = texts, negatives
        self._counts = np.diff(shard.starts["reps"])
        self._costs = np.diff(shard.starts["nodes"]) + 2 * np.diff(shard.starts["edges"])
        self._bags = FormulaBags.of(shard) if configuration.formula_weight else None
        if configuration.beta < 1:
            self._check_documents()

    def _check_documents(self) -> None:
        levels = self.shard.columns["levels"]
        last = self.shard.starts["reps"][1:] - 1
        missing = (self._counts == 0) | (levels[np.maximum(last, 0)] != Level.DOCUMENT)
        if missing.any():
            raise MathAMRError(
                f"beta below 1 trains document vectors, but {int(missing.sum())} graphs, the first of post"
                f" {self.shard.ids[int(missing.argmax())]!r}, have no document node: graphs of the configuration"
                f" {self.shard.configuration} cannot be trained so"
            )

    def step(
        self, pairs: IntArray, places: AnyArray, epoch: int, device: torch.device
    ) -> ContrastiveStep[GraphBatch]:
        """The work of a training step on these pairs; `places` are their numbers among the training pairs."""
        configuration = self.configuration
        documents, owners = pairs[:, 1], np.arange(len(pairs))
        slots = np.concatenate([3 * places, 3 * places + 1])
        if configuration.hard_negatives and self._negatives is not None:
            drawn, of = self._negatives.drawn(
                pairs[:, 0], configuration.hard_negatives, configuration.seed, epoch, places
            )
            documents, owners = np.concatenate([documents, drawn]), np.concatenate([owners, of])
            rank = np.arange(len(of)) - np.searchsorted(of, of)
            slots = np.concatenate([slots, 3 * (places[of] + len(self.train) * (1 + rank)) + 2])
        keys = graph_keys(configuration.seed, epoch, slots)
        graphs = np.concatenate([pairs[:, 0], documents])
        division = self.processes.divided(
            np.concatenate([np.arange(len(pairs)), owners]),
            self._counts[graphs],
            configuration.batch_size,
            device,
        )
        costs = ((place, int(self._costs[graphs[place]])) for place in division.own)
        parts = []
        for part in packed(costs, configuration.budget):
            stack = GraphStack.of_shard(self.shard, graphs[part], self._texts)
            stack = augmented(stack, keys[part], configuration.node_mask, configuration.edge_drop)
            parts.append(GraphBatch.of(stack))
        if len(parts) == 1:
            parts = [parts[0].to(device)]
        return ContrastiveStep(
            parts=tuple(parts),
            gathered=division.gathered,
            order=division.order,
            questions=int(self._counts[pairs[:, 0]].sum()),
            contrast=self.contrast(pairs[:, 0], documents, device),
        )

    def contrast(self, questions: AnyArray, documents: AnyArray, device: torch.device) -> Contrast:
        """What the vectors of these questions and documents stand for."""
        ours, theirs = self._counts[questions], self._counts[documents]
        plain = Contrast.of(
            ours,
            theirs,
            answers=self._answers.among(questions, documents),
            query_documents=np.cumsum(ours) - 1,
            document_documents=np.cumsum(theirs) - 1,
            device=device,
        )
        formulas, alike = self._formulas(questions, documents, device)
        return replace(plain, formulas=formulas, alike=alike)

    def _formulas(
        self, questions: AnyArray, documents: AnyArray, device: torch.device
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        if self._bags is None:
            return None, None
        starts = self.shard.starts["reps"]
        rows, hashes = [], []
        before, before_document = 0, 0
        for question, document in zip(questions, documents, strict=False):
            ours = self._bags.formulas[starts[question] : starts[question + 1]]
            theirs = self._bags.formulas[starts[document] : starts[document + 1]]
            (own,), (other,) = np.nonzero(ours >= 0), np.nonzero(theirs >= 0)
            for a, b in self._bags.shared(ours[own], theirs[other]):
                rows.append((before + own[a], before_document + other[b]))
                hashes.append(self._bags.hashes[theirs[other[b]]])
            before, before_document = before + len(ours), before_document + len(theirs)
        if len(rows) < 2:
            return None, None
        alike = np.equal.outer(np.array(hashes), np.array(hashes))
        np.fill_diagonal(alike, False)
        return there(np.array(rows, np.int64).T.copy(), device), there(alike, device)

    def plain(self, graphs: AnyArray) -> Iterator[GraphBatch]:
        """Graphs as they are, without augmentation, a few at a time."""
        costs = ((number, int(self._costs[number])) for number in graphs)
        for part in packed(costs, min(BUDGET, self.configuration.budget)):
            yield GraphBatch.of(GraphStack.of_shard(self.shard, np.array(part), self._texts))
