"""Fixed encodings have the properties that MUVERA proves of them (arXiv 2405.19504, section 2)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.fixedencoding import FixedEncoding
from mathamr.index.engines.maxsim import maxsim
from tests.index.engines.entries import units

SIZE = 12


def some_entries(seed: int, count: int) -> tuple[FloatArray, np.ndarray]:
    """Entries of one to nine vectors, those of an entry alike."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(1, 10, count)
    vectors = np.repeat(units(draw, count, SIZE), counts, axis=0) + 0.8 * units(draw, counts.sum(), SIZE)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), np.cumsum(counts) - counts


def naive(encoding: FixedEncoding, vectors: FloatArray, *, query: bool) -> FloatArray:
    """The definitions of the paper by loops: sums for a query, means and the nearest cell's vector for an entry."""
    normals = encoding._normals.reshape(SIZE, encoding.repetitions, encoding.planes)
    projections = encoding._projections.reshape(SIZE, encoding.repetitions, encoding.width)
    if encoding.width == SIZE:
        projections = np.stack([np.eye(SIZE)] * encoding.repetitions, axis=1)
    parts = []
    for repetition in range(encoding.repetitions):
        sides = [tuple((vector @ normals[:, repetition] > 0).tolist()) for vector in vectors]
        for cell in product((False, True), repeat=encoding.planes):
            cell = cell[::-1]  # the first plane is the lowest bit
            own = [vector for vector, side in zip(vectors, sides, strict=True) if side == cell]
            if query:
                whole = sum(own, np.zeros(SIZE)) / (encoding.repetitions * len(vectors))
            elif own:
                whole = sum(own) / len(own)
            else:
                apart = [sum(a != b for a, b in zip(side, cell, strict=True)) for side in sides]
                whole = vectors[apart.index(min(apart))]
            parts.append(whole @ projections[:, repetition])
    return np.concatenate(parts)


@pytest.mark.parametrize("settings", [(0, 1, 99), (1, 3, 99), (3, 2, 99), (2, 3, 5), (4, 1, 4)], ids=str)
def test_encodings_are_those_of_the_definitions(settings: tuple[int, int, int]) -> None:
    encoding = FixedEncoding(SIZE, *settings)
    vectors, starts = some_entries(1, 25)
    found = encoding.entries(vectors, starts)
    assert found.shape == (25, encoding.length)
    for row, own in zip(found, np.split(vectors, starts[1:]), strict=True):
        np.testing.assert_allclose(row, naive(encoding, own, query=False), atol=1e-6)
    query = units(np.random.default_rng(2), 5, SIZE)
    np.testing.assert_allclose(encoding.query(query), naive(encoding, query, query=True), atol=1e-6)


@pytest.mark.parametrize("planes", [0, 2, 5])
def test_without_projection_the_product_never_exceeds_maxsim(planes: int) -> None:
    """Every vector of a query meets a mean of the entry's vectors, or one of them: none is above the best."""
    encoding = FixedEncoding(SIZE, planes, 3, SIZE)
    vectors, starts = some_entries(3, 300)
    for seed in range(5):
        query = units(np.random.default_rng(seed), 6, SIZE)
        about = encoding.entries(vectors, starts) @ encoding.query(query)
        assert (about <= maxsim(query, vectors, starts) + 1e-5).all()


def test_of_an_entry_with_one_vector_the_product_is_maxsim() -> None:
    vectors = units(np.random.default_rng(4), 40, SIZE)
    query = units(np.random.default_rng(5), 7, SIZE)
    encoding = FixedEncoding(SIZE, 3, 4, SIZE)
    about = encoding.entries(vectors, np.arange(40)) @ encoding.query(query)
    np.testing.assert_allclose(about, maxsim(query, vectors, np.arange(40)), atol=1e-5)


def test_more_planes_come_nearer_to_maxsim() -> None:
    """Where entries have many different vectors, cells tell them apart (theorem 2.1)."""
    draw = np.random.default_rng(6)
    vectors, starts = units(draw, 3200, SIZE), np.arange(0, 3200, 32)
    picked = vectors[starts[:6] + 3] + 0.1 * units(draw, 6, SIZE)
    query = (picked / np.linalg.norm(picked, axis=1, keepdims=True)).astype(np.float32)
    true = maxsim(query, vectors, starts)
    errors = []
    for planes in (0, 2, 4, 6):
        encoding = FixedEncoding(SIZE, planes, 4, SIZE)
        errors.append(float(np.abs(encoding.entries(vectors, starts) @ encoding.query(query) - true).mean()))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.6 * errors[0]


def test_a_projection_keeps_products_on_average() -> None:
    vectors, starts = some_entries(7, 60)
    query = units(np.random.default_rng(8), 5, SIZE)
    whole = FixedEncoding(SIZE, 0, 1, SIZE)
    wanted = whole.entries(vectors, starts) @ whole.query(query)
    found = np.mean(
        [
            (each := FixedEncoding(SIZE, 0, 1, 4, seed)).entries(vectors, starts) @ each.query(query)
            for seed in range(400)
        ],
        axis=0,
    )
    assert np.abs(found - wanted).mean() < 0.03
    assert np.abs(found - wanted).max() < 0.12


def test_encodings_of_other_days_and_machines_compare() -> None:
    """The numbers follow from the settings alone; a change of them would silently spoil indexes that exist."""
    encoding = FixedEncoding(4, 1, 2, 2)
    vectors = np.array([[1, 0, 0, 0], [0, 0.6, 0.8, 0]], np.float32)
    made = encoding.entries(vectors, np.array([0]))[0]
    np.testing.assert_array_equal(made, FixedEncoding(4, 1, 2, 2).entries(vectors, np.array([0]))[0])
    np.testing.assert_allclose(made, GOLDEN, atol=1e-6)


GOLDEN = [-0.707107, 0.707107, 0.141421, 0.282843, 0.707107, 0.707107, 0.98995, -0.98995]


def test_pieces_that_are_encoded_at_a_time_change_nothing() -> None:
    vectors, starts = some_entries(9, 50)
    encoding = FixedEncoding(SIZE, 2, 2, 6)
    whole = encoding.entries(vectors, starts)
    np.testing.assert_allclose(encoding.entries(vectors, starts, at_a_time=7), whole, atol=1e-6)
    assert encoding.entries(vectors[:0], starts[:0]).shape == (0, encoding.length)


def test_an_entry_without_vectors_is_refused() -> None:
    with pytest.raises(MathAMRError, match="without vectors"):
        FixedEncoding(SIZE).entries(units(np.random.default_rng(0), 3, SIZE), np.array([0, 2, 2]))
