"""Hubness: hubs are posts near many others, and so near many questions that they do not answer (Radovanović et al., 2010).

The hubness of a result is measured among the results of the same query. Nothing is stored in an index, so it works with
every engine and includes the newest posts, at constant cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.index.scored import DECIMALS, Scored

HUBNESS = "hubness"
"""The name under which evidence lists the hubness of a hit."""


def hubness(vectors: Mapping[str, FloatArray], neighbours: int) -> dict[str, float]:
    """Return the mean cosine of each unit vector with its nearest neighbours among the others.

    >>> apart = {"a": [1, 0, 0], "b": [1, 0, 0], "c": [0, 1, 0], "d": [0, 0, 1]}
    >>> hubness({each: np.array(row, np.float32) for each, row in apart.items()}, 1)
    {'a': 1.0, 'b': 1.0, 'c': 0.0, 'd': 0.0}
    """
    count = min(neighbours, len(vectors) - 1)
    if count < 1:
        return {}
    rows = np.stack([*vectors.values()])
    similar = rows @ rows.T
    np.fill_diagonal(similar, -np.inf)
    nearest = np.partition(similar, -count, axis=1)[:, -count:]
    means = np.sort(nearest, axis=1).mean(axis=1, dtype=np.float64).round(DECIMALS)
    return dict(zip(vectors, means.tolist(), strict=True))


def penalise_hubs(hits: Sequence[Scored], near: Mapping[str, float], share: float) -> Sequence[Scored]:
    """Subtract a share of the hubness from each score, both in standard deviations, and rank again.

    A hit of unknown hubness keeps its score.

    >>> hits = [Scored("hub", 0.6), Scored("own", 0.58), Scored("far", 0.2)]
    >>> [hit.id for hit in penalise_hubs(hits, {"hub": 0.9, "own": 0.1, "far": 0.5}, 0.2)]
    ['own', 'hub', 'far']
    """
    known = [hit.id for hit in hits if hit.id in near]
    above = dict(zip(known, standard([near[each] for each in known]), strict=True))
    unit = share * float(np.std([hit.score for hit in hits])) if hits else 0.0
    corrected = (Scored(hit.id, hit.score - unit * above.get(hit.id, 0.0)) for hit in hits)
    return sorted(corrected, key=lambda hit: (-hit.score, hit.id))


def standard(scores: Sequence[float]) -> list[float]:
    """Return standard scores; equal scores are all 0.

    >>> standard([1.0, 3.0]), standard([2.0, 2.0])
    ([-1.0, 1.0], [0.0, 0.0])
    """
    mean = math.fsum(scores) / max(1, len(scores))
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / max(1, len(scores)))
    return [(score - mean) / spread if spread > 1e-12 else 0.0 for score in scores]
