"""Fusion: one ranking from several, by name.

A fusion takes rankings of the same kind of things, each best first, and gives one. Ranks or scores count, as its name
says. Scores of different systems mean different things (BM25 has no upper bound, a cosine has), so they are
normalised query by query before they meet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Protocol

import numpy as np

from mathamr.errors import MathAMRError, UnknownNameError
from mathamr.index.scored import Scored, paired
from mathamr.registry import Registry

RANK_OFFSET = 60
"""Cormack's constant: how little the first ranks differ."""

Ranking = Sequence[tuple[str, float]]
"""Ids and scores, best first, such as `Scored`s."""


class Fusion(Protocol):
    """Makes one ranking of several."""

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> list[Scored]:
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
) -> list[Scored]:
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


def min_max(scores: Sequence[float]) -> list[float]:
    """From 0, the last, to 1, the first; equal scores are all 1."""
    low, high = min(scores), max(scores)
    span = high - low
    return [(score - low) / span for score in scores] if span else [1.0] * len(scores)


def by_top(scores: Sequence[float]) -> list[float]:
    """Shares of the best score; where none is positive, as `min_max` has it."""
    high = max(scores)
    return [score / high if score > 0 else 0.0 for score in scores] if high > 0 else min_max(scores)


def lifted(scores: Sequence[float]) -> list[float]:
    """How many standard deviations above the mean of the ranking, lifted so that the last has 0."""
    values = np.array(scores, np.float64)
    apart = values - math.fsum(scores) / len(scores)
    deviation = math.sqrt(float(apart @ apart) / len(scores))
    above_last: list[float] = ((values - values.min()) / deviation if deviation > 0 else values**0).tolist()
    return above_last


def unchanged(scores: Sequence[float]) -> list[float]:
    """Scores that are comparable already, such as shares of a theoretical maximum."""
    return list(scores)


NORMALISATIONS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "min-max": min_max,
    "top": by_top,
    "z": lifted,
    "none": unchanged,
}


@dataclass(frozen=True, slots=True)
class ReciprocalRankFusion:
    """Σ w / (60 + rank): Cormack, Clarke and Büttcher, SIGIR 2009."""

    offset: float = RANK_OFFSET

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> list[Scored]:
        """Ranks alone count."""
        sums: dict[str, float] = {}
        for ranking, weight in zip(rankings, _weights(rankings, weights), strict=True):
            for place, item in enumerate(_unique(ranking)[0], 1):
                sums[item] = sums.get(item, 0.0) + weight / (self.offset + place)
        return _ordered(sums, k)


@dataclass(frozen=True, slots=True)
class ScoredReciprocalRank:
    """Σ w · score / (60 + rank), as Tangent-CFT2 and MathAMR combine runs (Mansouri et al., CIKM 2022)."""

    offset: float = RANK_OFFSET
    normalisation: str = "top"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> list[Scored]:
        """Ranks count, and among them those with high scores more."""
        sums: dict[str, float] = {}
        for ranking, weight in zip(rankings, _weights(rankings, weights), strict=True):
            for place, (item, score) in enumerate(_normalised(ranking, self.normalisation).items(), 1):
                sums[item] = sums.get(item, 0.0) + weight * score / (self.offset + place)
        return _ordered(sums, k)


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Σ w · score, scores normalised: linear fusion, with the normalisation as a parameter."""

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> list[Scored]:
        """Scores alone count; one that a ranking lacks is 0."""
        sums: dict[str, float] = {}
        known = sums.get
        for ranking, weight in zip(rankings, _weights(rankings, weights), strict=True):
            for item, score in _normalised(ranking, self.normalisation).items():
                sums[item] = known(item, 0.0) + weight * score
        return _ordered(sums, k)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of normalised scores (Amador and Zanibbi, SIGIR 2025), with weights a weighted mean."""

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> list[Scored]:
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
    ) -> list[Scored]:
        """Scores alone count."""
        best: dict[str, float] = {}
        for ranking, weight in zip(rankings, _weights(rankings, weights), strict=True):
            for item, score in _normalised(ranking, self.normalisation).items():
                best[item] = max(best.get(item, 0.0), weight * score)
        return _ordered(best, k)


@dataclass(frozen=True, slots=True)
class HarmonicMean:
    """The harmonic mean of normalised scores, F1 of two: only what all rankings have is above 0.

    What some ranking lacks comes after, in the order of the mean.
    """

    normalisation: str = "min-max"

    def __call__(
        self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, k: int | None = None
    ) -> list[Scored]:
        """Scores alone count."""
        chosen = _weights(rankings, weights)
        scores = [_normalised(ranking, self.normalisation) for ranking in rankings]
        counted = [(weight, found) for weight, found in zip(chosen, scores, strict=True) if weight > 0]
        total = math.fsum(weight for weight, _ in counted)
        arithmetic = Mean(self.normalisation)(rankings, chosen)
        means = {hit.id: hit.score for hit in arithmetic}
        harmonic = {
            item: total / math.fsum(weight / found[item] for weight, found in counted)
            if all(found.get(item, 0.0) > 0 for _, found in counted)
            else 0.0
            for item in means
        }
        order = sorted(means, key=lambda item: (-harmonic[item], -means[item], item))
        return [Scored(item, harmonic[item]) for item in order[:k]]


_id, _score = itemgetter(0), itemgetter(1)


def _weights(rankings: Sequence[Ranking], weights: Sequence[float] | None) -> Sequence[float]:
    if weights is None:
        return [1.0] * len(rankings)
    if len(weights) != len(rankings):
        raise MathAMRError(f"{len(rankings)} rankings need as many weights, not {len(weights)}")
    for weight in weights:
        if not math.isfinite(weight) or weight < 0:
            raise MathAMRError(f"the weight of a ranking must be a number of at least 0, not {weight}")
    return weights


def _unique(ranking: Ranking) -> tuple[list[str], list[float]]:
    """A ranking with every id once, where it stands first: its ids and their scores."""
    ids, scores = list(map(_id, ranking)), list(map(_score, ranking))
    if not all(map(math.isfinite, scores)):
        item, score = next(hit for hit in ranking if not math.isfinite(hit[1]))
        raise MathAMRError(f"the score of {item!r} in a ranking is no finite number: {score}")
    if len(set(ids)) < len(ids):
        first = dict(zip(reversed(ids), reversed(scores), strict=True))
        ids = list(dict.fromkeys(ids))
        scores = [first[each] for each in ids]
    return ids, scores


def _normalised(ranking: Ranking, name: str) -> dict[str, float]:
    if name not in NORMALISATIONS:
        raise UnknownNameError("normalisation", name, list(NORMALISATIONS))
    ids, scores = _unique(ranking)
    return dict(zip(ids, NORMALISATIONS[name](scores), strict=True)) if ids else {}


def _ordered(scores: dict[str, float], k: int | None) -> list[Scored]:
    ids, values = list(scores), np.array(list(scores.values()), np.float64)
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    if (ranked[1:] == ranked[:-1])[:k].any():
        ids.sort()
        values = np.array([scores[each] for each in ids], np.float64)
        order = np.argsort(-values, kind="stable")  # equal scores stay in the order of their ids
        ranked = values[order]
    return paired(map(ids.__getitem__, order[:k].tolist()), ranked[:k].tolist())
