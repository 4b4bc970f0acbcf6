"""Attention, gate and residual of the fusion against sums written out by hand."""

from __future__ import annotations

import math

import torch

from mathamr.systems.marf.fusion import GatedFusion


def hand_made() -> GatedFusion:
    """A fusion of size 2 with one head whose matrices are the identity, but for the gate, which is a half everywhere."""
    fusion = GatedFusion(2, 1)
    with torch.no_grad():
        for layer in (fusion.query, fusion.attended):
            layer.weight.copy_(torch.eye(2))
            layer.bias.zero_()
        fusion.key_value.weight.copy_(torch.cat([torch.eye(2), torch.eye(2)]))
        fusion.key_value.bias.zero_()
        fusion.inner.weight.zero_()
        fusion.inner.weight[:2] = 10 * torch.eye(2)
        fusion.inner.bias.fill_(0)
        fusion.outer.weight.zero_()
        fusion.outer.weight[:, :2] = 0.1 * torch.eye(2)
        for name in ("0", "2"):
            fusion.gate.get_submodule(name).weight.zero_()  # type: ignore[union-attr, operator]
            fusion.gate.get_submodule(name).bias.zero_()  # type: ignore[union-attr, operator]
    return fusion


def test_equations_4_to_6_worked_out_by_hand() -> None:
    context = torch.tensor([[[1.0, 0.0]]])
    formula = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    found = hand_made()(context, formula, torch.tensor([2]))
    # Likenesses 1/√2 and 0; H is the softmax over the two tokens.
    first = math.exp(1 / math.sqrt(2)) / (math.exp(1 / math.sqrt(2)) + 1)
    attended = [first, 1 - first]
    gelu = [0.5 * 10 * h * (1 + math.erf(10 * h / math.sqrt(2))) for h in attended]
    wanted = [1 + 0.5 * 0.1 * gelu[0], 0.5 * 0.1 * gelu[1]]
    torch.testing.assert_close(found[0, 0], torch.tensor(wanted), atol=1e-5, rtol=1e-5)


def test_what_lies_beyond_a_formula_is_not_looked_at() -> None:
    fusion = hand_made()
    context = torch.tensor([[[0.6, 0.8], [1.0, 0.0]]])
    short = fusion(context, torch.tensor([[[0.0, 1.0]]]), torch.tensor([1]))
    padded = fusion(context, torch.tensor([[[0.0, 1.0], [5.0, 5.0], [-3.0, 1.0]]]), torch.tensor([1]))
    torch.testing.assert_close(short, padded)
    torch.testing.assert_close(short[0, 0], torch.tensor([0.6, 0.8 + 0.05 * 10]), atol=1e-4, rtol=1e-4)


def test_a_post_without_formula_stays_as_it_is() -> None:
    context = torch.randn(2, 3, 2)
    found = hand_made()(context, torch.randn(2, 4, 2), torch.tensor([0, 4]))
    assert torch.equal(found[0], context[0])
    assert not torch.allclose(found[1], context[1])


def test_a_fusion_begins_as_the_context() -> None:
    context = torch.randn(2, 3, 8)
    assert torch.equal(GatedFusion(8, 2)(context, torch.randn(2, 5, 8), torch.tensor([5, 2])), context)
