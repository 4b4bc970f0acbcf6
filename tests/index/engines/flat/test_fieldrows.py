"""The first pass over the int8 copy of many vectors, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.index.engines.flat.fieldrows import ManyRows
from mathamr.index.engines.flat.quantised import Quantised
from mathamr.index.engines.flat.slots import Slots
from tests.index.engines.entries import naive_maxsim, units

SIZE = 32
COUNTS = np.random.default_rng(3).geometric(0.12, 700)


def drawn(seed: int) -> tuple[ManyRows, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, a query, which entries pass a filter, and the exact MaxSim of all entries."""
    draw = np.random.default_rng(seed)
    vectors, query = units(draw, COUNTS.sum(), SIZE), units(draw, 7, SIZE)
    order, slots = Slots.arrange(vectors, COUNTS)
    rows = ManyRows(np.arange(len(COUNTS)), np.empty(0, np.int8), None, slots, Quantised.of(slots))  # type: ignore[arg-type]
    posts = np.split(vectors, np.cumsum(COUNTS)[:-1])
    exact = np.array([naive_maxsim(query, posts[number]) for number in order], np.float32)
    return rows, query, draw.random(len(COUNTS)) < 0.9, exact


@pytest.mark.parametrize("k", [1, 10, 200])
def test_the_first_pass_finds_what_brute_force_finds(k: int) -> None:
    rows, query, passing, exact = drawn(k)
    exact[~passing] = -2
    found, scores = rows.search_maxsim(query, k, passing, "int8")
    assert set(np.argsort(-exact)[:k]) <= set(found.tolist())
    np.testing.assert_allclose(scores, exact[found], atol=1e-6)


@pytest.mark.parametrize("k", [5, 200])
def test_skimming_gives_scores_within_their_rounding(k: int) -> None:
    rows, query, passing, exact = drawn(k)
    assert rows.quantised is not None
    wrong = rows.quantised.bounded(rows.slots, query)[1].of(slice(None))
    found, scores = rows.skim_maxsim(query, k, passing, "auto", fewest_rows=100)
    assert len(found) == k
    assert passing[found].all()
    assert (np.abs(scores - exact[found]) <= wrong[found]).all()
    assert not np.array_equal(scores, rows.slots.score(query, found))
    left_out = np.setdiff1d(np.flatnonzero(passing), found)
    assert exact[left_out].max() <= exact[found].min() + 2 * wrong.max()
    few, sure = rows.skim_maxsim(query, k, passing, "auto", fewest_rows=1 << 30)
    np.testing.assert_allclose(sure, exact[few], atol=1e-6)
