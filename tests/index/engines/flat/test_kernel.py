"""MaxSim by machine code against numpy, for every arithmetic that this processor has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.flat import fieldrows, kernel, slots
from mathamr.index.engines.flat.fieldrows import ManyRows
from mathamr.index.engines.flat.kernel import PackedQuery, Places, arithmetic
from mathamr.index.engines.flat.quantised import Quantised
from mathamr.index.engines.flat.slots import Slots
from mathamr.index.engines.maxsim import maxsim
from tests.index.engines.entries import units

UNABLE = "machine code needs llvmlite (pip install 'mathamr[fast]') and, for eight bits, SDOT or VNNI; numpy is used here"
SIZE = 32
COUNTS = np.random.default_rng(3).geometric(0.12, 700)


@pytest.fixture
def hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has multiplied enough."""
    if arithmetic("float32") is None:
        pytest.skip(UNABLE)
    monkeypatch.setattr(kernel, "_HOT", 0)


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 16, 17, 40])
@pytest.mark.parametrize("kind", ["int8", "float32"])
def test_the_best_products_of_posts_are_weighed_and_added(kind: kernel.FieldTarget, rows: int) -> None:
    if arithmetic(kind) is None:
        pytest.skip(UNABLE)
    draw = np.random.default_rng(rows)
    counts = np.array([1, 2, 3, 4, 5, 8, 9, 30])
    starts = np.cumsum(counts) - counts
    vectors = draw.integers(-127, 128, (counts.sum(), SIZE)).astype(kind)
    query = draw.integers(-127, 128, (rows, SIZE)).astype(kind)
    vectors[0], query[0] = 127, -127
    vectors[1], query[-1] = -127, 127
    weights = draw.random(rows, np.float32)
    begun = draw.random(len(counts), np.float32)
    found = begun.copy()
    places = Places.within(len(vectors), starts, np.ones(len(counts), np.int64), counts)
    PackedQuery(query, weights).add(vectors, places, found, 1, len(counts) - 1)
    products = vectors.astype(np.float64) @ query.T.astype(np.float64)
    best = np.stack([part.max(axis=0) for part in np.split(products, starts[1:])])
    wanted = begun + best @ weights
    wanted[[0, -1]] = begun[[0, -1]]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.usefixtures("hot")
