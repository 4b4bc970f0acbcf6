from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr.systems.layers.segments import bag_sums, segment_sums


@given(st.lists(st.integers(0, 4), max_size=8), st.integers(0, 100))
def test_segment_sums_and_their_gradients_equal_a_loop(counts: list[int], seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(sum(counts), 3, generator=generator, dtype=torch.float64).requires_grad_()
    starts = torch.tensor([0, *counts]).cumsum(0)
    owners = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts, dtype=torch.long))
    expected = (
        torch.stack([part.sum(0) for part in torch.split(rows, counts)]) if counts else torch.zeros(0, 3)
    )
    found = segment_sums(rows, starts, owners)
    torch.testing.assert_close(found, expected.to(found.dtype))
    if sum(counts):
        direction = torch.randn(len(counts), 3, generator=generator, dtype=torch.float64)
        (ours,) = torch.autograd.grad((found * direction).sum(), rows)
        torch.testing.assert_close(ours, direction[owners])


def test_bags_take_rows_in_any_order_with_weights() -> None:
    rows = torch.tensor([[1.0], [10.0], [100.0]])
    index, starts = torch.tensor([2, 0, 0, 1]), torch.tensor([0, 1, 1, 4])
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert bag_sums(rows, index, starts, weights).flatten().tolist() == [100.0, 0.0, 45.0]
    assert bag_sums(rows[:0], index[:0], torch.zeros(3, dtype=torch.long)).tolist() == [[0.0], [0.0]]
