"""Random numbers that depend on a place rather than on the order of draws.

Each number is a hash of the seed and its purpose (epoch, pair, element). So an interrupted run, a run on
several processes and a run with other batches in memory all draw the same numbers for the same graph.
"""

from __future__ import annotations

import numpy as np

from mathamr.core.arrays import AnyArray, DoubleArray, UInt64Array

_STEP, _FIRST, _SECOND = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


def mixed(keys: UInt64Array, numbers: AnyArray | int) -> UInt64Array:
    """Derives new keys from keys and numbers: the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        state = keys + (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * _STEP
        state = (state ^ (state >> np.uint64(30))) * _FIRST
        state = (state ^ (state >> np.uint64(27))) * _SECOND
        return np.asarray(state ^ (state >> np.uint64(31)))


def key(*numbers: int) -> UInt64Array:
    """Returns the key of a place given by numbers, as an array of one."""
    state = np.zeros(1, np.uint64)
    for number in numbers:
        state = mixed(state, number)
    return state


def uniform(keys: UInt64Array) -> DoubleArray:
    """Returns numbers in [0, 1), one for each key.

    >>> values = uniform(mixed(key(7), np.arange(100_000)))
    >>> round(float(values.mean()), 2), bool(values.min() >= 0), bool(values.max() < 1)
    (0.5, True, True)
    """
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53
