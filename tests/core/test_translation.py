"""Loops that become machine code do what they do as Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.arrays import ByteArray, FloatArray, IntArray
from mathamr.core.loops import MachineCode, sqrt
from mathamr.core.machinecode import has_llvm

pytestmark = pytest.mark.skipif(not has_llvm(), reason="needs llvmlite")

LIMIT = 40
SCALE = 0.5


def _largest(numbers: IntArray, count: int) -> int:
    best = numbers[0]
    for place in range(1, count):
        best = max(best, numbers[place])
    return best


def collatz(begin: int, trail: IntArray, odd: ByteArray, result: IntArray) -> None:
    """Every kind of statement: steps until one, and which of them were odd."""
    steps, here, odds = 0, begin, 0
    while here != 1 and steps < LIMIT:
        trail[steps] = here
        odd[steps] = here & 1 == 1
        if odd[steps]:
            here = 3 * here + 1
            odds += 1
        else:
            here = here >> 1
        steps += 1
    result[0] = steps * 1000 + odds + _largest(trail[min(steps, 1) :], max(steps - 1, 1))


def walk(numbers: IntArray, count: int, kept: IntArray, result: IntArray) -> None:
    """Ranges up and down, `break`, `continue`, and parts of conditions that must not be looked at."""
    found = 0
    for place in range(count - 1, -1, -1):
        if numbers[place] < 0:
            continue
        if numbers[place] == 7 or (place > 0 and numbers[place - 1] == 99):
            break
        kept[found] = -numbers[place]
        found += 1
    for place in range(0, count, 3):
        found += int(not numbers[place] > 2) << 4 | 1
    result[0] = found


def norm(values: FloatArray, count: int, made: FloatArray) -> None:
    total = 0.0
    for place in range(count):
        total += values[place] * values[place] * SCALE
    root = sqrt(total + float(count))
    for place in range(count):
        made[place] = max(values[place], -1.0) / root - place


def mixed(key: int, result: IntArray) -> None:
    result[0] = (key * 0x9E3779B97F4A7C15 >> 44) & 0xFFFFF


CODE = MachineCode(_largest, collatz, walk, norm, mixed)


@pytest.mark.parametrize("begin", [1, 2, 3, 7, 27, 97])
def test_conditions_loops_and_calls(begin: int) -> None:
    trail, odd = [0] * LIMIT, [False] * LIMIT
    coded_trail, coded_odd = np.zeros(LIMIT, np.int64), np.zeros(LIMIT, np.uint8)
    as_python: Callable[..., Any] = collatz
    result, coded_result = [0], np.zeros(1, np.int64)
    CODE[collatz](begin, coded_trail, coded_odd, coded_result)
    as_python(begin, trail, odd, result)
    assert coded_result.tolist() == result
    assert coded_trail.tolist() == trail
    assert coded_odd.astype(bool).tolist() == odd


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 12) | st.just(99), max_size=20))
def test_ranges_breaks_and_what_is_not_looked_at(numbers: list[int]) -> None:
    kept, coded = [0] * 20, np.zeros(20, np.int64)
    as_python: Callable[..., Any] = walk
    result, coded_result = [0], np.zeros(1, np.int64)
    CODE[walk](np.array(numbers, np.int64), len(numbers), coded, coded_result)
    as_python(numbers, len(numbers), kept, result)
    assert coded_result.tolist() == result
    assert coded.tolist() == kept


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-100, 100, width=32), max_size=70))
def test_floats_up_to_rounding(values: list[float]) -> None:
    made, coded = [0.0] * 70, np.zeros(70, np.float32)
    if not values:
        return
    as_python: Callable[..., Any] = norm
    as_python(values, len(values), made)
    CODE[norm](np.array(values, np.float32), len(values), coded)
    assert np.allclose(coded, made, atol=1e-4)


@given(st.integers(0, 2**63 - 1))
def test_products_beyond_64_bits_keep_their_lower_ones(key: int) -> None:
    result, coded = [0], np.zeros(1, np.int64)
    as_python: Callable[..., Any] = mixed
    CODE[mixed](key, coded)
    as_python(key, result)
    assert coded.tolist() == result


@pytest.mark.parametrize(
    "given_array",
    [np.zeros(9, np.int32), np.zeros(9, np.float32), np.zeros((9, 2), np.int64)[:, 0]],
    ids=["other numbers", "floats", "gaps"],
)
def test_arrays_of_another_kind_are_refused(given_array: Any) -> None:
    with pytest.raises(TypeError, match="walk wants int64"):
        CODE[walk](given_array, 9, *np.zeros((2, 9), np.int64))


def _divides(one: int, other: int) -> int:
    return one // other


def _lists(count: int) -> int:
    return len([count])


def _narrows(count: int) -> int:
    count = 0.5  # type: ignore[assignment]
    return count


def returns(count: int) -> int:
    return count


@pytest.mark.parametrize("function", [_divides, _lists, _narrows, returns])
def test_what_is_not_understood_is_refused_and_named(function: Callable[..., Any]) -> None:
    with pytest.raises(NotImplementedError, match=f"{function.__name__}, line"):
        MachineCode(function)[function]
