"""The buckets of relative positions without torch, for one width at a time: what `relativepositions` learns a number for."""

from __future__ import annotations

import math

import numpy as np

from mathamr.core.arrays import IntArray

FARTHEST = 128
"""All distances from here on are in the last bucket."""


def buckets_of(width: int, buckets: int) -> IntArray:
    """The bucket of every two places (seen from, looked at): near ones each their own, far ones by their logarithm.

    >>> buckets_of(3, 32).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    places = np.arange(width)
    distance = places[None, :] - places[:, None]
    half = buckets // 2
    exact = half // 2
    far = np.abs(distance)
    grown = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact))
    spread = exact + (grown / np.float32(math.log(FARTHEST / exact)) * np.float32(half - exact)).astype(
        np.int64
    )
    found: IntArray = np.where(far < exact, far, np.minimum(spread, half - 1)) + half * (distance > 0)
    return found
