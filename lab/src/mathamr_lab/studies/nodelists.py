"""Looks by lists of nodes instead of every node: what is found of exact MaxSim, and what that takes, as formulas grow to hundreds of thousands.

Two ways to choose the looks that are compared by exact MaxSim. A fixed encoding a look, which engines keep with `--engine-option first=fde`
(docs/engines.md). And centroids of nodes, as PLAID has it (arXiv 2205.09707): a node is known by its nearest centroid (two bytes), a
query looks into the lists of the centroids nearest to each of its nodes, orders the looks there by MaxSim with centroids in the place of
nodes, and reads the vectors of the first. No engine does the latter yet. The looks are real ones, those of a shard of formulas; what exact MaxSim over
all looks finds, the better of both views, is the truth. Times are of the processor, one core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.evaluation.table import aligned
from mathamr.index.engines.fixedencoding import FixedEncoding
from mathamr.index.engines.maxsim import maxsim
from mathamr.systems.system import VisualFormula
from mathamr.systems.vectors import Vectors
from mathamr_lab.studies.near import ARQMATH, encoded_visuals, formulas_of

SIZES = (10_000, 30_000, 100_000, 200_000)
PLANES = 3
"""Of a fixed encoding: eight cells, nothing projected."""
CENTROIDS = 2048
ROUNDS = 5
SAMPLE = 20
"""Nodes for each centroid that it is found from."""
PROBES = (2, 8, 32)
"""Lists that a node of a query looks into."""
POOLS = (300, 1000)
DEPTHS = (10, 100, 1000)
BLOCK = 8192

Chosen = Callable[[FloatArray], IntArray]
"""The looks that the nodes of a query choose."""


@dataclass(frozen=True)
class NodeRows:
    """The nodes of all looks in one view, end to end."""

    rows: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, visuals: Sequence[FloatArray]) -> NodeRows:
        """Looks one after the other."""
        return cls(np.concatenate(list(visuals)), np.cumsum([0, *map(len, visuals)])[:-1])

    @cached_property
    def counts(self) -> IntArray:
        """Nodes of every look."""
        return np.diff(self.starts, append=len(self.rows))

    @cached_property
    def owners(self) -> IntArray:
        """The look of every node."""
        return np.repeat(np.arange(len(self.starts)), self.counts)

    def places(self, visuals: IntArray) -> tuple[IntArray, IntArray]:
        """The nodes of some looks, and where each of these begins."""
        counts = self.counts[visuals]
        begins = np.cumsum(counts) - counts
        return np.arange(int(counts.sum())) + np.repeat(self.starts[visuals] - begins, counts), begins


class EncodedVisuals:
    """One vector a look (MUVERA)."""

    def __init__(self, view: NodeRows) -> None:
        size = view.rows.shape[1]
        self._encoding = FixedEncoding(size, PLANES, 1, size)
        self._made = self._encoding.entries(view.rows, view.starts)
        self.bytes = self._made.nbytes

    def choose(self, query: FloatArray, pool: int) -> IntArray:
        """The looks whose encodings are nearest."""
        return first(self._made @ self._encoding.query(query), pool)


class NodeLists:
    """Nodes by their centroids, and for every centroid the looks that have a node of its own."""

    def __init__(self, view: NodeRows) -> None:
        self._view = view
        draw = np.random.default_rng(0)
        sample = view.rows[np.sort(draw.permutation(len(view.rows))[: SAMPLE * CENTROIDS])]
        self._centroids = sample[np.sort(draw.permutation(len(sample))[:CENTROIDS])]
        for _ in range(ROUNDS):
            codes = self._nearest(sample)
            sums = np.zeros_like(self._centroids)
            np.add.at(sums, codes, sample)
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            self._centroids = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), self._centroids)
        self._codes = self._nearest(view.rows).astype(np.uint16)
        order = np.argsort(self._codes, kind="stable")
        self._listed = view.owners[order].astype(np.int32)
        self._bounds = np.searchsorted(self._codes[order], np.arange(len(self._centroids) + 1))
        self.bytes = self._codes.nbytes + self._listed.nbytes

    def _nearest(self, rows: FloatArray) -> IntArray:
        return np.concatenate(
            [
                (rows[begin : begin + BLOCK] @ self._centroids.T).argmax(axis=1)
                for begin in range(0, len(rows), BLOCK)
            ]
        )

    def choose(self, query: FloatArray, probes: int, pool: int) -> IntArray:
        """The looks of the nearest lists that MaxSim over centroids puts first."""
        similar = query @ self._centroids.T
        near = np.unique(np.argpartition(-similar, probes, axis=1)[:, :probes])
        visuals = np.unique(
            np.concatenate([self._listed[self._bounds[each] : self._bounds[each + 1]] for each in near])
        )
        places, begins = self._view.places(visuals.astype(np.int64))
        best = np.maximum.reduceat(np.ascontiguousarray(similar.T)[self._codes[places]], begins, axis=0)
        return visuals[first(best.mean(axis=1), pool)].astype(np.int64)


def first(scores: FloatArray, count: int) -> IntArray:
    """The places of the best scores, in no order."""
    found: IntArray = np.argpartition(-scores, min(count, len(scores) - 1))[:count]
    return found


def nodelists(formulas: Path, queries: Sequence[VisualFormula]) -> None:
    """Measures all sizes that the shard and the seconds of `MATHAMR_NEAR_SECONDS` allow."""
    system, shard, order = formulas_of(formulas)
    budget, began = float(os.environ.get("MATHAMR_NEAR_SECONDS", "600")), time.perf_counter()
    asked = list(system.encode_visuals(queries))
    rows: dict[str, list[FloatArray]] = {}
    done, encoding = 0, 0.0
    head = ["visual", "vectors", "GB", "looks by", "made, s", "GB beside", "exact, ms", "pool", "ms a query"]
    table = [[*head, *(f"recall@{depth}" for depth in DEPTHS)]]
    print("\nlooks chosen by encodings and by lists of nodes, then exact MaxSim", flush=True)
    for size in SIZES:
        spent = time.perf_counter() - began
        if size > len(shard) or (done and spent * size / done > budget):
            break
        started = time.process_time()
        for name, own in encoded_visuals(system, shard, order[done:size]).items():
            rows.setdefault(name, []).extend(own)
        encoding += time.process_time() - started
        done = size
        table += _measured({name: NodeRows.of(own) for name, own in rows.items()}, asked)
        print(f"  {done:,} looks, {done / encoding:,.0f} looks/s encoded", flush=True)
    print(aligned(table), flush=True)
    print(f"{ARQMATH:,} looks are {ARQMATH / max(1, done):,.0f} times the last size", flush=True)


def _measured(views: Mapping[str, NodeRows], asked: Sequence[Mapping[str, Vectors]]) -> list[list[str]]:
    vectors = sum(len(view.rows) for view in views.values())
    size = next(iter(views.values())).rows.shape[1]
    began = time.process_time()
    truth = [
        np.maximum.reduce(
            [maxsim(query[name].vectors, view.rows, view.starts) for name, view in views.items()]
        )
        for query in asked
    ]
    exact = (time.process_time() - began) / len(asked)
    found: list[list[str]] = []

    def measure(title: str, made: float, size_beside: int, pool: int, chosen: Mapping[str, Chosen]) -> None:
        began = time.process_time()
        scored = [_scored(views, query, chosen) for query in asked]
        took = (time.process_time() - began) / len(asked)
        recall = (
            np.mean([_recall(*each, depth) for each in zip(truth, scored, strict=True)]) for depth in DEPTHS
        )
        found.append(
            [
                f"{len(truth[0]):,}",
                f"{vectors:,}",
                f"{vectors * size * 4 / 1e9:.2f}",
                title,
                f"{made:.1f}",
                f"{size_beside / 1e9:.3f}",
                f"{1000 * exact:.0f}",
                str(pool),
                f"{1000 * took:.0f}",
                *(f"{each:.3f}" for each in recall),
            ]
        )

    began = time.process_time()
    encoded = {name: EncodedVisuals(view) for name, view in views.items()}
    made = time.process_time() - began
    pool = POOLS[-1]
    choices = {name: _with_pool(each, pool) for name, each in encoded.items()}
    measure("encodings", made, sum(each.bytes for each in encoded.values()), pool, choices)
    del encoded, choices
    began = time.process_time()
    lists = {name: NodeLists(view) for name, view in views.items()}
    made, beside = time.process_time() - began, sum(each.bytes for each in lists.values())
    for probes in PROBES:
        for pool in POOLS:
            measure(
                f"{probes} lists",
                made,
                beside,
                pool,
                {name: _probing(each, probes, pool) for name, each in lists.items()},
            )
    return found


def _with_pool(visuals: EncodedVisuals, pool: int) -> Chosen:
    return lambda query: visuals.choose(query, pool)


def _probing(lists: NodeLists, probes: int, pool: int) -> Chosen:
    return lambda query: lists.choose(query, probes, pool)


def _scored(
    views: Mapping[str, NodeRows], query: Mapping[str, Vectors], chosen: Mapping[str, Chosen]
) -> dict[int, float]:
    """The looks that either view chose, by exact MaxSim in the views that chose them."""
    found: dict[int, float] = {}
    for name, view in views.items():
        nodes = query[name].vectors
        visuals = chosen[name](nodes)
        places, begins = view.places(visuals)
        for visual, score in zip(
            visuals.tolist(), maxsim(nodes, view.rows[places], begins).tolist(), strict=True
        ):
            found[visual] = max(found.get(visual, -1.0), score)
    return found


def _recall(truth: FloatArray, found: Mapping[int, float], depth: int) -> float:
    """What is as good as the last of the true ones is as true."""
    last = np.partition(truth, len(truth) - depth)[len(truth) - depth]
    order = sorted(found, key=lambda visual: (-found[visual], visual))[:depth]
    return min(1.0, sum(bool(truth[visual] >= last - 1e-5) for visual in order) / depth)
