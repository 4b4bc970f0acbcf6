from __future__ import annotations

import torch

from mathamr.systems.layers.segments import bag_sums


def test_bags_take_rows_in_any_order_with_weights() -> None:
    rows = torch.tensor([[1.0], [10.0], [100.0]])
    index, starts = torch.tensor([2, 0, 0, 1]), torch.tensor([0, 1, 1, 4])
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert bag_sums(rows, index, starts, weights).flatten().tolist() == [100.0, 0.0, 45.0]
    assert bag_sums(rows[:0], index[:0], torch.zeros(3, dtype=torch.long)).tolist() == [[0.0], [0.0]]
