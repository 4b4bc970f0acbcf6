from __future__ import annotations

import pytest

from mathamr_lab.training.optimiser import Schedule


def test_the_rate_rises_and_falls_to_its_lowest() -> None:
    schedule = Schedule(200, warmup=0.1)
    rates = [schedule.rate(step, 1e-2, 1e-3) for step in range(201)]
    assert rates[:20] == sorted(rates[:20])
    assert max(rates) == pytest.approx(1e-2)
    assert rates[20:] == sorted(rates[20:], reverse=True)
    assert rates[-1] == pytest.approx(1e-3)


def test_without_a_rise_the_first_rate_is_the_highest() -> None:
    assert Schedule(10).rate(0, 0.5) == 0.5
    assert Schedule(1).rate(0) == 1.0
