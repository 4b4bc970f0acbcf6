"""The t distribution against scipy, the tests and intervals against it and against hand-worked values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.significance import (
    bonferroni,
    bootstrap_interval,
    incomplete_beta,
    mean_interval,
    paired_t_test,
    stars,
    t_quantile,
    two_tailed_p,
)
from tests.cases import cases


@pytest.fixture(scope="module")
def stats() -> Any:
    """The oracle, imported only where these tests run."""
    return pytest.importorskip("scipy.stats", reason="needs scipy, the oracle of the t distribution")


@given(st.floats(-60, 60), st.integers(1, 5000))
def test_tails_equal_scipy(stats: Any, statistic: float, degrees: int) -> None:
    expected = 2 * stats.t.sf(abs(statistic), degrees)
    assert two_tailed_p(statistic, degrees) == pytest.approx(expected, rel=1e-8, abs=1e-280)


@given(st.floats(0.05, 500), st.floats(0.05, 500), st.floats(0, 1))
def test_the_incomplete_beta_function_equals_scipy(a: float, b: float, x: float) -> None:
    special = pytest.importorskip("scipy.special")
    assert incomplete_beta(a, b, x) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-13)


@cases("degrees", [1, 2, 5, 46, 77, 703, 100_000])
def test_quantiles_equal_scipy(stats: Any, degrees: int) -> None:
    shares = [0.5, 0.75, 0.95, 0.975, 0.995, 0.9999]
    assert [t_quantile(p, degrees) for p in shares] == pytest.approx(stats.t.ppf(shares, degrees), abs=1e-9)


@given(st.integers(2, 60), st.integers(0, 10_000))
def test_paired_tests_equal_scipy(stats: Any, count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    values, baseline = generator.random(count), generator.random(count)
    ours, theirs = paired_t_test(values.tolist(), baseline.tolist()), stats.ttest_rel(values, baseline)
    low, high = theirs.confidence_interval(0.95)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.degrees == theirs.df
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-9)


def test_a_paired_test_worked_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1, error 1/√3, t = 2√3 at 2 degrees of freedom,
    # where the tail is 1/2 - t / (2 √(t² + 2)).
    test = paired_t_test([2, 4, 6], [1, 2, 3])
    t = 2 * math.sqrt(3)
    assert test.statistic == pytest.approx(t)
    assert test.p_value == pytest.approx(1 - t / math.sqrt(t * t + 2))


def test_equal_runs_the_same_difference_everywhere_and_a_single_topic() -> None:
    equal = paired_t_test([0.2, 0.4, 0.4], [0.2, 0.4, 0.4])
    assert (equal.difference, equal.statistic, equal.p_value) == (0, 0, 1)
    certain = paired_t_test([1.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    assert (certain.difference, certain.p_value) == (1, 0)
    single = paired_t_test([0.7], [0.2])
    assert single.difference == pytest.approx(0.5)
    assert single.p_value is single.low is single.statistic is None


def test_different_numbers_of_topics_are_refused() -> None:
    with pytest.raises(MathAMRError, match="needs the same topics: 2 and 1 values"):
        paired_t_test([0.7, 0.1], [0.2])


def test_bonferroni_multiplies_by_the_number_of_tests_up_to_one() -> None:
    assert bonferroni(0.01, 12) == pytest.approx(0.12)
    assert bonferroni(0.2, 12) == 1
    assert bonferroni(0.2, 0) == pytest.approx(0.2)


def test_stars_are_given_below_the_levels_not_at_them() -> None:
    levels = (None, 0.05, 0.0499, 0.01, 0.0099, 0.001, 0.0009)
    assert [len(stars(p)) for p in levels] == [0, 0, 1, 1, 2, 2, 3]


def test_the_interval_of_a_mean_equals_scipy(stats: Any) -> None:
    values = [0.1, 0.5, 0.4, 0.9]
    expected = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert mean_interval(values) == pytest.approx(expected)
    assert mean_interval([0.1]) is None


def test_the_bootstrap_is_near_scipys_and_the_same_every_time(stats: Any) -> None:
    values = np.random.default_rng(1).beta(0.5, 0.5, 80).tolist()
    ours = bootstrap_interval(values)
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(5)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.006)
    assert bootstrap_interval(values) == ours
    assert bootstrap_interval(values, seed=7) != ours
    assert bootstrap_interval([0.3]) is None
    assert bootstrap_interval([0.25, 0.25, 0.25]) == (0.25, 0.25)
