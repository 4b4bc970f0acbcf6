"""The losses of formula graphs worked by hand, and against a loop."""

from __future__ import annotations

import math

import pytest
import torch

from mathamr_lab.systems.formulagraph.losses import (
    best_in_each,
    joint_loss,
    mutual_scores,
    node_losses,
    order_loss,
)


def test_equation_2_equals_a_loop_over_nodes_and_formulas() -> None:
    torch.manual_seed(0)
    counts, others = [1, 2, 5], [3, 1, 4]
    ours = torch.nn.functional.normalize(torch.randn(sum(counts), 6), dim=1)
    theirs = torch.nn.functional.normalize(torch.randn(sum(others), 6), dim=1)
    owners = torch.repeat_interleave(torch.arange(3), torch.tensor(counts))
    starts = torch.tensor([0, 3, 4, 8])
    graphs = torch.split(theirs, others)
    expected = []
    for node, owner in zip(ours, owners.tolist(), strict=True):
        best = [float((graph @ node).max()) / 0.1 for graph in graphs]
        negative = sum(math.exp(value) for number, value in enumerate(best) if number != owner)
        expected.append(-math.log(math.exp(best[owner]) / negative))
    torch.testing.assert_close(node_losses(ours, owners, theirs, starts, 0.1), torch.tensor(expected))


def test_equation_3_is_the_mean_of_both_views_whatever_their_sizes() -> None:
    layout, operators = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([10.0, 20.0])
    assert float(joint_loss([("slt", layout), ("opt", operators)])) == pytest.approx((2.5 + 15) / 2)
    assert float(joint_loss([("slt", layout)])) == 2.5
    # Several pairings of one view count as one.
    assert float(joint_loss([("slt", layout), ("slt", 3 * layout), ("opt", operators)])) == pytest.approx(
        ((2.5 + 7.5) / 2 + 15) / 2
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equal_partners_share_a_gradient_of_either_sign(sign: float) -> None:
    ours = torch.tensor([[1.0, 0.0]])
    theirs = torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]], requires_grad=True)
    (sign * best_in_each(ours, theirs, torch.tensor([0, 3]))).sum().backward()
    assert theirs.grad is not None
    assert theirs.grad.tolist() == [[sign / 2, 0.0], [sign / 2, 0.0], [0.0, 0.0]]


def test_the_gradient_of_equation_2_is_its_numerical_derivative_where_nodes_have_doubles() -> None:
    torch.manual_seed(0)
    first, second = torch.randn(2, 5, 4, dtype=torch.float64).requires_grad_()
    # Every row but the last of the second graphs stands for two equal nodes of one formula.
    doubled = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3, 4])

    def loss(ours: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
        unit, others = (torch.nn.functional.normalize(each, dim=1) for each in (ours, theirs[doubled]))
        return node_losses(unit, torch.tensor([0, 0, 1, 1, 2]), others, torch.tensor([0, 4, 8, 9]), 0.1).sum()

    assert torch.autograd.gradcheck(loss, (first, second))


def test_mutual_scores_count_what_else_a_formula_has() -> None:
    vectors = torch.eye(3)
    # Formula 0 has node 0, formula 1 all three.
    rows = torch.cat([vectors[:1], vectors])
    starts = torch.tensor([0, 1, 4])
    pairs = (torch.tensor([0, 0]), torch.tensor([0, 1]))
    same, larger = mutual_scores(rows, starts, rows, starts, pairs).tolist()
    assert same == pytest.approx(1.0)
    assert larger == pytest.approx(2 * 1 * (1 / 3) / (1 + 1 / 3))


def test_the_order_loss_is_zero_for_the_teachers_own_scores_and_grows_with_a_swap() -> None:
    wanted = torch.tensor([[0.9, 0.5, 0.1]])
    assert float(order_loss(wanted, wanted, 0.1)) == pytest.approx(0.0, abs=1e-6)
    assert float(order_loss(wanted[:, [1, 0, 2]], wanted, 0.1)) > 1