def test_scanning_and_scoring_by_the_code_are_maxsim(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    vectors, query = units(draw, COUNTS.sum(), SIZE), units(draw, 19, SIZE)
    monkeypatch.setattr(slots, "BLOCK", 500)
    order, arranged = Slots.arrange(vectors, COUNTS)
    wanted = maxsim(query, vectors, np.cumsum(COUNTS) - COUNTS)[order]
    np.testing.assert_allclose(arranged.scan(query), wanted, atol=1e-6)
    some = draw.permutation(len(COUNTS))[:300]
    np.testing.assert_allclose(arranged.score(query, some), wanted[some], atol=1e-6)
    assert arranged.score(query, some[:0]).shape == (0,)
    about, wrong = Quantised.of(arranged).scan(arranged, query)
    assert (np.abs(about - wanted) <= wrong).all()
    assert wrong.max() < 0.1


@pytest.mark.usefixtures("hot")
@pytest.mark.parametrize("k", [1, 10, 200])
def test_the_first_pass_by_the_code_finds_what_brute_force_finds(k: int) -> None:
    draw = np.random.default_rng(k)
    vectors, query = units(draw, COUNTS.sum(), SIZE), units(draw, 7, SIZE)
    order, arranged = Slots.arrange(vectors, COUNTS)
    rows = ManyRows(np.arange(len(COUNTS)), np.empty(0, np.int8), None, arranged, Quantised.of(arranged))  # type: ignore[arg-type]
    passing = draw.random(len(COUNTS)) < 0.9
    exact = maxsim(query, vectors, np.cumsum(COUNTS) - COUNTS)[order]
    exact[~passing] = -2
    found, scores = rows.search_maxsim(query, k, passing, "int8")
    assert set(np.argsort(-exact)[:k]) <= set(found.tolist())
    np.testing.assert_allclose(scores, exact[found], atol=1e-6)


@pytest.mark.usefixtures("hot")
@pytest.mark.parametrize("k", [5, 200])
def test_skimming_gives_scores_within_their_rounding(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if arithmetic("int8") is None:
        pytest.skip(UNABLE)
    monkeypatch.setattr(fieldrows, "FEWEST_ROWS", 100)
    draw = np.random.default_rng(k)
    vectors, query = units(draw, COUNTS.sum(), SIZE), units(draw, 7, SIZE)
    order, arranged = Slots.arrange(vectors, COUNTS)
    quantised = Quantised.of(arranged)
    rows = ManyRows(np.arange(len(COUNTS)), np.empty(0, np.int8), None, arranged, quantised)  # type: ignore[arg-type]
    passing = draw.random(len(COUNTS)) < 0.9
    exact = maxsim(query, vectors, np.cumsum(COUNTS) - COUNTS)[order]
    _, wrong = quantised.scan(arranged, query)
    found, scores = rows.skim_maxsim(query, k, passing, "auto")
    assert len(found) == k
    assert passing[found].all()
    assert (np.abs(scores - exact[found]) <= wrong[found]).all()
    assert not np.array_equal(scores, arranged.score(query, found))
    left_out = np.setdiff1d(np.flatnonzero(passing), found)
    assert exact[left_out].max() <= exact[found].min() + 2 * wrong.max()
    monkeypatch.setattr(fieldrows, "FEWEST_ROWS", 1 << 30)
    few, sure = rows.skim_maxsim(query, k, passing, "auto")
    np.testing.assert_allclose(sure, exact[few], atol=1e-6)


@pytest.mark.usefixtures("hot")
@pytest.mark.parametrize(("size", "dtype"), [(SIZE, "float16"), (6, "float32"), (24, "int8")])
def test_what_the_code_cannot_read_it_is_not_given(size: int, dtype: str) -> None:
    assert not kernel.pays(np.zeros((4, size), dtype))


@pytest.mark.usefixtures("hot")
def test_rows_that_do_not_follow_each_other_in_memory_are_not_given() -> None:
    vectors = np.zeros((8, 2 * SIZE), np.float32)
    assert kernel.pays(vectors)
    assert not kernel.pays(vectors[:, :SIZE])


def test_a_process_that_asks_once_makes_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_heat", kernel._Heat())
    vectors, query = np.zeros((1000, SIZE), np.float32), np.zeros((10, SIZE), np.float32)
    kernel.multiplied(query, vectors)
    assert not kernel.pays(vectors)
    monkeypatch.setattr(kernel, "_HOT", query.size * len(vectors))
    assert kernel.pays(vectors) == (arithmetic("float32") is not None)


def test_a_process_that_expects_to_ask_often_makes_the_code_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_heat", kernel._Heat())
    kernel.expect_many()
    assert kernel.pays(np.zeros((1, SIZE), np.float32)) == (arithmetic("float32") is not None)


@pytest.mark.parametrize(
    "change",
    [
        {"firsts": [0, -1]}, {"firsts": [0, 9]}, {"strides": [5, 1]}, {"strides": [1, -1]},
        {"counts": [0, 3]}, {"counts": [3, 2**62]}, {"firsts": [0, 2**62]},
    ],
)  # fmt: skip
def test_places_that_lead_out_of_the_rows_are_refused(change: dict[str, list[int]]) -> None:
    good = Places.within(9, np.array([0, 3]), np.array([2, 1]), np.array([3, 3]))
    parts = replace(good, **{name: np.array(value) for name, value in change.items()})
    with pytest.raises(MathAMRError, match="build the index again"):
        Places.within(9, parts.firsts, parts.strides, parts.counts)
