"""Fusion: one ranking from several, by name.

A fusion takes rankings of the same kind of things, each best first, and gives one. Ranks or scores count, as its name
says. Scores of different systems mean different things (BM25 has no upper bound, a cosine has), so they are
normalised query by query before they meet.
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
from mathamr.index.scored import Scored, ScoredColumns

RANK_OFFSET = 60
"""Cormack's constant: how little the first ranks differ."""

Ranking = Sequence[tuple[str, float]]
"""Ids and scores, best first, such as `Scored`s."""


class Fusion(Protocol):
    """Makes one ranking of several."""

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Everything that one of the rankings has, best first, or the best `k`; equal scores in the order of their ids.

        `weights` say how much each ranking counts, by default all the same. What a ranking lacks it puts last.
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
    """Whether a fusion looks at scores, which can be normalised in more than one way."""
    return any(each.name == "normalisation" for each in fields(FUSIONS[name]))  # type: ignore[arg-type]


def looks_at_scores(name: str) -> bool:
    """Whether scores alone count, and not who stands before whom."""
    return takes_normalisation(name) and "offset" not in {each.name for each in fields(FUSIONS[name])}  # type: ignore[arg-type]


def fuse(
    name: str,
    rankings: Sequence[Ranking],
    weights: Sequence[float] | None = None,
    k: int | None = None,
    normalisation: str | None = None,
) -> Sequence[Scored]:
    """The best `k` of a fusion by name, with its own normalisation unless one is given.

    >>> words = [Scored("a", 9.0), Scored("b", 8.0)]
    >>> vectors = [Scored("b", 0.7), Scored("c", 0.6)]
    >>> [hit.id for hit in fuse("rrf", [words, vectors])]
    ['b', 'a', 'c']
    """
    kind = FUSIONS[name]
    if normalisation is None:
        return kind()(rankings, weights, k)
    if not takes_normalisation(name):
        raise MathAMRError(
            f"the fusion {name!r} looks at ranks alone; a normalisation is for those of scores"
        )
    return kind(normalisation=normalisation)(rankings, weights, k)


def min_max(scores: DoubleArray) -> DoubleArray:
    """From 0, the last, to 1, the first; equal scores are all 1."""
    low = scores.min()
    span = scores.max() - low
    return (scores - low) / span if span else np.ones(len(scores))


def by_top(scores: DoubleArray) -> DoubleArray:
    """Shares of the best score; where none is positive, as `min_max` has it."""
    high = scores.max()
    if high <= 0:
        return min_max(scores)
    shares = np.zeros(len(scores))
    np.divide(scores, high, out=shares, where=scores > 0)
    return shares


def lifted(scores: DoubleArray) -> DoubleArray:
    """How many standard deviations above the mean of the ranking, lifted so that the last has 0."""
    apart = scores - math.fsum(scores.tolist()) / len(scores)
    deviation = math.sqrt(float(apart @ apart) / len(scores))
    return (scores - scores.min()) / deviation if deviation > 0 else np.ones(len(scores))


def unchanged(scores: DoubleArray) -> DoubleArray:
    """Scores that are comparable already, such as shares of a theoretical maximum."""
    return scores


NORMALISATIONS: dict[str, Callable[[DoubleArray], DoubleArray]] = {
    "min-max": min_max,
    "top": by_top,
    "z": lifted,
    "none": unchanged,
}


class JoinedRankings(Sequence[ScoredColumns]):
    """Several rankings as columns over the ids of all of them: every id once, and where those of each ranking stand.

    To look up thousands of ids takes longer than to add their scores: who fuses the same rankings twice joins them once.
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
    def of(cls, rankings: Sequence[Ranking]) -> JoinedRankings:
        """Any rankings; an id that one of them has several times counts where it stands first."""
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

    def rescored(self, number: int, hits: Iterable[tuple[str, float]]) -> JoinedRankings:
        """The same with other scores for some results of one ranking; it is not put into another order."""
        own, standing = self._rankings[number], self._standing(number)
        scores = own.scores.copy()
        for each, score in hits:
            if (place := standing[self._numbers[each]]) >= 0:
                scores[place] = score
        changed = [*self._rankings]
        changed[number] = ScoredColumns(own.ids, scores)
        return JoinedRankings(changed, self._numbers, self.places)

    def scores_of(self, ids: Iterable[str]) -> list[dict[str, float]]:
        """What each ranking gave to some of the results, as far as it has them."""
        chosen = {each: self._numbers[each] for each in ids}
        found = []
        for number, own in enumerate(self._rankings):
            standing = self._standing(number)
            places = {each: standing[place] for each, place in chosen.items()}
            found.append({each: float(own.scores[place]) for each, place in places.items() if place >= 0})
        return found

    def _standing(self, number: int) -> list[int]:
        """For every id of all which place it has in one ranking; -1: none."""
        standing = np.full(len(self.ids), -1)
        standing[self.places[number]] = np.arange(len(self.places[number]))
        return standing.tolist()

    def weighed(
        self, weights: Sequence[float] | None, normalisation: str
    ) -> Iterator[tuple[IndexArray, DoubleArray, float]]:
        """For each ranking where its ids stand, its normalised scores, and what it counts."""
        for own, places, weight in zip(
            self._rankings, self.places, _weights(self._rankings, weights), strict=True
        ):
            yield places, _normalised(own.scores, normalisation), weight


@dataclass(frozen=True, slots=True)
class ReciprocalRankFusion:
    """Σ w / (60 + rank): Cormack, Clarke and Büttcher, SIGIR 2009."""

    offset: float = RANK_OFFSET

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Ranks alone count."""
        joined = JoinedRankings.of(rankings)
        sums = np.zeros(len(joined.ids))
        for places, weight in zip(joined.places, _weights(rankings, weights), strict=True):
            sums[places] += weight / (self.offset + np.arange(1, len(places) + 1))
        return _ordered(joined.ids, sums, k)


