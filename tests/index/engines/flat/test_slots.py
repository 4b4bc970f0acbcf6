"""Vectors in slots, and products of whole numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.index.engines.flat import slots as slots_module
from mathamr.index.engines.flat.quantised import Quantised, integer_products, rounded_rows, unsigned
from mathamr.index.engines.flat.slots import BLOCK, Slots
from tests.index.engines.entries import naive_maxsim, units

COUNTS = st.lists(st.integers(1, 60), min_size=1, max_size=60)


def arranged(
    counts: list[int], seed: int, size: int = 16, block_rows: int = BLOCK
) -> tuple[np.ndarray, np.ndarray, Slots]:
    vectors = units(np.random.default_rng(seed), sum(counts), size)
    order, slots = Slots.arrange(vectors, np.array(counts), block_rows=block_rows)
    return vectors, order, slots


@pytest.mark.parametrize("block", [16, 100, 8192])
@pytest.mark.parametrize("seed", range(4))
def test_scanning_and_scoring_are_maxsim(block: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.geometric(0.1, 300).tolist()
    vectors, order, slots = arranged(counts, seed, block_rows=block)
    query = units(generator, 5, 16)
    posts = np.split(vectors, np.cumsum(counts)[:-1])
    wanted = np.array([naive_maxsim(query, posts[number]) for number in order])
    np.testing.assert_allclose(slots.scan(query), wanted, atol=1e-6)
    some = generator.permutation(len(counts))[:70]
    np.testing.assert_allclose(slots.score(query, some), wanted[some], atol=1e-6)
    assert slots.score(query, some[:0]).shape == (0,)


@given(COUNTS, st.integers(0, 99))
@settings(max_examples=40)
def test_gathering_gives_the_vectors_back(counts: list[int], seed: int) -> None:
    vectors, order, slots = arranged(counts, seed)
    starts = np.cumsum([0, *counts])
    posts = np.random.default_rng(seed).permutation(len(counts))
    wanted = np.concatenate([vectors[starts[order[post]] : starts[order[post] + 1]] for post in posts])
    np.testing.assert_array_equal(slots.gather(posts), wanted)


@given(COUNTS)
@settings(max_examples=40)
def test_repeated_vectors_never_fill_more_than_a_block(counts: list[int]) -> None:
    _, _, slots = arranged(counts, 0)
    widths, posts = slots.widths, np.diff(slots.bounds)
    assert (posts > 0).all()
    assert posts.sum() == len(counts)
    assert len(slots.vectors) <= 2 * sum(counts)
    assert all(width * count <= 2 * BLOCK or count == 1 for width, count in zip(widths, posts, strict=True))


@pytest.mark.parametrize("kind", ["random", "sparse", "one direction", "zeros", "large size", "one row"])
def test_products_of_whole_numbers_are_those_of_the_rows_they_stand_for(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(5)
    counts = generator.integers(1, 30, 400)
    size = 200 if kind == "large size" else 16
    vectors, query = (
        units(generator, counts.sum(), size),
        units(generator, 1 if kind == "one row" else 6, size),
    )
    if kind == "sparse":
        vectors, query = (
            np.where(np.abs(array) > 0.4, array, 0).astype(np.float32) for array in (vectors, query)
        )
    elif kind == "one direction":
        vectors = np.zeros_like(vectors)
        vectors[:, 3] = generator.choice([-1, 1], len(vectors))
    elif kind == "zeros":
        vectors = np.zeros_like(vectors)
        query[0] = 0
    _, slots = Slots.arrange(Quantised.of(vectors), counts)
    asked = rounded_rows(query)
    by_floats = slots.scan(asked)
    assert np.isfinite(by_floats).all()
    monkeypatch.setattr(slots_module, "FEWEST_ROWS", 1)
    for _ in range(3):  # from the second on by packed numbers
        np.testing.assert_allclose(slots.scan(asked), by_floats, atol=2e-6)


@given(st.integers(0, 999), st.sampled_from([1, 5, 192]))
@settings(max_examples=30)
def test_rounding_what_was_rounded_changes_nothing(seed: int, size: int) -> None:
    once = Quantised.of(units(np.random.default_rng(seed), 20, size))
    again = Quantised.of(once.floats())
    np.testing.assert_array_equal(again.numbers, once.numbers)
    np.testing.assert_allclose(np.linalg.norm(once.floats(), axis=1), 1, atol=1e-6)


def test_products_of_whole_numbers_are_exact_in_every_thread() -> None:
    generator = np.random.default_rng(2)
    for size, rows, columns in ((32, 500, 16), (7, 33, 1), (300, 5, 19)):
        numbers = generator.integers(-127, 128, (rows, size)).astype(np.int8)
        query = generator.integers(-127, 128, (size, columns)).astype(np.int8)
        numbers[0], query[:, 0] = 127, -127
        expected = (numbers.astype(np.int64) @ query.astype(np.int64)).tolist()
        with ThreadPoolExecutor(3) as pool:
            made = pool.map(integer_products(size), [unsigned(numbers)] * 4, [query] * 4)
            assert [each.tolist() for each in made] == [expected] * 4
