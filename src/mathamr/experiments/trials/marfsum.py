"""MaRF's score and that of the formulas alone, summed: what a trial found, ordered again with all formulas of both sides.

The formula encoder alone compares the longest formula of a question, as Algorithm 1 does. Here every token of all its formulas
looks for its best among the tokens of all formulas of an answer. Only what a trial has trained and kept is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mathamr.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, RunHit, read_run
from mathamr.evaluation.scores import evaluate
from mathamr.experiments.trials.contexts import folds
from mathamr.experiments.trials.marf import SearchTask, tasks
from mathamr.experiments.trials.trial import KNOWN, keep_run, say
from mathamr.layers.tensorfile import read_tensors
from mathamr.layers.weights import use_weights
from mathamr.systems.marf.files import MarfVocabularies, fresh_network
from mathamr.systems.marf.inference import formula_vectors
from mathamr.systems.marf.postinput import PostInput
from mathamr.systems.marf.training.configuration import MarfTraining
from mathamr.systems.textbase import load_base
from mathamr.training.learner import under

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5)
FOLDS = 5
RANKING = "marf-token-longest"
Doubles = npt.NDArray[np.float64]
Found = dict[str, dict[str, float]]


class MarfSum:
    """Sums the scores of one seed's model, from the folder that its trial has filled.

    The best `pool` of each topic are ordered again. Each topic's weight is the one that suits the topics of the other
    folds best. `topics` bounds how many topics of a task are looked at, in an order by chance.
    """

    def __init__(
        self, folder: Path, out: Path, training: MarfTraining, device: torch.device, seed: int
    ) -> None:
        self.folder, self.out, self.device, self.seed = folder, out / f"seed-{seed}", device, seed
        path = self.out / "formula-token.safetensors"
        if not path.is_file():
            raise MathAMRError(f"there is no {path}: run the trial marf with seed {seed} first")
        vocabularies = MarfVocabularies.load(folder)
        self.size = training.model.size
        self.network = fresh_network(load_base(training.model.base), vocabularies, training.model)
        use_weights(self.network.formula, under(read_tensors(path), "formula."), path)
        self.network.to(device).eval()

    def run(self, names: Sequence[str], pool: int, topics: int) -> None:
        """Orders the run of each of these tasks again, and keeps what the parts and the sum are worth."""
        for task in tasks(self.folder):
            if task.name in names:
                self._task(task, pool, topics)

    def _task(self, task: SearchTask, pool: int, topics: int) -> None:
        run = read_run(self.out / RANKING / f"{task.name}.run.gz")
        order = np.random.default_rng(self.seed).permutation(len(task.asked))[:topics]
        asked = {task.topics.ids[place]: place for place in sorted(task.asked[at] for at in order)}
        hits = {topic: run.rankings[topic][:pool] for topic in asked if run.rankings.get(topic)}
        formulas = self._scores(task, asked, hits)
        qrels = Qrels({topic: grades for topic, grades in task.qrels.grades.items() if topic in hits})
        summed = {
            weight: {topic: _sum(found, formulas[topic], weight) for topic, found in hits.items()}
            for weight in WEIGHTS
        }
        judge = "MRR@10" if task.measures == KNOWN else "Bpref"
        worth = {
            weight: evaluate(Run.of("sum", _items(found)), qrels, measures([judge])).values[judge]
            for weight, found in summed.items()
        }
        chosen: Found = {}
        for fold in folds(list(hits), FOLDS, self.seed):
            others = [topic for topic in hits if topic not in fold]
            best = max(WEIGHTS, key=lambda each: float(np.mean([worth[each][topic] for topic in others])))
            say(f"{task.name}: formulas count {best} in a fold of {len(fold)} topics")
            chosen |= {topic: summed[best][topic] for topic in fold}
        alone = {
            topic: {hit.id: float(value) for hit, value in zip(found, formulas[topic], strict=True)}
            for topic, found in hits.items()
        }
        names = {f"pool-{RANKING}": summed[0.0], "pool-formulas": alone, "pool-sum": chosen}
        for name, found in names.items():
            keep_run(self.out, f"{name}/{task.name}", found, qrels, task.measures)

    def _scores(
        self, task: SearchTask, asked: Mapping[str, int], hits: Mapping[str, Sequence[RunHit]]
    ) -> dict[str, Doubles]:
        """For every topic the scores of its hits by formulas alone."""
        place = {name: number for number, name in enumerate(task.candidates.ids)}
        needed = sorted({place[hit.id] for found in hits.values() for hit in found})
        say(f"{task.name}: formulas of {len(needed):,} candidates for {len(hits):,} topics")
        tokens = self._formulas([task.candidates.posts[number] for number in needed])
        where = {number: at for at, number in enumerate(needed)}
        queries = self._formulas([task.topics.posts[asked[topic]] for topic in hits])
        return {
            topic: formula_scores(query, [tokens[where[place[hit.id]]] for hit in hits[topic]])
            for topic, query in zip(hits, queries, strict=True)
        }

    def _formulas(self, posts: Sequence[PostInput]) -> list[Tensor]:
        """The tokens of all formulas of each post."""
        found = formula_vectors(self.network, posts, self.device)
        return [torch.cat(own).float() if own else torch.zeros(0, self.size) for own in found]


def _sum(hits: Sequence[RunHit], formulas: Doubles, weight: float) -> dict[str, float]:
    total = standard(np.array([hit.score for hit in hits])) + weight * standard(formulas)
    return {hit.id: float(value) for hit, value in zip(hits, total, strict=True)}


def _items(found: Found) -> dict[str, list[tuple[str, float]]]:
    return {topic: list(scores.items()) for topic, scores in found.items()}


def formula_scores(query: Tensor, documents: Sequence[Tensor]) -> Doubles:
    """MaxSim of a query's formula tokens with those of each document; -1 where one side has none."""
    scores = np.full(len(documents), -1.0)
    there = [at for at, rows in enumerate(documents) if len(rows)]
    if len(query) and there:
        rows = torch.cat([documents[at] for at in there])
        starts = np.cumsum([0, *(len(documents[at]) for at in there)])[:-1]
        similar = (query @ rows.T).cpu().numpy()
        scores[there] = np.maximum.reduceat(similar, starts, axis=1).mean(0)
    return scores


def standard(scores: Doubles) -> Doubles:
    """Scores of one query with mean 0 and deviation 1; what has none (-1) counts as the mean.

    >>> (standard(np.array([0.2, 0.4, -1.0, 0.6])).round(3) + 0.0).tolist()
    [-1.225, 0.0, 0.0, 1.225]
    """
    there = scores > -1
    if int(there.sum()) < 2:
        return np.zeros_like(scores)
    mean, deviation = scores[there].mean(), scores[there].std()
    return np.where(there, (scores - mean) / max(float(deviation), 1e-6), 0.0)
