"""Cross-validated choice among settings: every topic is ranked by the setting that is best on other folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from mathamr.core.arrays import DoubleArray

FOLDS, DEALS = 5, 10

Values = Mapping[str, DoubleArray]
"""By measure, one number per topic."""


def cross_validated(
    tried: Sequence[Values], chosen_by: Sequence[str], names: Sequence[str] | None = None
) -> tuple[Values, Counter[int]]:
    """Returns the values with the choices that are best on the other folds, averaged over several random splits; and how often each was chosen.

    Topics are split into five folds; the best choice has the highest sum of some measures on four of them. Topics with the same name are
    one topic that was judged twice: they are in the same fold.
    """
    quality = np.stack([np.sum([values[each] for each in chosen_by], axis=0) for values in tried])
    count = quality.shape[1]
    places = {
        name: place for place, name in enumerate(dict.fromkeys(names if names is not None else range(count)))
    }
    own = np.array([places[name] for name in (names if names is not None else range(count))])
    total = {measure: np.zeros(count) for measure in tried[0]}
    taken: Counter[int] = Counter()
    for deal in range(DEALS):
        parts = np.random.default_rng(deal).permutation(len(places))[own] % FOLDS
        for part in range(FOLDS):
            inside = parts == part
            best = int(quality[:, ~inside].mean(axis=1).argmax())
            taken[best] += 1
            for measure in total:
                total[measure][inside] += tried[best][measure][inside] / DEALS
    return total, taken
