"""The best of many scores."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.index.engines.maxsim import best


@pytest.mark.parametrize("kind", ["chance", "rising", "alike", "two"])
@pytest.mark.parametrize(("count", "k"), [(50, 50), (900, 3), (5000, 100), (40_000, 1000)])
def test_the_best_are_those_of_a_whole_sort(kind: str, count: int, k: int) -> None:
    draw = np.random.default_rng(count)
    made = {
        "chance": draw.standard_normal(count), "rising": np.arange(count), "alike": np.zeros(count),
        "two": np.arange(count) % 32 == 0,
    }  # fmt: skip
    scores = made[kind].astype(np.float32)
    found = best(scores, k)
    assert len(set(found.tolist())) == k
    np.testing.assert_array_equal(np.sort(scores[found]), np.sort(scores)[-k:])
