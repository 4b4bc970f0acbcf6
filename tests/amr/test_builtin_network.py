"""Sums of feature vectors, and weights on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.amr.builtin.network import Bag, Weights, softmax, sum_rows


def test_softmax_gives_probabilities_without_overflow() -> None:
    made = softmax(np.array([[1000.0, 1000.0, -1000.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    assert np.allclose(made, [[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=5), max_size=6))
def test_rows_are_summed_as_a_loop_would(rows: list[list[int]]) -> None:
    weights = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    expected = [sum((weights[n] for n in row), np.zeros(3, dtype=np.float32)) for row in rows]
    assert np.allclose(sum_rows(weights, rows), np.array(expected).reshape(-1, 3), atol=1e-5)


def test_fixed_rows_count_unknown_features_as_nothing() -> None:
    bag = Bag({"a": 0, "b": 1}, np.array([[1.0, 2.0], [10.0, 20.0]], dtype=np.float32))
    rows = [bag.fixed_ids(["a", "b", "c"]), bag.fixed_ids(["c", "c", "a"])]
    assert bag.fixed_sums(rows).tolist() == [[11.0, 22.0], [1.0, 2.0]]
    assert bag.ids(["c", "b"]) == [1]
    assert bag.fixed_sums([]).shape == (0, 2)


def test_weights_survive_the_disk_within_their_precision(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    large = generator.normal(size=(200, 40)).astype(np.float32)
    small = generator.normal(size=(3, 4)).astype(np.float32)
    words = [f"word {n} é" for n in range(200)]
    weights = Weights({"large": large, "small": small}, {"large": words, "labels": ["x"]})
    weights.save(tmp_path / "one.npz")
    read = Weights.load(tmp_path / "one.npz")
    assert np.array_equal(read.arrays["small"], small)
    assert np.abs(read.arrays["large"] - large).max() <= np.abs(large).max() / 127
    assert read.tables == weights.tables
    assert read.bag("large").ids(["word 7 é", "nothing"]) == [7]


def test_the_same_weights_give_the_same_file(tmp_path: Path) -> None:
    weights = Weights({"a": np.ones((2, 2), dtype=np.float32)}, {"t": [1, 2]})
    for name in ("one", "two"):
        weights.save(tmp_path / f"{name}.npz")
    assert np.load(tmp_path / "one.npz").files == np.load(tmp_path / "two.npz").files
    assert (tmp_path / "one.npz").stat().st_size == (tmp_path / "two.npz").stat().st_size
