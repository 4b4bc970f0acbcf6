from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.errors import MathAMRError
from mathamr.experiments.vectors import VectorTable
from mathamr.systems.vectors import Vectors


def vectors(post_id: str, *rows: tuple[float, float]) -> Vectors:
    return Vectors(
        np.array(rows, np.float32).reshape(-1, 2),
        np.array([0] * (len(rows) - 1) + [2] * bool(rows), np.int32),
        tuple(f"{post_id}-{place}" for place in range(len(rows))),
    )


@pytest.fixture
def table() -> VectorTable:
    return VectorTable.of(
        ["a", "empty", "b"], [vectors("a", (1, 0), (0, 1)), vectors("empty"), vectors("b", (0, -1))], 2
    )


def test_a_post_gets_its_own_vectors_back(table: VectorTable) -> None:
    found = table.of_post("a")
    assert found.vectors.tolist() == [[1, 0], [0, 1]]
    assert found.references == ("a-0", "a-1")
    assert len(table.of_post("empty")) == 0


def test_chosen_posts_come_in_the_order_asked_for_without_empty_ones(table: VectorTable) -> None:
    chosen = table.chosen(["b", "empty", "a"])
    assert chosen.ids == ("b", "a")
    assert chosen.vectors.tolist() == [[0, -1], [1, 0], [0, 1]]
    assert chosen.starts.tolist() == [0, 1, 3]
    assert chosen.references == ("b-0", "a-0", "a-1")


def test_a_saved_table_comes_back(table: VectorTable, tmp_path: Path) -> None:
    table.save(tmp_path / "posts.npz")
    again = VectorTable.load(tmp_path / "posts.npz")
    assert (again.ids, again.references) == (table.ids, table.references)
    assert np.array_equal(again.vectors, table.vectors)
    assert again.of_post("b").document is not None


def test_an_unknown_post_is_named(table: VectorTable) -> None:
    with pytest.raises(MathAMRError, match="no vectors of 'z'"):
        table.of_post("z")


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "posts.npz").write_bytes(b"PK nothing")
    with pytest.raises(MathAMRError, match="damaged"):
        VectorTable.load(tmp_path / "posts.npz")
