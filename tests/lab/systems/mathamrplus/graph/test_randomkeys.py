from __future__ import annotations

import numpy as np

from mathamr_lab.systems.mathamrplus.graph.augmentation import key, mixed, uniform


def test_numbers_belong_to_their_place() -> None:
    whole = uniform(mixed(key(3, 1), np.arange(100)))
    np.testing.assert_array_equal(uniform(mixed(key(3, 1), np.arange(40, 60))), whole[40:60])
    assert (uniform(mixed(key(3, 2), np.arange(100))) != whole).all()
    assert (uniform(mixed(key(4, 1), np.arange(100))) != whole).all()


def test_numbers_are_spread_evenly_and_neighbours_are_not_alike() -> None:
    values = uniform(mixed(key(0), np.arange(200_000)))
    counts, _ = np.histogram(values, 20, (0, 1))
    assert abs(counts / 10_000 - 1).max() < 0.05
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.01
