"""Estimates of steps: what is counted, what is fitted, and how a step is made to fit."""

from __future__ import annotations

import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr_lab.systems.marf import scoring
from mathamr_lab.systems.marf.scoring import padded_maxsim
from mathamr_lab.training.estimate import LiveBytes, Measured, StepEstimate, fitted
from mathamr_lab.training.resources import Resources, parse_bytes

MEGABYTE = 1_000_000


def test_the_bytes_that_live_at_the_same_time_are_counted_forwards_and_backwards() -> None:
    weight = torch.ones(500, 500, requires_grad=True)  # a megabyte, made outside
    with LiveBytes() as live:
        for _ in range(5):
            torch.ones(500, 500)
    assert live.peak == MEGABYTE
    with LiveBytes() as live:
        kept = [torch.ones(500, 500) for _ in range(5)]
        kept[0].add_(1)
        assert kept[0][:10].T.shape == (500, 10)
    assert live.peak == len(kept) * MEGABYTE
    with LiveBytes() as live:
        squares = (weight.sin() ** 2).sum()
        forwards = live.now
        squares.backward()
    assert forwards >= MEGABYTE  # what the gradient needs
    assert live.peak > forwards
    assert weight.grad is not None
    assert live.now <= forwards


@pytest.mark.parametrize("counts", [(2, 3, 4), (8, 16, 32), (2, 4)])
def test_what_does_not_grow_what_grows_and_what_grows_with_the_square_are_told_apart(
    counts: tuple[int, ...],
) -> None:
    bend = 3.0 if len(counts) == 3 else 0.0
    tried = {n: Measured(1000 + 20 * n + bend * n * n, 0.5 + 0.1 * n) for n in counts}
    level, line, square, seconds = fitted(tried, 100)
    assert level == pytest.approx(1000, rel=1e-3)
    assert line == pytest.approx(2000, rel=1e-3)
    assert square == pytest.approx(bend * 10_000, rel=1e-3)
    assert seconds == pytest.approx(10.5)


def test_seconds_that_grow_with_the_square_are_told_where_half_of_a_step_was_tried() -> None:
    tried = {n: Measured(0, 0.1 + 0.001 * n * n) for n in (8, 16, 32)}
    assert fitted(tried, 64)[3] == pytest.approx(0.1 + 0.001 * 64**2)
    line = 0.1 + 0.001 * 32**2 + 0.001 * (32**2 - 8**2) / 24 * 968
    assert fitted(tried, 1000)[3] == pytest.approx(line)


def test_a_step_is_cut_into_as_few_parts_as_fit_or_refused_with_what_to_do() -> None:
    step = StepEstimate(shared=100, divided=900, seconds=3, fewer="a batch_size below 64", most_parts=64)
    assert step.within(1000) == step
    cut = step.within(400)
    assert (cut.parts, cut.memory, cut.seconds) == (3, 400, 4)
    assert step.within(399).parts == 4
    for room in (100, 110, -5):
        with pytest.raises(MathAMRError, match=r"make it smaller with a batch_size below 64, or .* --memory"):
            step.within(room)
    assert "in 3 parts" in cut.line("64 pairs", 100, 50)
    assert "50 of 100 steps are left, about 3 min" in cut.line("64 pairs", 100, 50)


@pytest.mark.parametrize("text", ["", "GB", "0GB", "-1GB", "8 giga"])
def test_an_amount_of_memory_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(MathAMRError, match="no amount of memory"):
        parse_bytes(text)


def test_what_is_taken_counts_towards_the_bound() -> None:
    free = Resources(device=torch.device("cpu")).room
    bounded = Resources(device=torch.device("cpu"), most_memory=10**15).room
    assert 0 < free < 10**14 < bounded < 10**15


def test_maxsim_of_many_questions_is_equal_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    queries, documents = (torch.randn(7, width, 4, requires_grad=True) for width in (3, 5))
    lengths = torch.tensor([3, 1, 2, 3, 3, 2, 1]), torch.tensor([5, 2, 1, 5, 4, 3, 5])

    def computed() -> tuple[torch.Tensor, ...]:
        scores = padded_maxsim(queries, lengths[0], documents, lengths[1])
        gradients = torch.autograd.grad(scores.exp().sum(), (queries, documents))
        return scores.detach(), *gradients

    whole = computed()
    monkeypatch.setattr(scoring, "LIMIT", 2 * 3 * 7 * 5)
    for one, other in zip(whole, computed(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
