"""Weights of the default ranking for one collection, chosen by nested cross-validation over its own known items.

The parts of the fusion rank every known item once; all weights of a grid are then tried on their normalised scores. Each fold is
ranked with the weights that are best on the other four, by the complete ranking, and compared with the weights in use. Kinds of
queries (`QueryKind`) are chosen one by one; a kind whose gain may be chance keeps its weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from zlib import crc32

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.core.storage.writerlock import WriterLock
from mathamr.evaluation.knownitems import DEPTH, KnownItem, draw_known_items, reciprocal_rank
from mathamr.evaluation.significance import LEVEL, bootstrap_interval
from mathamr.index.manifest import Manifest
from mathamr.posts.post import Post
from mathamr.search.fusion import shifted_z
from mathamr.search.query import Query, QueryError
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Fuse, QueryKind, Ranking, fusion_of, with_weights

COUNT = 100
"""The number of known items of each form, unless the user says another."""
LEAST = 40
"""A kind of query with fewer known items keeps its weights."""
FOLDS, POOL = 5, 300
SCALE = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The weights that are tried for every part beside the first, whose weight is 1 or 0."""


@dataclass(frozen=True, slots=True)
class TunedKind:
    """What was measured for a kind of query: MRR@10 with the weights in use and with those chosen on other folds."""

    kind: QueryKind
    items: int
    mrr_before: float
    mrr_after: float
    difference_interval: tuple[float, float]
    weights: dict[str, float]
    """The weights that are best on all items, by part."""
    gains: bool
    """True if the whole interval of the difference is above 0."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The numbers of known items, and the kinds of queries that had enough of them."""

    known_items: dict[QueryKind, int]
    kinds: tuple[TunedKind, ...]
    weights: dict[str, dict[QueryKind, float]]
    """The weights of the index with those that gain, by part and kind."""


def tune(index: Index, count: int = COUNT) -> Tuning:
    """Choose weights for an index from up to `count` known items of each form; nothing is written."""
    _, ranking = index.ranking("answers")
    fusion = fusion_of(ranking)
    if fusion is None or fusion.normalisation != "z":
        raise MathAMRError(
            f"the default ranking of the model {index.archive.manifest.model.name} is not a weighted fusion, so there is nothing to tune"
        )
    by_kind: dict[QueryKind, list[tuple[Query, KnownItem]]] = defaultdict(list)
    for item in draw_known_items(index.posts(), count):
        with suppress(QueryError):
            asked = item.query
            query = (
                Query.of_post(asked) if isinstance(asked, Post) else Query.of_text(asked, macros=index.macros)
            )
            by_kind[query.kind].append((query, item))
    counts = {kind: len(items) for kind, items in by_kind.items()}
    enough = {kind: items for kind, items in by_kind.items() if len(items) >= LEAST}
    if not enough:
        had = ", ".join(f"{number} of the kind {kind}" for kind, number in counts.items()) or "none"
        raise MathAMRError(
            f"{index.archive.folder} has too few titles, links and formulas to choose weights from: {had};"
            f" tuning needs {LEAST} queries of one kind"
        )
    with Progress("tuning", "queries", total=sum(map(len, enough.values()))) as progress:
        kinds = [
            _tune_kind(index, ranking, fusion, kind, list(progress.each(items)), LEVEL / len(enough))
            for kind, items in enough.items()
        ]
    weights = {name: dict(own) for name, own in index.archive.manifest.model.weights.items()}
    for each in kinds:
        for name, weight in each.weights.items() if each.gains else ():
            weights.setdefault(name, {})[each.kind] = weight
    return Tuning(counts, tuple(kinds), weights)


def write_weights(folder: Path, weights: dict[str, dict[QueryKind, float]]) -> None:
    """Write weights into the manifest of an index; without weights, its model's own count again."""
    lock = WriterLock(folder, "mathamr tune")
    try:
        manifest = Manifest.read(folder)
        replace(manifest, model=replace(manifest.model, weights=weights)).write(folder)
    finally:
        lock.release()


def _tune_kind(
    index: Index,
    ranking: Ranking,
    fusion: Fuse,
    kind: QueryKind,
    items: Sequence[tuple[Query, KnownItem]],
    level: float,
) -> TunedKind:
    grid = _grid(fusion, kind)
    parts = [part.ranking if used.any() else None for part, used in zip(fusion.parts, grid.T, strict=True)]
    ranks = np.array([reciprocal_ranks(index, parts, query, item, grid) for query, item in items])
    folds = np.array([crc32(f"fold:{min(item.right)}".encode()) % FOLDS for _, item in items])
    weights = [
        {part.name: float(weight) for part, weight in zip(fusion.parts, row, strict=True)} for row in grid
    ]
    before, after = [], []
    for (query, item), fold in zip(items, folds, strict=True):
        before.append(_value(index, ranking, query, item))
        best = int(ranks[folds != fold].sum(0).argmax())
        other = with_weights(ranking, {name: {kind: weight} for name, weight in weights[best].items()})
        after.append(_value(index, other, query, item) if best else before[-1])  # the first are those in use
    differences = [new - old for old, new in zip(before, after, strict=True)]
    low, high = bootstrap_interval(differences, level) or (0.0, 0.0)
    return TunedKind(
        kind,
        len(items),
        round(fmean(before), 4),
        round(fmean(after), 4),
        (round(low, 4), round(high, 4)),
        weights[int(ranks.sum(0).argmax())],
        low > 0,
    )


def _grid(fusion: Fuse, kind: QueryKind) -> DoubleArray:
    """Return all weights that are tried, those in use first; a search for formulas counts only where a query is one."""
    used = tuple(part.weight for part in fusion.suited(kind).parts)
    scales: list[Sequence[float]] = [(1.0, 0.0)]
    for part in fusion.parts[1:]:
        scales.append((0.0,) if part.name == "formula" and kind not in ("formula", "mixed") else SCALE)
    return np.array([used, *(each for each in product(*scales) if any(each))])


def reciprocal_ranks(
    index: Index,
    parts: Sequence[Ranking | None],
    query: Query | str,
    item: KnownItem,
    grid: DoubleArray,
) -> DoubleArray:
    """Return the reciprocal rank of the first right post under all weights of the parts, by their normalised scores.

    A part that is None finds nothing.
    """
    found = [
        []
        if part is None
        else [hit for hit in index.rank(query, "answers", part, POOL)[0] if hit.id != item.made_of]
        for part in parts
    ]
    places = {
        each: place for place, each in enumerate(dict.fromkeys(hit.id for hits in found for hit in hits))
    }
    right = [places[each] for each in item.right if each in places]
    if not right:
        return np.zeros(len(grid))
    scores = np.zeros((len(places), len(found)))
    for column, hits in enumerate(found):
        if hits:
            scores[[places[hit.id] for hit in hits], column] = shifted_z(
                np.array([hit.score for hit in hits])
            )
    totals = scores @ grid.T
    others = np.delete(totals, right, axis=0)
    # Behind its equals: nothing is found by weights of 0.
    ranks = 1 + (others > totals[right].max(0) - 1e-9).sum(0)
    return np.where(ranks <= DEPTH, 1 / ranks, 0.0)


def _value(index: Index, ranking: Ranking, query: Query, item: KnownItem) -> float:
    """Return the reciprocal rank of a known item by a complete ranking."""
    found, _ = index.rank(query, "answers", ranking, DEPTH + 1)
    return reciprocal_rank(item.right, [hit.id for hit in found if hit.id != item.made_of])