@dataclass(frozen=True, slots=True)
class ScoredReciprocalRank:
    """Σ w · score / (60 + rank), as Tangent-CFT2 and MathAMR combine runs (Mansouri et al., CIKM 2022)."""

    offset: float = RANK_OFFSET
    normalisation: str = "top"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Ranks count, and among them those with high scores more."""
        joined = JoinedRankings.of(rankings)
        sums = np.zeros(len(joined.ids))
        for places, scores, weight in joined.weighed(weights, self.normalisation):
            sums[places] += weight * scores / (self.offset + np.arange(1, len(places) + 1))
        return _ordered(joined.ids, sums, k)


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Σ w · score, scores normalised: linear fusion, with the normalisation as a parameter."""

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Scores alone count; one that a ranking lacks is 0."""
        joined = JoinedRankings.of(rankings)
        sums = np.zeros(len(joined.ids))
        for places, scores, weight in joined.weighed(weights, self.normalisation):
            sums[places] += weight * scores
        return _ordered(joined.ids, sums, k)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of normalised scores (Amador and Zanibbi, SIGIR 2025), with weights a weighted mean."""

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Scores alone count; one that a ranking lacks is 0."""
        chosen = _weights(rankings, weights)
        total = math.fsum(chosen) or 1.0
        return WeightedSum(self.normalisation)(rankings, [weight / total for weight in chosen], k)


@dataclass(frozen=True, slots=True)
class Maximum:
    """The best of the normalised scores, each times its ranking's weight: one system that is sure is enough."""

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Scores alone count."""
        joined = JoinedRankings.of(rankings)
        best = np.zeros(len(joined.ids))
        for places, scores, weight in joined.weighed(weights, self.normalisation):
            best[places] = np.maximum(best[places], weight * scores)
        return _ordered(joined.ids, best, k)


@dataclass(frozen=True, slots=True)
class HarmonicMean:
    """The harmonic mean of normalised scores, F1 of two: only what all rankings have is above 0.

    What some ranking lacks comes after, in the order of the mean.
    """

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> Sequence[Scored]:
        """Scores alone count."""
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


def _weights(rankings: Sequence[Ranking], weights: Sequence[float] | None) -> Sequence[float]:
    if weights is None:
        return [1.0] * len(rankings)
    if len(weights) != len(rankings):
        raise MathAMRError(f"{len(rankings)} rankings need as many weights, not {len(weights)}")
    for weight in weights:
        if not math.isfinite(weight) or weight < 0:
            raise MathAMRError(f"the weight of a ranking must be a number of at least 0, not {weight}")
    return weights


def _finite(ranking: ScoredColumns) -> ScoredColumns:
    finite = np.isfinite(ranking.scores)
    if not finite.all():
        item, score = ranking[int(finite.argmin())]
        raise MathAMRError(f"the score of {item!r} in a ranking is no finite number: {score}")
    return ranking


def _normalised(scores: DoubleArray, name: str) -> DoubleArray:
    if name not in NORMALISATIONS:
        raise UnknownNameError("normalisation", name, list(NORMALISATIONS))
    return NORMALISATIONS[name](scores) if len(scores) else scores


def _ordered(ids: list[str], scores: DoubleArray, k: int | None) -> ScoredColumns:
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if (ranked[1:] == ranked[:-1])[:k].any():
        by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.intp)
        # Equal scores stay in the order of their ids.
        order = by_id[np.argsort(-scores[by_id], kind="stable")]
        ranked = scores[order]
    return ScoredColumns([ids[place] for place in order[:k].tolist()], ranked[:k])
