"""`GraphStack`: many graphs side by side as one disconnected graph, in numpy, without padding (thesis, 3.4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mathamr.core.arrays import AnyArray, BoolArray
from mathamr.core.errors import MathAMRError
from mathamr.graphs.flatgraph import NodePart

if TYPE_CHECKING:
    from mathamr.graphs.shard import Shard
    from mathamr.graphs.tensor import GraphTensor

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class GraphStack:
    """The nodes, edges and representatives of graphs, numbered consecutively; graph g has `node_counts[g]` nodes.

    The forward edges of all graphs come first, then the inverse ones in the same order; `edge_counts` counts the
    forward ones.
    """

    node_ids: AnyArray
    virtual: BoolArray
    sources: AnyArray
    targets: AnyArray
    relations: AnyArray
    representatives: AnyArray
    levels: AnyArray
    node_counts: AnyArray
    edge_counts: AnyArray
    representative_counts: AnyArray

    def __len__(self) -> int:
        return len(self.node_counts)

    @classmethod
    def of_shard(cls, shard: Shard, numbers: Sequence[int] | AnyArray) -> GraphStack:
        """Take graphs of a shard by number out of its columns, without a loop over graphs."""
        chosen = np.asarray(numbers, np.int64)
        columns = shard.columns
        nodes, node_counts = _ranges(shard.starts["nodes"], chosen)
        edges, edge_counts = _ranges(shard.starts["edges"], chosen)
        reps, representative_counts = _ranges(shard.starts["reps"], chosen)
        before = np.cumsum(node_counts) - node_counts
        edge_shift = np.repeat(before, edge_counts)
        return cls._with_inverse(
            columns["nodes"][nodes],
            columns["parts"][nodes] == NodePart.VIRTUAL,
            columns["sources"][edges] + edge_shift,
            columns["targets"][edges] + edge_shift,
            columns["relations"][edges],
            columns["representatives"][reps] + np.repeat(before, representative_counts),
            columns["levels"][reps],
            (node_counts, edge_counts, representative_counts),
        )

    @classmethod
    def of_tensors(cls, tensors: Sequence[GraphTensor]) -> GraphStack:
        """Stack graphs given one by one."""
        node_counts = np.array([len(t) for t in tensors], np.int64)
        edge_counts = np.array([t.forward_edges for t in tensors], np.int64)
        representative_counts = np.array([len(t.representatives) for t in tensors], np.int64)
        before = np.cumsum(node_counts) - node_counts
        edge_shift = np.repeat(before, edge_counts)
        return cls._with_inverse(
            _joined(t.node_ids for t in tensors),
            _joined(t.parts for t in tensors) == NodePart.VIRTUAL,
            _joined(t.edge_index[0, : t.forward_edges] for t in tensors) + edge_shift,
            _joined(t.edge_index[1, : t.forward_edges] for t in tensors) + edge_shift,
            _joined(t.relation_ids[: t.forward_edges] for t in tensors),
            _joined(t.representatives for t in tensors) + np.repeat(before, representative_counts),
            _joined(t.levels for t in tensors),
            (node_counts, edge_counts, representative_counts),
        )

    @classmethod
    def _with_inverse(
        cls,
        node_ids: AnyArray,
        virtual: AnyArray,
        sources: AnyArray,
        targets: AnyArray,
        relations: AnyArray,
        representatives: AnyArray,
        levels: AnyArray,
        counts: tuple[AnyArray, AnyArray, AnyArray],
    ) -> GraphStack:
        forward = relations.astype(np.int32)
        return cls(
            node_ids.astype(np.int32),
            virtual,
            np.concatenate([sources, targets]).astype(np.int32),
            np.concatenate([targets, sources]).astype(np.int32),
            np.concatenate([forward, forward + 1]),
            representatives.astype(np.int32),
            levels.astype(np.int32),
            *counts,
        )


def packed(items: Iterable[tuple[T, int]], budget: int) -> Iterator[list[T]]:
    """Split items, in order, into lists whose costs stay within the budget; an item above the budget gets a list of its own.

    >>> list(packed([("a", 2), ("b", 3), ("c", 9), ("d", 1)], 5))
    [['a', 'b'], ['c'], ['d']]
    """
    chosen: list[T] = []
    spent = 0
    for item, cost in items:
        if chosen and spent + cost > budget:
            yield chosen
            chosen, spent = [], 0
        chosen.append(item)
        spent += cost
    if chosen:
        yield chosen


def cost(tensor: GraphTensor) -> int:
    """Return the memory cost of a graph: its nodes and edges."""
    return len(tensor) + len(tensor.relation_ids)


def check_numbers(stack: GraphStack, tensors: Sequence[GraphTensor], labels: int, relations: int) -> None:
    """Refuse numbers beyond the vocabularies, which would give wrong vectors or, on a GPU, kill the process."""
    for numbers, known, what in ((stack.node_ids, labels, "label"), (stack.relations, relations, "relation")):
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < known:
            raise MathAMRError(
                f"a graph among {tensors[0].post_id!r}…{tensors[-1].post_id!r} has a {what} number"
                f" outside the model's {known}: its tensors were built with another vocabulary; build them again"
            )


def _ranges(starts: AnyArray, chosen: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the concatenated positions of the chosen graphs' elements, and how many each graph has."""
    counts = starts[chosen + 1] - starts[chosen]
    return node_ranges(starts[chosen], counts), counts


def node_ranges(begins: AnyArray, counts: AnyArray) -> AnyArray:
    """Return the concatenated ranges of numbers that start at each begin and have its count.

    >>> node_ranges(np.array([5, 2]), np.array([2, 3]))
    array([5, 6, 2, 3, 4])
    """
    shift = begins - (np.cumsum(counts) - counts)
    found: AnyArray = np.repeat(shift, counts) + np.arange(counts.sum())
    return found


def _joined(arrays: Iterable[AnyArray]) -> AnyArray:
    listed = list(arrays)
    return np.concatenate(listed) if listed else np.zeros(0, np.int32)
