"""Fusions: functions that combine several rankings into one, by name.

Scores of different systems are not comparable (BM25 has no upper bound, a cosine has), so fusions that use scores
normalise them query by query.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import count
from typing import Protocol, overload

import numpy as np

from mathamr.core.arrays import DoubleArray, IndexArray
from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.core.registry import Registry
from mathamr.index.scored import Scored, ScoredColumns, sort_ties

RANK_OFFSET = 60
"""Cormack's constant: the greater it is, the less the first ranks differ."""

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
)


def takes_normalisation(name: str) -> bool:
    """Return True if a fusion uses scores, so that a normalisation can be chosen."""
    return any(each.name == "normalisation" for each in fields(FUSIONS[name]))  # type: ignore[arg-type]


def looks_at_scores(name: str) -> bool:
    """Return True if a fusion uses scores alone and no ranks."""
    return takes_normalisation(name) and "offset" not in {each.name for each in fields(FUSIONS[name])}  # type: ignore[arg-type]


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
    """Score as they are, for scores that are already comparable."""
    return scores


NORMALISATIONS: dict[str, Callable[[DoubleArray], DoubleArray]] = {
    "min-max": min_max,
    "top": by_top,
    "z": shifted_z,
    "none": unchanged,
}


class JoinedRankings(Sequence[ScoredColumns]):
    """Several rankings as columns over the union of their ids, with the positions of each ranking's ids in it.

    Looking up thousands of ids takes longer than adding their scores, so rankings that are fused twice are joined once.
    """

    def __init__(
        self,
        rankings: Sequence[ScoredColumns],
        numbers: Mapping[str, int],
        places: Sequence[IndexArray],
    ) -> None:
        self._rankings, self._numbers, self.places = rankings, numbers, places
        self.ids = list(numbers)

    @classmethod
    def of(cls, rankings: Sequence[ScoredIds]) -> JoinedRankings:
        """Join rankings; of an id that a ranking repeats, the first occurrence counts."""
        if isinstance(rankings, JoinedRankings):
            return rankings
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        columns = [_finite(ScoredColumns.of(ranking)) for ranking in rankings]
        places = [np.fromiter(map(numbers.__getitem__, own.ids), np.intp, len(own)) for own in columns]
        for number, (own, standing) in enumerate(zip(columns, places, strict=True)):
            if len(own) and np.bincount(standing).max() > 1:
                first = np.sort(np.unique(standing, return_index=True)[1])
                places[number] = standing[first]
                columns[number] = ScoredColumns([own.ids[each] for each in first.tolist()], own.scores[first])
        return cls(columns, numbers, places)

    def __len__(self) -> int:
        return len(self._rankings)

    @overload
    def __getitem__(self, number: int) -> ScoredColumns: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[ScoredColumns]: ...

    def __getitem__(self, number: int | slice) -> ScoredColumns | Sequence[ScoredColumns]:
        return self._rankings[number]

    def rescored(self, number: int, hits: Sequence[tuple[str, float]]) -> JoinedRankings:
        """Return the same rankings with new scores for some results of one of them, in the old order."""
        own, standing = self._rankings[number], self._standing(number)
        given = ScoredColumns.of(hits)
        places = standing[[self._numbers[each] for each in given.ids]]
        scores = own.scores.copy()
        scores[places[places >= 0]] = given.scores[places >= 0]
        changed = [*self._rankings]
        changed[number] = ScoredColumns(own.ids, scores)
        return JoinedRankings(changed, self._numbers, self.places)

    def scores_of(self, ids: Iterable[str]) -> list[dict[str, float]]:
        """Return for each ranking, its scores of some of the ids."""
        names = list(ids)
        chosen = [self._numbers[each] for each in names]
        found = []
        for number, own in enumerate(self._rankings):
            places = self._standing(number)[chosen]
            scores = own.scores[places].tolist() if len(own) else []
            found.append(
                {
                    each: score
                    for each, place, score in zip(names, places.tolist(), scores, strict=False)
                    if place >= 0
                }
            )
        return found

    def _standing(self, number: int) -> IndexArray:
        """Return the position of every id in one ranking, or -1."""
        standing = np.full(len(self.ids), -1)
        standing[self.places[number]] = np.arange(len(self.places[number]))
        return standing

    def weighed(
        self, weights: Sequence[float] | None, normalisation: str
    ) -> Iterator[tuple[IndexArray, DoubleArray, float]]:
        """Yield for each ranking, the positions of its ids, its normalised scores and its weight."""
        for own, places, weight in zip(
            self._rankings, self.places, _weights(self._rankings, weights), strict=True
        ):
            yield places, _normalised(own.scores, normalisation), weight


class _ByScore:
    """A fusion that computes one score for each id; a ranking that lacks an id contributes nothing to it."""

    __slots__ = ()

    def __call__(
        self, rankings: Sequence[ScoredIds], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Return the best `k` ids by their fused scores."""
        joined = JoinedRankings.of(rankings)
        fused = np.zeros(len(joined.ids))
        self._add(fused, joined, _weights(rankings, weights))
        return rank_by_score(joined.ids, fused, k)

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
    """The weighted mean of normalised scores (Amador and Zanibbi, SIGIR 2025)."""

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
            (weight, ScoredColumns(own.ids, _normalised(own.scores, self.normalisation)).by_id())
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


def rank_by_score(ids: list[str], scores: DoubleArray, k: int | None = None) -> ScoredColumns:
    """Return the best `k` ids, or all, best first; equal scores are ordered by id."""
    if k is not None and k < len(ids):
        (chosen,) = np.nonzero(scores >= np.partition(scores, -k)[-k])
        order = chosen[np.argsort(-scores[chosen], kind="stable")]
    else:
        order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    names = list(map(ids.__getitem__, order.tolist()))
    sort_ties(names, ranked, len(names))
    return ScoredColumns(names[:k], ranked[:k])
