"""Exact MaxSim by blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.index.engines.maxsim import maxsim, products
from tests.index.engines.entries import naive_maxsim, units


@given(
    st.lists(st.integers(0, 40), max_size=30),
    st.integers(1, 20),
    st.sampled_from([1, 3, 32]),
    st.integers(0, 99),
)
def test_it_is_the_mean_of_the_best_cosines(counts: list[int], rows: int, size: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors, query = units(generator, sum(counts), size), units(generator, rows, size)
    starts = np.cumsum([0, *counts])[:-1]
    wanted = [
        naive_maxsim(query, vectors[start : start + count]) if count else -1.0
        for start, count in zip(starts, counts, strict=True)
    ]
    np.testing.assert_allclose(maxsim(query, vectors, starts), wanted, atol=2e-6)


def test_posts_larger_than_a_block_are_whole() -> None:
    generator = np.random.default_rng(0)
    vectors, query = units(generator, 500, 16), units(generator, 7, 16)
    starts = np.array([0, 1, 40, 300, 301])
    wanted = maxsim(query, vectors, starts)
    np.testing.assert_allclose(maxsim(query, vectors, starts, block=8), wanted, atol=1e-6)


def test_nothing_gives_nothing() -> None:
    assert maxsim(np.ones((1, 4), np.float32), np.zeros((0, 4), np.float32), np.zeros(0, int)).shape == (0,)
    assert maxsim(np.ones((1, 4), np.float32), np.zeros((0, 4), np.float32), np.zeros(2, int)).tolist() == [
        -1,
        -1,
    ]


@pytest.mark.parametrize(
    ("rows", "size", "width"), [(0, 8, 3), (1, 32, 16), (255, 32, 16), (256, 32, 16), (5000, 3, 1)]
)
def test_products_in_pieces_are_the_product(rows: int, size: int, width: int) -> None:
    generator = np.random.default_rng(0)
    vectors, columns = units(generator, rows, size), np.ascontiguousarray(units(generator, width, size).T)
    np.testing.assert_allclose(products(vectors, columns), vectors @ columns, atol=1e-6)
