"""Rows of eight bits, against brute force over what is stored."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.storage.raggedarrays import Strings
from mathamr.index.engines.flat import slots as slots_module
from mathamr.index.engines.flat.fieldrows import ManyRows
from mathamr.index.engines.flat.quantised import rounded_rows, stored
from tests.index.engines.entries import naive_maxsim, units

SIZE = 32
COUNTS = np.random.default_rng(3).geometric(0.12, 700)


@pytest.mark.parametrize("fewest", [1, 1 << 30], ids=["whole numbers", "floats"])
@pytest.mark.parametrize("k", [1, 10, 200])
@pytest.mark.parametrize("share", [None, 0.9, 0.05])
def test_maxsim_is_that_of_the_stored_rows_with_the_rounded_query(
    k: int, share: float | None, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots_module, "FEWEST_ROWS", fewest)
    draw = np.random.default_rng(k)
    vectors, query = units(draw, COUNTS.sum(), SIZE), units(draw, 7, SIZE)
    levels, references = np.zeros(len(vectors), np.int8), Strings.of("" for _ in vectors).cells
    rows = ManyRows.arrange(np.arange(len(COUNTS)), stored(vectors, "int8"), COUNTS, levels, references)
    passing = None if share is None else draw.random(len(COUNTS)) < share
    exact = np.array(
        [naive_maxsim(rounded_rows(query), each.vectors) for each in rows.fetch(np.arange(len(rows)))]
    )
    near = np.array([naive_maxsim(query, vectors[of : of + n]) for of, n in _places(rows)])
    assert 0 < np.abs(exact - near).max() < 0.01
    if passing is not None:
        exact[~passing] = -2
    for _ in range(2):  # the second scan is by packed numbers
        found, scores = rows.search_maxsim(query, k, passing)
        wanted = min(k, len(COUNTS) if passing is None else int(passing.sum()))
        assert set(np.argsort(-exact)[:wanted]) <= set(found.tolist())
        np.testing.assert_allclose(scores, exact[found], atol=1e-6)
        np.testing.assert_allclose(rows.score(query, found), exact[found], atol=1e-6)
    nearest, cosines = rows.search_rows(query[:1], k, passing)[0]
    own = rows.fetch(nearest)
    assert all(
        np.isclose(each.vectors @ rounded_rows(query[:1])[0], cosine, atol=1e-6).any()
        for each, cosine in zip(own, cosines, strict=True)
    )


def _places(rows: ManyRows) -> list[tuple[int, int]]:
    """The first vector and the number of vectors of each entry, in the order of the rows."""
    starts = np.cumsum(COUNTS) - COUNTS
    return [(int(starts[each]), int(COUNTS[each])) for each in rows.entries]
