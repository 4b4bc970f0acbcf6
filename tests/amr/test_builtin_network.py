"""Sums of feature vectors, and weights on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mathamr.amr.builtin.network import Weights, softmax


def test_softmax_gives_probabilities_without_overflow() -> None:
    made = softmax(np.array([[1000.0, 1000.0, -1000.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    assert np.allclose(made, [[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])


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
    assert read.bag("large").vocabulary["word 7 é"] == 7


def test_the_same_weights_give_the_same_file(tmp_path: Path) -> None:
    weights = Weights({"a": np.ones((2, 2), dtype=np.float32)}, {"t": [1, 2]})
    for name in ("one", "two"):
        weights.save(tmp_path / f"{name}.npz")
    assert np.load(tmp_path / "one.npz").files == np.load(tmp_path / "two.npz").files
    assert (tmp_path / "one.npz").stat().st_size == (tmp_path / "two.npz").stat().st_size
