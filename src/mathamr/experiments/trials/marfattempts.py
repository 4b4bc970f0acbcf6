"""Attempts at a fusion that is better than its parts: harder pairs, pairs that are new to the context encoder, all formulas at once.

Each is a way to train the last parts of MaRF anew on top of a context encoder that stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mathamr.experiments.trials.marf import (
    MarfTrial,
    SearchTask,
    by_candidates,
    keep_scores,
    measure_context,
    measure_formulas,
    measure_fusion,
    represented,
)
from mathamr.experiments.trials.trial import say
from mathamr.systems.marf.inference import formula_vectors, fused_vectors
from mathamr.systems.marf.network import FormulaEncoder, MarfNetwork
from mathamr.systems.marf.training.postshard import PostShard
from mathamr.systems.marf.training.trainers import FormulaTrainer, FusionTrainer
from mathamr.training.pairs import Pairs
from mathamr.training.plain import fit

SEEN = 0.6
"""The share of the questions that the context encoder learns from where the fusion has the rest."""
TOGETHER = 256
"""Tokens of all formulas of a post, read as one."""
WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8)
"""How much the formulas' own score may count beside the fused one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How a fusion is trained instead; `together` reads all formulas of a post as one, `unseen` gives it new pairs."""

    name: str
    together: bool = False
    unseen: bool = False
    hard: bool = False


ATTEMPTS = (
    Attempt(name="hard", hard=True),
    Attempt(name="together", together=True, hard=True),
    Attempt(name="unseen", unseen=True),
    Attempt(name="unseen-together", unseen=True, together=True),
)


class MarfAttempts:
    """All attempts with one seed, on the parts that a trial trained."""

    def __init__(self, trial: MarfTrial) -> None:
        self.trial, self.device, self.out, self.seed = trial, trial.device, trial.out, trial.seed
        self._wide = replace(trial.training.model, scoring="token", formulas=1, together=TOGETHER)
        self._apart = replace(trial.training.model, scoring="token", formulas=6)
        self._joined: PostShard | None = None

    def run(self, network: MarfNetwork) -> None:
        """Every attempt, those with the trial's own context encoder first."""
        formulas = {False: network.formula, True: self._formulas_together()}
        for attempt in ATTEMPTS:
            if not attempt.unseen:
                self._attempt(attempt, network, formulas[attempt.together])
        fewer = self.trial.context(until=SEEN)
        self.trial.keep("context-unseen", fewer.context, "context.")
        measure_context(fewer, self.trial.tasks, self.out, "context-unseen", self.device)
        for attempt in ATTEMPTS:
            if attempt.unseen:
                self._attempt(attempt, fewer, formulas[attempt.together])

    def _shard(self, together: bool) -> PostShard:
        if not together:
            return self.trial.shard
        self._joined = self._joined or self.trial.shard.together(TOGETHER)
        return self._joined

    def _tasks(self, together: bool) -> Sequence[SearchTask]:
        if not together:
            return self.trial.tasks
        return [
            replace(task, topics=task.topics.together(TOGETHER), candidates=joined)
            for candidates, searches in by_candidates(self.trial.tasks)
            for joined in (candidates.together(TOGETHER),)
            for task in searches
        ]

    def _formulas_together(self) -> FormulaEncoder:
        torch.manual_seed(self.seed)
        encoder = FormulaEncoder(self._wide, len(self.trial.vocabularies.latex)).to(self.device)
        way = replace(self.trial.way("formulas"), batch_size=128)
        say(f"seed {self.seed}: formulas together")
        fit(FormulaTrainer(self._shard(True), encoder, "token", way, self.device), 3, say)
        self.trial.keep("formula-together", encoder, "formula.")
        return encoder

    def _attempt(self, attempt: Attempt, network: MarfNetwork, formula: FormulaEncoder) -> None:
        torch.manual_seed(self.seed)
        configuration = self._wide if attempt.together else self._apart
        joined = MarfNetwork(network.context, formula, configuration).to(self.device)
        way = self.trial.way("fusion")
        if attempt.hard:
            way = replace(way, epochs=6, neighbours=16, gate=2.0, learning_rate=1e-3)
        if attempt.unseen:
            way = replace(way, epochs=8, since=SEEN, gate=2.0)
        say(f"seed {self.seed}: fusion {attempt.name}")
        trainer = FusionTrainer(self._shard(attempt.together), joined, way, self.device)
        fit(trainer, 3, say)
        joined.eval()
        self.trial.keep(f"fusion-{attempt.name}", joined.fusion, "fusion.")
        tasks = self._tasks(attempt.together)
        measure_fusion(joined, tasks, self.out, f"marf-{attempt.name}", self.device)
        if attempt.together:
            if not attempt.unseen:
                measure_formulas(joined, tasks, self.out, "formula-together", self.device)
            shard = self._shard(True)
            weight = chosen_weight(joined, shard, trainer.held, self.device)
            say(f"seed {self.seed}: formulas count {weight} beside the fusion {attempt.name}")
            (self.out / f"marf-{attempt.name}" / "weight.txt").write_text(f"{weight}\n", encoding="utf-8")
            measure_sum(joined, weight, tasks, self.out, f"summed-{attempt.name}", self.device)


