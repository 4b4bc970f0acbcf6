"""Fusions: functions that combine several rankings into one, by name.

Scores of different systems are not comparable (BM25 has no upper bound, a cosine has), so fusions that use scores
normalise them query by query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import chain
from typing import Protocol, overload

import numpy as np

from mathamr.core.arrays import BoolArray, DoubleArray, IntArray
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.registry import Registry
from mathamr.index.scored import EntryNames, ListedNames, Scored, ScoredColumns, ScoredRows

RANK_OFFSET = 60
"""Cormack's constant: the greater it is, the less the first ranks differ."""

UNSURE_SHARE = 0.5
"""What a bounded score is at most, as a share of the mean of the other scores (lab/notes/typed.md)."""
_SPARSE = 16
"""Rankings are joined by rows if an index has at most so many times as many entries as they have."""

ScoredIds = Sequence[tuple[str, float]]
"""Ids and scores, best first, such as `Scored`s."""


class Fusion(Protocol):
    """Combines several rankings into one."""

    def __call__(
        self, rankings: Sequence[ScoredIds], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Return the union of the rankings, best first, or its best `k`; equal scores are ordered by id.

        `weights` has one weight per ranking, by default all equal.
        """
        ...


FUSIONS: Registry[Callable[..., Fusion]] = Registry(
    "fusion",
    {
        "rrf": "mathamr.search.fusion:ReciprocalRankFusion",
        "score-rrf": "mathamr.search.fusion:ScoredReciprocalRank",
        "max": "mathamr.search.fusion:Maximum",
        "mean": "mathamr.search.fusion:Mean",
        "f1": "mathamr.search.fusion:HarmonicMean",
        "weighted-sum": "mathamr.search.fusion:WeightedSum",
    },
    group="mathamr.fusions",
)


def takes_normalisation(name: str) -> bool:
    """Return True if a fusion uses scores, so that a normalisation can be chosen."""
    return "normalisation" in _parameters(name)


def _parameters(name: str) -> set[str]:
    """Return the fields of a fusion; one of another package may be any function that makes a fusion, and then has none."""
    kind = FUSIONS[name]
    return {each.name for each in fields(kind)} if is_dataclass(kind) else set()


def fuse(
    name: str,
    rankings: Sequence[ScoredIds],
    weights: Sequence[float] | None = None,
    k: int | None = None,
    normalisation: str | None = None,
) -> Sequence[Scored]:
    """Return the best `k` of a fusion by name; `normalisation` overrides the fusion's own.

    >>> words = [Scored("a", 9.0), Scored("b", 8.0)]
    >>> vectors = [Scored("b", 0.7), Scored("c", 0.6)]
    >>> [hit.id for hit in fuse("rrf", [words, vectors])]
    ['b', 'a', 'c']
    """
    kind = FUSIONS[name]
    if normalisation is None:
        return kind()(rankings, weights, k)
    if not takes_normalisation(name):
        raise MathAMRError(f"the fusion {name!r} uses ranks alone and takes no normalisation")
    return kind(normalisation=normalisation)(rankings, weights, k)


def min_max(scores: DoubleArray) -> DoubleArray:
    """Scale scores from 0, the lowest, to 1, the highest; equal scores are all 1."""
    low = scores.min()
    span = scores.max() - low
    return (scores - low) / span if span else np.ones(len(scores))


def by_top(scores: DoubleArray) -> DoubleArray:
    """Divide scores by the best one; if none is positive, use `min_max`."""
    high = scores.max()
    if high <= 0:
        return min_max(scores)
    shares = np.zeros(len(scores))
    np.divide(scores, high, out=shares, where=scores > 0)
    return shares


def shifted_z(scores: DoubleArray) -> DoubleArray:
    """Return standard scores, shifted so that the lowest is 0."""
    apart = scores - math.fsum(scores.tolist()) / len(scores)
    deviation = math.sqrt(float(apart @ apart) / len(scores))
    return (scores - scores.min()) / deviation if deviation > 0 else np.ones(len(scores))


def unchanged(scores: DoubleArray) -> DoubleArray:
    """Return the scores unchanged, for scores that are already comparable."""
    return scores


NORMALISATIONS: dict[str, Callable[[DoubleArray], DoubleArray]] = {
    "min-max": min_max,
    "top": by_top,
    "z": shifted_z,
    "none": unchanged,
}


class JoinedRankings(Sequence[ScoredColumns]):
    """Several rankings as columns, with the rows that their entries have in common names.

    Looking up thousands of ids takes longer than adding their scores: rankings that are fused twice are joined once, and rows of the same
    or of another part of the index are found without looking at ids.
    """

    def __init__(
        self, rankings: Sequence[ScoredColumns], names: EntryNames, places: Sequence[IntArray]
    ) -> None:
        self._rankings, self.names, self.places = rankings, names, places
        self._normalised: dict[tuple[int, str], DoubleArray] = {}

    @classmethod
    def of(cls, rankings: Sequence[ScoredIds]) -> JoinedRankings:
        """Join rankings; of an id that a ranking repeats, the first occurrence counts."""
        if isinstance(rankings, JoinedRankings):
            return rankings
        columns = [_finite(ScoredColumns.of(ranking)) for ranking in rankings]
        total = sum(map(len, columns))
        for names in (own.names for own in columns if isinstance(own, ScoredRows)):
            if names.is_read and len(names) <= _SPARSE * total:
                places = [own.rows_in(names) for own in columns]
                if all(own.min(initial=0) >= 0 for own in places):
                    break
        else:
            names = ListedNames(chain.from_iterable(own.ids for own in columns))
            places = [names.find(own.ids) for own in columns]
        for number, own in enumerate(places):
            if len(own) and np.bincount(own).max() > 1:
                first = np.sort(np.unique(own, return_index=True)[1])
                places[number], columns[number] = own[first], columns[number].take(first)
        return cls(columns, names, places)

    @property
    def rows(self) -> IntArray:
        """The rows of the union of all entries."""
        is_there = np.zeros(len(self.names), np.bool_)
        for places in self.places:
            is_there[places] = True
        return np.flatnonzero(is_there)

    def __len__(self) -> int:
        return len(self._rankings)

    @overload
    def __getitem__(self, number: int) -> ScoredColumns: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[ScoredColumns]: ...

    def __getitem__(self, number: int | slice) -> ScoredColumns | Sequence[ScoredColumns]:
        return self._rankings[number]

    def scores_of(self, ids: Sequence[str]) -> list[dict[str, float]]:
        """Return, for each ranking, its scores of those of the ids that it has."""
        listed = ((own.find(ids).tolist(), own.scores.tolist()) for own in self._rankings)
        return [
            {each: scores[place] for each, place in zip(ids, places, strict=True) if place >= 0}
            for places, scores in listed
        ]

    def bounded(
        self, number: int, is_sure: BoolArray, weights: Sequence[float], normalisation: str
    ) -> JoinedRankings:
        """Return the same rankings, of which one bounds its scores of entries that are not sure by what the others say of them.

        Such an entry has at most `UNSURE_SHARE` of the mean of its other scores, and what is sure has no less than any of them.

        >>> words, formulas = [Scored("a", 4.0), Scored("c", 1.0)], [Scored("a", 3.0), Scored("b", 1.0), Scored("c", 0.5)]
        >>> joined = JoinedRankings.of([words, formulas]).bounded(1, np.array([False, True, False]), [1.0, 1.0], "none")
        >>> [scores.tolist() for _, scores, _ in joined.weighed([1.0, 1.0], "none")]
        [[4.0, 1.0], [2.0, 2.0, 0.5]]
        """
        said, total = np.zeros(len(self.names)), 0.0
        for other, (places, scores, weight) in enumerate(self.weighed(weights, normalisation)):
            if other != number:
                said[places] += weight * scores
                total += weight
        own = self._normalised[number, normalisation]
        if not total or is_sure.all():
            return self
        limited = np.minimum(own, UNSURE_SHARE * said[self.places[number]] / total)
        least = limited[~is_sure].max()
        found = JoinedRankings(self._rankings, self.names, self.places)
        found._normalised = self._normalised | {
            (number, normalisation): np.where(is_sure, np.maximum(own, least), limited)
        }
        return found

    def weighed(
        self, weights: Sequence[float] | None, normalisation: str
    ) -> Iterator[tuple[IntArray, DoubleArray, float]]:
        """Yield, for each ranking, the rows of its entries, its normalised scores and its weight."""
        for number, weight in enumerate(_weights(self._rankings, weights)):
            key = number, normalisation
            if key not in self._normalised:
                self._normalised[key] = _normalised(self._rankings[number].scores, normalisation)
            yield self.places[number], self._normalised[key], weight


class _ByScore:
    """A fusion that computes one score for each id; a ranking that lacks an id contributes nothing to it."""

    __slots__ = ()

    def __call__(
        self, rankings: Sequence[ScoredIds], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Return the best `k` ids by their fused scores."""
        joined = JoinedRankings.of(rankings)
        fused, rows = np.zeros(len(joined.names)), joined.rows
        self._add(fused, joined, _weights(rankings, weights))
        return ScoredRows(joined.names, rows, fused[rows]).best(k)

    def _add(self, fused: DoubleArray, joined: JoinedRankings, weights: Sequence[float]) -> None:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ReciprocalRankFusion(_ByScore):
    """Σ w / (60 + rank), by ranks alone: Cormack, Clarke and Büttcher, SIGIR 2009."""

    offset: float = RANK_OFFSET

    def _add(self, fused: DoubleArray, joined: JoinedRankings, weights: Sequence[float]) -> None:
        for places, weight in zip(joined.places, weights, strict=True):
            fused[places] += weight / (self.offset + np.arange(1, len(places) + 1))


@dataclass(frozen=True, slots=True)
class ScoredReciprocalRank(_ByScore):
    """Σ w · score / (60 + rank), as Tangent-CFT2 and MathAMR combine runs (Mansouri et al., CIKM 2022)."""

    offset: float = RANK_OFFSET
    normalisation: str = "top"

    def _add(self, fused: DoubleArray, joined: JoinedRankings, weights: Sequence[float]) -> None:
        for places, scores, weight in joined.weighed(weights, self.normalisation):
            fused[places] += weight * scores / (self.offset + np.arange(1, len(places) + 1))


@dataclass(frozen=True, slots=True)
class WeightedSum(_ByScore):
    """Σ w · score with normalised scores: linear fusion."""

    normalisation: str = "min-max"

    def _add(self, fused: DoubleArray, joined: JoinedRankings, weights: Sequence[float]) -> None:
        for places, scores, weight in joined.weighed(weights, self.normalisation):
            fused[places] += weight * scores


@dataclass(frozen=True, slots=True)
class Mean(WeightedSum):
    """The weighted mean of normalised scores (Amador and Zanibbi, ICTIR 2025)."""

    def _add(self, fused: DoubleArray, joined: JoinedRankings, weights: Sequence[float]) -> None:
        total = math.fsum(weights) or 1.0
        WeightedSum._add(self, fused, joined, [weight / total for weight in weights])


@dataclass(frozen=True, slots=True)
class Maximum(_ByScore):
    """The greatest of the normalised scores, each times its ranking's weight."""

    normalisation: str = "min-max"

    def _add(self, fused: DoubleArray, joined: JoinedRankings, weights: Sequence[float]) -> None:
        for places, scores, weight in joined.weighed(weights, self.normalisation):
            fused[places] = np.maximum(fused[places], weight * scores)


@dataclass(frozen=True, slots=True)
class HarmonicMean:
    """The harmonic mean of normalised scores, for two rankings F1.

    An id that some ranking lacks has the score 0; those ids follow in the order of the arithmetic mean.
    """

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[ScoredIds], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Return the best `k` ids by harmonic, then arithmetic mean."""
        chosen = _weights(rankings, weights)
        joined = JoinedRankings.of(rankings)
        counted = [
            (weight, own.with_scores(_normalised(own.scores, self.normalisation)).by_id())
            for weight, own in zip(chosen, joined, strict=True)
            if weight > 0
        ]
        total = math.fsum(weight for weight, _ in counted)
        arithmetic = Mean(self.normalisation)(joined, chosen)
        means = {hit.id: hit.score for hit in arithmetic}
        harmonic = {
            item: total / math.fsum(weight / found[item] for weight, found in counted)
            if all(found.get(item, 0.0) > 0 for _, found in counted)
            else 0.0
            for item in means
        }
        order = sorted(means, key=lambda item: (-harmonic[item], -means[item], item))
        return [Scored(item, harmonic[item]) for item in order[:k]]


def _weights(rankings: Sequence[ScoredIds], weights: Sequence[float] | None) -> Sequence[float]:
    if weights is None:
        return [1.0] * len(rankings)
    if len(weights) != len(rankings):
        raise MathAMRError(f"{len(rankings)} rankings need {len(rankings)} weights, got {len(weights)}")
    for weight in weights:
        if not math.isfinite(weight) or weight < 0:
            raise MathAMRError(f"the weight of a ranking must be a finite number of at least 0, got {weight}")
    return weights


def _finite(ranking: ScoredColumns) -> ScoredColumns:
    finite = np.isfinite(ranking.scores)
    if not finite.all():
        item, score = ranking[int(finite.argmin())]
        raise MathAMRError(f"the score of {item!r} in a ranking is not finite: {score}")
    return ranking


def _normalised(scores: DoubleArray, name: str) -> DoubleArray:
    if name not in NORMALISATIONS:
        raise UnknownNameError("normalisation", name, list(NORMALISATIONS))
    return NORMALISATIONS[name](scores) if len(scores) else scores
