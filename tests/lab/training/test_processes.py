from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from mathamr_lab.training.processes import Processes, join


def test_gradients_are_summed_but_those_of_the_loss_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dist, "all_reduce", lambda tensor: tensor.mul_(2))  # the other process has the same
    weight, unused, temperature = (torch.nn.Parameter(torch.ones(size)) for size in (3, 2, 1))
    weight.grad, temperature.grad = torch.full((3,), 5.0), torch.full((1,), 7.0)
    Processes(1, 2).sum_gradients([weight, unused], [temperature])
    assert weight.grad.tolist() == [10.0] * 3
    assert temperature.grad.tolist() == [7.0]
    assert unused.grad is not None
    assert unused.grad.tolist() == [0.0, 0.0]


def test_gathered_vectors_stand_by_process_and_gradients_flow_into_the_own_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def all_gather(received: list[torch.Tensor], padded: torch.Tensor) -> None:
        received[0].copy_(torch.full_like(padded, 9.0))
        received[1].copy_(padded)

    monkeypatch.setattr(dist, "all_gather", all_gather)
    own = torch.arange(4.0).view(2, 2).requires_grad_()
    gathered = Processes(1, 2).gather(own, (3, 2))
    assert gathered.tolist() == [[9.0, 9.0]] * 3 + [[0.0, 1.0], [2.0, 3.0]]
    (gradient,) = torch.autograd.grad(gathered.sum(), own)
    assert gradient.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_one_process_needs_no_company() -> None:
    processes, device = join("cpu")
    assert (processes, device.type) == (Processes(), "cpu")
    vectors = torch.ones(2, 2)
    assert processes.gather(vectors, (2,)) is vectors
