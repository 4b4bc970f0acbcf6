"""Statistics of a graph store, in the form of the thesis's Table 4.2."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from mathamr.graphs.corpus import BuildCounts
from mathamr.graphs.shape import GraphShape
from mathamr.graphs.store import GraphStore
from mathamr.graphs.vocabulary import Coverage


@dataclass(frozen=True, slots=True)
class KindSize:
    """The posts of one kind and their average size."""

    posts: int
    nodes: float
    edges: float
    formulas: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of a collection of graphs, without virtual nodes and inverse edges."""

    posts: int
    failed: int
    fallbacks: dict[str, int]
    kinds: dict[str, KindSize]
    pairs: int
    accepted_pairs: int
    nodes_mean: float
    nodes_median: int
    edges_mean: float
    formulas: int
    vocabularies: Coverage | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    shape: GraphShape | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def statistics(
    store: GraphStore,
    build: BuildCounts | None = None,
    vocabularies: Coverage | None = None,
    reading: dict[str, Any] | None = None,
) -> Statistics:
    """Return the statistics of a store, with the reports of its last build, its vocabularies and the reader of its posts."""
    sizes = store.sizes()
    posts = sum(row[1] for row in sizes)
    nodes, edges, formulas = (
        sum(row[2] for row in sizes),
        sum(row[3] for row in sizes),
        sum(row[4] for row in sizes),
    )
    return Statistics(
        posts=posts,
        failed=build.failed if build else 0,
        fallbacks=dict(store.fallbacks().most_common()),
        kinds={kind: KindSize(n, a / n, b / n, c / n) for kind, n, a, b, c in sizes},
        pairs=sum(1 for _ in store.pairs()),
        accepted_pairs=sum(1 for _ in store.pairs(accepted_only=True)),
        nodes_mean=nodes / posts if posts else 0.0,
        nodes_median=store.median_nodes(),
        edges_mean=edges / posts if posts else 0.0,
        formulas=formulas,
        vocabularies=vocabularies,
        reading=reading or {},
        shape=GraphShape.of(json.loads(shape)) if (shape := store.meta("shape")) else None,
    )
