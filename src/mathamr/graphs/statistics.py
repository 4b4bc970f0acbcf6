"""Statistics of a graph store, in the form of the thesis's Table 4.2."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

from mathamr.graphs.store import GraphStore
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts


@dataclass(frozen=True, slots=True)
class KindSize:
    """The posts of one kind and their average size."""

    posts: int
    nodes: float
    edges: float
    formulas: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a collection of graphs is made of; sizes are without virtual nodes and inverse edges."""

    posts: int
    failed: int
    fallbacks: dict[str, int]
    kinds: dict[str, KindSize]
    pairs: int
    accepted_pairs: int
    nodes_mean: float
    nodes_median: float
    edges_mean: float
    formulas: int
    labels_raw: int | None = None
    labels: int | None = None
    coverage: float | None = None
    relations_raw: int | None = None
    relations: int | None = None
    reading: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return asdict(self)


def statistics(
    store: GraphStore,
    vocabularies: tuple[Vocabulary, RelationVocabulary, VocabularyCounts] | None = None,
    reading: dict[str, Any] | None = None,
) -> Statistics:
    """The statistics of a store; those of the labels need the counts that built its vocabularies.

    `reading` is what the reader of the posts reported. No post of ours fails: what the thesis lost is a fallback
    here.
    """
    rows = store.sizes()
    kinds: dict[str, KindSize] = {}
    for kind in sorted({row[0] for row in rows}):
        of_kind = [row for row in rows if row[0] == kind]
        nodes, edges, formulas = (sum(int(row[i]) for row in of_kind) / len(of_kind) for i in (1, 2, 3))
        kinds[kind] = KindSize(len(of_kind), nodes, edges, formulas)
    count = len(rows)
    base = Statistics(
        posts=count,
        failed=0,
        fallbacks=dict(store.fallbacks().most_common()),
        kinds=kinds,
        pairs=sum(1 for _ in store.pairs()),
        accepted_pairs=sum(1 for _ in store.pairs(accepted_only=True)),
        nodes_mean=sum(row[1] for row in rows) / count if count else 0.0,
        nodes_median=float(median(row[1] for row in rows)) if count else 0.0,
        edges_mean=sum(row[2] for row in rows) / count if count else 0.0,
        formulas=sum(row[3] for row in rows),
        reading=reading or {},
    )
    if vocabularies is None:
        return base
    vocabulary, relations, counts = vocabularies
    return replace(
        base,
        labels_raw=len(counts.raw_labels),
        labels=len(vocabulary),
        coverage=vocabulary.coverage,
        relations_raw=len(counts.relations),
        relations=len(relations),
    )
