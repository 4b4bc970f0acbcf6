"""Scores every candidate of a collection for every topic with a system of formulas: all at once, on a GPU if there is one.

The scores are those that an engine computes (a test compares them); they are computed in bulk because a table has many models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.formulashard import FormulaTrees
from mathamr.search.fusion import RANK_OFFSET
from mathamr.systems.formulagraph.batch import batch_of, whole
from mathamr.systems.formulagraph.system import ROWS, VIEW_OF, FormulaGraphSystem
from mathamr.systems.ssemb.graphs import OperatorGraphs
from mathamr.systems.ssemb.network import GraphNumbers
from mathamr.systems.ssemb.system import STRUCTURE, SsembSystem
from mathamr.systems.system import System
from mathamr_lab.experiments.formulacollection import FormulaCollection

AT_A_TIME = 2048
NEAREST = ROWS
"""The nodes nearest to each node of a query bring the candidates."""
NOT_FOUND = -np.inf
"""The score of a formula that a search has not found."""


Room = Callable[[str, tuple[int, int]], FloatArray]
"""Makes the matrix for the scores of a field, topics by candidates: in memory, or in a file."""


def _in_memory(field: str, shape: tuple[int, int]) -> FloatArray:
    return np.zeros(shape, np.float32)


@dataclass(slots=True)
class ScoringCosts:
    """Seconds by the clock: of encoding all candidates, and of everything that the queries need."""

    indexing: float = 0.0
    searching: float = 0.0

    @contextmanager
    def timed(self, what: Literal["indexing", "searching"], device: torch.device) -> Iterator[None]:
        """Add the seconds of a block, the work of a GPU included."""
        began = time.perf_counter()
        yield
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        setattr(self, what, getattr(self, what) + time.perf_counter() - began)


def collection_scores(
    system: System, collection: FormulaCollection, room: Room = _in_memory, costs: ScoringCosts | None = None
) -> dict[str, FloatArray]:
    """Return scores by field; `costs` receives the time they took."""
    costs = costs or ScoringCosts()
    if isinstance(system, FormulaGraphSystem):
        return _of_nodes(system, collection, room, costs)
    if isinstance(system, SsembSystem):
        return {STRUCTURE: _of_structures(system, collection, room, costs)}
    raise MathAMRError(f"the system {system.kind!r} has no vectors of formulas by themselves")


def _of_nodes(
    system: FormulaGraphSystem, collection: FormulaCollection, room: Room, costs: ScoringCosts
) -> dict[str, FloatArray]:
    """Score a block of candidates at a time: the vectors of all nodes would not fit into memory.

    In a search the candidates of a view are the formulas of the nearest nodes of each query node, as in the paper
    (section 4); the others have no score. Of a judged pool every formula is scored.
    """
    shard = collection.shard.renumbered(system.labels)
    found: dict[str, FloatArray] = {}
    for field, view in VIEW_OF.items():
        candidates, queries = collection.queries(shard.slt if view == "slt" else shard.opt)
        device = next(system.network.parameters()).device
        with costs.timed("searching", device):
            asked = [
                _node_vectors(system, view, queries, np.array([topic]))[0] for topic in range(len(queries))
            ]
        near = [_NearestNodes() for _ in asked]
        scores = room(field, (len(queries), len(candidates)))
        for block in _blocks(len(candidates)):
            with costs.timed("indexing", device):
                vectors, starts = _node_vectors(system, view, candidates, block)
            with costs.timed("searching", device):
                for row, nodes, nearest in zip(scores, asked, near, strict=True):
                    similar = vectors @ nodes.T
                    row[block] = _maxsim(similar, starts)
                    if not collection.among_judged:
                        nearest.add(similar, starts, int(block[0]))
        if not collection.among_judged:
            for row, nearest in zip(scores, near, strict=True):
                kept = nearest.formulas
                best = row[kept].copy()
                row[:] = NOT_FOUND
                row[kept] = best
        found[field] = scores
    return found


class _NearestNodes:
    """The formulas of the nearest nodes of each node of a query, found block by block."""

    def __init__(self) -> None:
        self._similar: Tensor | None = None
        self._formulas: Tensor | None = None

    def add(self, similar: Tensor, starts: Tensor, first: int) -> None:
        """Add the cosines of a block of formulas (nodes, query nodes); `first` is the number of its first formula."""
        with torch.inference_mode():
            owners = first + torch.repeat_interleave(
                torch.arange(len(starts) - 1, device=similar.device), starts.diff().long()
            )
            formulas = owners[:, None].expand_as(similar)
            if self._similar is not None and self._formulas is not None:
                similar = torch.cat([self._similar, similar])
                formulas = torch.cat([self._formulas, formulas])
            self._similar, places = similar.topk(min(NEAREST, len(similar)), dim=0)
            self._formulas = formulas.gather(0, places)

    @property
    def formulas(self) -> AnyArray:
        """The numbers of the formulas."""
        if self._formulas is None:
            return np.zeros(0, np.int64)
        return np.unique(self._formulas.cpu().numpy())


def _blocks(count: int) -> Iterator[AnyArray]:
    for begin in range(0, count, AT_A_TIME):
        yield np.arange(begin, min(begin + AT_A_TIME, count))


def _node_vectors(
    system: FormulaGraphSystem, view: str, trees: FormulaTrees, chosen: AnyArray
) -> tuple[Tensor, Tensor]:
    """Return the vectors of all nodes of some trees, and where each tree begins."""
    device = next(system.network.parameters()).device
    system.network.eval()
    with torch.inference_mode():
        batch = batch_of(trees, chosen, whole(trees, chosen)).to(device)
        return system.network(view, batch).float(), batch.starts


def _maxsim(similar: Tensor, starts: Tensor) -> FloatArray:
    """Return for candidates the sum over a query's nodes of their best cosine (Amador and Zanibbi, equation 4)."""
    with torch.inference_mode():
        lengths = starts.diff().long()
        best = torch.segment_reduce(similar, "max", lengths=lengths, axis=0)
        return np.asarray(best.sum(1).cpu().numpy())