def standard(scores: Tensor) -> Tensor:
    """Scores of one query with mean 0 and deviation 1; what has none (-1 or below) counts as the mean."""
    there = scores > -1
    if int(there.sum()) < 2:
        return torch.zeros_like(scores)
    mean, deviation = scores[there].mean(), scores[there].std()
    return torch.where(there, (scores - mean) / deviation.clamp(min=1e-6), 0.0)


def _both_scores(
    network: MarfNetwork, asked: PostShard, candidates: PostShard, device: torch.device
) -> tuple[Tensor, Tensor]:
    """The fused scores and those of the formulas alone (queries, candidates), each query's standardised."""
    queries = fused_vectors(network, asked.posts, device, 1)
    fused = represented(fused_vectors(network, candidates.posts, device, 1), device)
    alone = represented(formula_vectors(network, candidates.posts, device), device)
    tokens = formula_vectors(network, asked.posts, device)
    ones = torch.stack([standard(fused.scores(own[0])) for own in queries])
    others = torch.stack(
        [
            standard(alone.scores(own[0])) if own else torch.zeros(len(candidates), device=device)
            for own in tokens
        ]
    )
    return ones, others


def chosen_weight(network: MarfNetwork, shard: PostShard, held: Pairs, device: torch.device) -> float:
    """The weight of the formulas' score with which validation questions find their answers best (MRR@10)."""
    answers = np.unique(held[:, 1])
    asked, candidates = _part(shard, held[:, 0].tolist()), _part(shard, answers.tolist())
    fused, formulas = _both_scores(network, asked, candidates, device)
    own = torch.from_numpy(np.searchsorted(answers, held[:, 1])).to(device)[:, None]
    worth: dict[float, float] = {}
    for weight in WEIGHTS:
        scores = fused + weight * formulas
        ranks = (scores > scores.gather(1, own)).sum(1)
        worth[weight] = float(torch.where(ranks < 10, 1 / (ranks + 1), 0.0).mean())
    return max(worth, key=lambda weight: worth[weight])


def _part(shard: PostShard, places: Sequence[int]) -> PostShard:
    return PostShard(
        tuple(shard.ids[place] for place in places),
        tuple(shard.posts[place] for place in places),
        np.zeros((0, 2), np.int32),
    )


def measure_sum(
    network: MarfNetwork,
    weight: float,
    tasks: Sequence[SearchTask],
    out: Path,
    name: str,
    device: torch.device,
) -> None:
    """MaRF with the formulas' own MaxSim added: fused scores and formula scores, each standardised by query."""
    for task in tasks:
        asked = _part(task.topics, task.asked)
        fused, formulas = _both_scores(network, asked, task.candidates, device)
        found: Mapping[int, Tensor] = dict(zip(task.asked, fused + weight * formulas, strict=True))
        keep_scores(out, name, task, found)
