"""Scores every candidate of a collection for every topic with a system of formulas: all at once, on a GPU if there is one.

The scores are those that an engine computes (a test compares them); they are computed in bulk because a table has many models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray, BoolArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaTrees
from mathamr.search.fusion import RANK_OFFSET
from mathamr.systems.formulagraph.batch import batch_of, whole
from mathamr.systems.formulagraph.system import VIEW_OF, FormulaGraphSystem
from mathamr.systems.ssemb.graphs import OperatorGraphs
from mathamr.systems.ssemb.network import GraphNumbers
from mathamr.systems.ssemb.system import STRUCTURE, SsembSystem
from mathamr.systems.system import System
from mathamr_lab.experiments.formulacollection import FormulaCollection

AT_A_TIME = 2048


def collection_scores(system: System, collection: FormulaCollection) -> dict[str, FloatArray]:
    """Returns scores by field."""
    if isinstance(system, FormulaGraphSystem):
        return _of_nodes(system, collection)
    if isinstance(system, SsembSystem):
        return {STRUCTURE: _of_structures(system, collection)}
    raise MathAMRError(f"the system {system.kind!r} has no vectors of formulas by themselves")


def _of_nodes(system: FormulaGraphSystem, collection: FormulaCollection) -> dict[str, FloatArray]:
    """Scores a block of candidates at a time: the vectors of all nodes would not fit into memory."""
    shard = collection.shard.renumbered(system.labels)
    found: dict[str, FloatArray] = {}
    for field, view in VIEW_OF.items():
        candidates, queries = collection.queries(shard.slt if view == "slt" else shard.opt)
        asked = [_node_vectors(system, view, queries, np.array([topic]))[0] for topic in range(len(queries))]
        scores = np.zeros((len(queries), len(candidates)), np.float32)
        for block in _blocks(len(candidates)):
            vectors, starts = _node_vectors(system, view, candidates, block)
            for row, nodes in zip(scores, asked, strict=True):
                row[block] = _maxsim(nodes, vectors, starts)
        found[field] = scores
    return found


def _blocks(count: int) -> Iterator[AnyArray]:
    for begin in range(0, count, AT_A_TIME):
        yield np.arange(begin, min(begin + AT_A_TIME, count))


def _node_vectors(
    system: FormulaGraphSystem, view: str, trees: FormulaTrees, chosen: AnyArray
) -> tuple[Tensor, Tensor]:
    """The vectors of all nodes of some trees, and where each tree begins."""
    device = next(system.network.parameters()).device
    system.network.eval()
    with torch.inference_mode():
        batch = batch_of(trees, chosen, whole(trees, chosen)).to(device)
        return system.network(view, batch).float(), batch.starts


def _maxsim(asked: Tensor, vectors: Tensor, starts: Tensor) -> FloatArray:
    """Returns for candidates the sum over a query's nodes of their best cosine (Amador and Zanibbi, equation 4)."""
    with torch.inference_mode():
        lengths = starts.diff().long()
        best = torch.segment_reduce(vectors @ asked.T, "max", lengths=lengths, axis=0)
        return np.asarray(best.sum(1).cpu().numpy())


def _of_structures(system: SsembSystem, collection: FormulaCollection) -> FloatArray:
    trees = collection.shard.renumbered(system.labels).opt
    device = next(system.network.parameters()).device
    graphs = OperatorGraphs.of_numbers(trees)
    system.network.eval()
    cut = len(collection.candidates)

    def vectors(chosen: AnyArray) -> Tensor:
        with torch.inference_mode():
            found: Tensor = system.network(GraphNumbers.of(graphs.chosen(chosen), device)).float()
        return found

    asked = vectors(np.arange(cut, len(trees)))
    scores = np.zeros((len(trees) - cut, cut), np.float32)
    for block in _blocks(cut):
        scores[:, block] = (asked @ vectors(block).T).cpu().numpy()
    return scores


def harmonic_mean(one: FloatArray, two: FloatArray) -> FloatArray:
    """The harmonic mean of two scores, negative ones as 0."""
    one, two = np.maximum(one, 0), np.maximum(two, 0)
    found: FloatArray = 2 * one * two / np.maximum(one + two, 1e-9)
    return found


def ranked(
    collection: FormulaCollection, scores: FloatArray, depth: int = 1000
) -> dict[str, list[tuple[str, float]]]:
    """Returns the best candidates of every topic, or all judged ones if only these are ranked."""
    place = {name: number for number, name in enumerate(collection.candidates)}
    found: dict[str, list[tuple[str, float]]] = {}
    for topic, row in zip(collection.topics, scores, strict=True):
        if collection.among_judged:
            chosen = np.array([place[item] for item in collection.grades[topic]])
        else:
            chosen = np.argpartition(-row, min(depth, len(row) - 1))[:depth]
        order = chosen[np.argsort(-row[chosen], kind="stable")]
        found[topic] = [(collection.candidates[number], float(row[number])) for number in order.tolist()]
    return found


def fused(scores: Mapping[str, FloatArray], ranking: str, among: BoolArray | None = None) -> FloatArray:
    """Computes a ranking for the tables from the scores of fields: of one field, or of both views by MAX, AVG, F1 or RRF.

    `among` says among which candidates ranks are counted.
    """
    known = (*scores, *(_FUSIONS if VIEW_OF.keys() <= scores.keys() else ()))
    if ranking not in known:
        raise MathAMRError(f"there is no ranking {ranking!r}; known: {', '.join(known)}")
    if ranking in _FUSIONS:
        one, two = (scores[field] for field in VIEW_OF)
        return _FUSIONS[ranking](one, two, among)
    return scores[ranking]


def reciprocal_ranks(matrices: Sequence[FloatArray], among: BoolArray | None = None) -> FloatArray:
    """Reciprocal rank fusion over the ranks among some candidates or all."""
    lowest = np.float32(-np.inf)
    given = matrices if among is None else [np.where(among, each, lowest) for each in matrices]
    parts = [1 / (1 + RANK_OFFSET + np.argsort(np.argsort(-each, 1, "stable"), 1)) for each in given]
    found: FloatArray = np.sum(parts, axis=0).astype(np.float32)
    return found


_FUSIONS: Mapping[str, Callable[[FloatArray, FloatArray, BoolArray | None], FloatArray]] = {
    "max": lambda one, two, _: np.maximum(one, two),
    "mean": lambda one, two, _: np.asarray((one + two) / 2, np.float32),
    "f1": lambda one, two, _: harmonic_mean(one, two),
    "rrf": lambda one, two, among: reciprocal_ranks([one, two], among),
}