def _of_structures(
    system: SsembSystem, collection: FormulaCollection, room: Room, costs: ScoringCosts
) -> FloatArray:
    whole = collection.shard.opt
    trees = collection.shard.renumbered(system.labels).opt
    device = next(system.network.parameters()).device
    system.network.eval()
    cut = len(collection.candidates)

    def vectors(chosen: AnyArray) -> Tensor:
        graphs = OperatorGraphs.of_numbers(trees.chosen(chosen), whole.chosen(chosen).labels)
        with torch.inference_mode():
            found: Tensor = system.network(GraphNumbers.of(graphs, device)).float()
        return found

    with costs.timed("searching", device):
        asked = vectors(np.arange(cut, len(trees)))
    scores = room(STRUCTURE, (len(trees) - cut, cut))
    for block in _blocks(cut):
        with costs.timed("indexing", device):
            found = vectors(block)
        with costs.timed("searching", device):
            scores[:, block] = (asked @ found.T).cpu().numpy()
    return scores


def harmonic_mean(one: FloatArray, two: FloatArray) -> FloatArray:
    """Return the harmonic mean of two scores, negative ones as 0."""
    one, two = np.maximum(one, 0), np.maximum(two, 0)
    found: FloatArray = 2 * one * two / np.maximum(one + two, 1e-9)
    return found


def ranked(
    collection: FormulaCollection, scores: Iterable[FloatArray], depth: int = 1000
) -> dict[str, list[tuple[str, float]]]:
    """Return the best candidates of every topic, or all judged ones if only these are ranked; scores are read topic by topic."""
    found: dict[str, list[tuple[str, float]]] = {}
    for topic, row in zip(collection.topics, scores, strict=True):
        chosen = collection.ranked_for(topic)
        if not collection.among_judged and len(chosen) > depth:
            chosen = np.argpartition(-row, depth)[:depth]
        chosen = chosen[row[chosen] > NOT_FOUND]
        order = chosen[np.argsort(-row[chosen], kind="stable")]
        found[topic] = [(collection.candidates[number], float(row[number])) for number in order.tolist()]
    return found


def first_scores(row: FloatArray, count: int) -> FloatArray:
    """Return the scores of a topic with only the `count` highest left."""
    if len(row) <= count:
        return row
    found = np.full_like(row, NOT_FOUND)
    kept = np.argpartition(-row, count)[:count]
    found[kept] = row[kept]
    return found


def fused(scores: Mapping[str, FloatArray], ranking: str, among: AnyArray | None = None) -> FloatArray:
    """Compute a ranking for the tables from a topic's scores by field: of one field, or of both views by MAX, AVG, F1 or RRF.

    `among` are the numbers of the candidates among which ranks are counted.
    """
    known = (*scores, *(_FUSIONS if VIEW_OF.keys() <= scores.keys() else ()))
    if ranking not in known:
        raise MathAMRError(f"there is no ranking {ranking!r}; known: {', '.join(known)}")
    if ranking in _FUSIONS:
        one, two = (scores[field] for field in VIEW_OF)
        return _FUSIONS[ranking](one, two, among)
    return scores[ranking]


def reciprocal_ranks(
    rows: Sequence[FloatArray], among: AnyArray | None = None, depth: int | None = None
) -> FloatArray:
    """Reciprocal rank fusion of a topic's scores, over the ranks among some candidates or all.

    Only the first `depth` of each ranking count, if it is given. What no ranking has found has no score.
    """
    found: FloatArray = np.zeros(len(rows[0]), np.float32)
    chosen = np.arange(len(found)) if among is None else np.sort(among)
    for row in rows:
        ranked = chosen[row[chosen] > NOT_FOUND]
        order = ranked[np.argsort(-row[ranked], kind="stable")][:depth]
        found[order] += (1 / (1 + RANK_OFFSET + np.arange(len(order)))).astype(np.float32)
    found[found == 0] = NOT_FOUND
    return found


def _mean(one: FloatArray, two: FloatArray) -> FloatArray:
    """Return the mean of two scores; one that is missing counts 0."""
    return np.asarray((np.maximum(one, 0) + np.maximum(two, 0)) / 2, np.float32)


def _of_found(
    fuse: Callable[[FloatArray, FloatArray], FloatArray], one: FloatArray, two: FloatArray
) -> FloatArray:
    """Fuse two scores; what neither ranking has found has no score."""
    return np.asarray(np.where(np.maximum(one, two) > NOT_FOUND, fuse(one, two), NOT_FOUND), np.float32)


_FUSIONS: Mapping[str, Callable[[FloatArray, FloatArray, AnyArray | None], FloatArray]] = {
    "max": lambda one, two, _: np.maximum(one, two),
    "mean": lambda one, two, _: _of_found(_mean, one, two),
    "f1": lambda one, two, _: _of_found(harmonic_mean, one, two),
    "rrf": lambda one, two, among: reciprocal_ranks([one, two], among),
}
