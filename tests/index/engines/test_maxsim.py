"""Products and the best of many scores."""

from __future__ import annotations

import numpy as np

from mathamr.index.engines.maxsim import best, similarities
from tests.cases import cases
from tests.index.engines.entries import units


@cases(("rows", "size", "width"), [(0, 8, 3), (1, 32, 16), (5000, 32, 16), (90_000, 3, 1)])
def test_similarities_in_pieces_are_the_product(rows: int, size: int, width: int) -> None:
    generator = np.random.default_rng(0)
    vectors, query = units(generator, rows, size), units(generator, width, size)
    np.testing.assert_allclose(similarities(query, vectors), query @ vectors.T, atol=1e-6)


@cases("kind", ["chance", "rising", "alike", "two"])
@cases(("count", "k"), [(50, 50), (900, 3), (5000, 100), (40_000, 1000)])
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
