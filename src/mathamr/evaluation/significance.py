"""Paired t-tests, confidence intervals and Bonferroni's correction, as the thesis uses them (section 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mathamr.core.errors import MathAMRError

LEVEL = 0.05
"""The family-wise significance level."""

_MOST_STEPS = 100_000
_TINY = 1e-300


@dataclass(frozen=True)
class PairedTest:
    """A two-tailed paired t-test of the differences between two systems on the same topics.

    `p_value` is `None` where fewer than two topics leave nothing to test; [low, high] is the confidence interval of
    the mean difference at 1 - `LEVEL`.
    """

    difference: float
    statistic: float | None
    degrees: int
    p_value: float | None
    low: float | None
    high: float | None


def paired_t_test(values: Sequence[float], baseline: Sequence[float]) -> PairedTest:
    """Test whether the mean of values - baseline differs from zero, topic by topic.

    Differences that are all the same have no variance: p is 1 where they are zero and 0 where they are not.

    >>> test = paired_t_test([0.5, 0.7, 0.9, 0.6], [0.4, 0.5, 0.6, 0.6])
    >>> round(test.difference, 3), round(test.p_value, 4)
    (0.15, 0.1027)
    """
    if len(values) != len(baseline):
        raise MathAMRError(f"a paired test needs the same topics: {len(values)} and {len(baseline)} values")
    differences = np.asarray(values, dtype=float) - np.asarray(baseline, dtype=float)
    count = len(differences)
    average = float(differences.mean()) if count else 0.0
    if count < 2:
        return PairedTest(average, None, 0, None, None, None)
    degrees = count - 1
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    if error <= 1e-15 * max(1.0, abs(average)):
        statistic = 0.0 if abs(average) <= 1e-15 else math.copysign(math.inf, average)
    else:
        statistic = average / error
    half = t_quantile(1 - LEVEL / 2, degrees) * error
    p_value = two_tailed_p(statistic, degrees)
    return PairedTest(average, statistic, degrees, p_value, average - half, average + half)


def bonferroni(p_value: float, tests: int) -> float:
    """Return the p-value corrected for the number of tests of an experiment: p times their number, at most 1.

    Comparing it with α is the same as comparing the raw one with α divided by the number of tests.
    """
    return min(1.0, p_value * max(1, tests))


def stars(p_value: float | None) -> str:
    """Return one star for a p-value under .05, two under .01, three under .001; pass a corrected p-value.

    >>> stars(0.2), stars(0.04), stars(0.002), stars(0.0001)
    ('', '*', '**', '***')
    """
    return "" if p_value is None else "*" * sum(p_value < level for level in (LEVEL, 0.01, 0.001))


def mean_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """Return the confidence interval of a mean at 1 - level by the t distribution; `None` for fewer than two values."""
    if len(values) < 2:
        return None
    numbers = np.asarray(values, dtype=float)
    half = t_quantile(1 - level / 2, len(numbers) - 1) * float(numbers.std(ddof=1)) / math.sqrt(len(numbers))
    return float(numbers.mean()) - half, float(numbers.mean()) + half


def bootstrap_interval(
    values: Sequence[float], level: float = LEVEL, samples: int = 10_000, seed: int = 0
) -> tuple[float, float] | None:
    """Return the percentile bootstrap interval of a mean: topics drawn with replacement, `samples` times.

    It assumes no distribution, which suits measures that pile up at 0 and 1. `None` for fewer than two values.
    """
    if len(values) < 2:
        return None
    numbers = np.asarray(values, dtype=float)
    generator = np.random.default_rng(seed)
    block = max(1, 4_000_000 // len(numbers))
    means = [
        numbers[generator.integers(0, len(numbers), (min(block, samples - done), len(numbers)))].mean(axis=1)
        for done in range(0, samples, block)
    ]
    low, high = np.quantile(np.concatenate(means), [level / 2, 1 - level / 2])
    return float(low), float(high)


def two_tailed_p(statistic: float, degrees: int) -> float:
    """Return the probability of a t statistic at least as far from zero.

    >>> round(two_tailed_p(2.228, 10), 4)
    0.05
    """
    if math.isinf(statistic):
        return 0.0
    square = statistic * statistic
    if square <= 1:  # farther out, 1 minus nearly 1 would leave nothing of a small probability
        return 1.0 - incomplete_beta(0.5, degrees / 2, square / (degrees + square))
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square))


def t_quantile(probability: float, degrees: int) -> float:
    """Return the value at which the t distribution reaches a probability of at least one half, found by bisection.

    >>> round(t_quantile(0.975, 10), 3)
    2.228
    """
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while two_tailed_p(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if two_tailed_p(middle, degrees) > tail else (low, middle)
    return (low + high) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b), by Lentz's method for its continued fraction.

    Abramowitz and Stegun, 26.5.8; the fraction converges fast for x below (a + 1) / (a + b + 2), and
    I_x(a, b) = 1 - I_{1-x}(b, a) leads there.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) / (a * _fraction(a, b, x))


def _fraction(a: float, b: float, x: float) -> float:
    upper, lower, value = 1.0, 0.0, 1.0
    for step in range(1, _MOST_STEPS):
        half, is_odd = divmod(step, 2)
        if is_odd:
            factor = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            factor = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        lower = 1.0 / ((1.0 + factor * lower) or _TINY)
        upper = (1.0 + factor / upper) or _TINY
        value *= upper * lower
        if abs(upper * lower - 1.0) < 1e-16:
            break
    return value
