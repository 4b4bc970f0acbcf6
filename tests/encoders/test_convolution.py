from __future__ import annotations

import pytest
import torch

from mathamr.encoders.convolution import EdgeGroups, RelationalConvolution

geometric = pytest.importorskip("torch_geometric.nn", reason="the oracle is PyTorch Geometric (extra dev)")


def random_graph(nodes: int, edges: int, relations: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(nodes, (2, edges), generator=generator)
    index[:, : edges // 3] = index[:, edges // 3 : edges // 3 + edges // 3]  # parallel edges
    return index, torch.randint(relations, (edges,), generator=generator)


@pytest.mark.parametrize(
    ("nodes", "edges", "relations", "seed"), [(30, 120, 7, 0), (5, 0, 3, 1), (200, 900, 60, 2), (1, 4, 2, 3)]
)
def test_forward_and_gradients_equal_those_of_pytorch_geometric(
    nodes: int, edges: int, relations: int, seed: int
) -> None:
    torch.manual_seed(seed)
    index, kinds = random_graph(nodes, edges, relations, seed)
    ours = RelationalConvolution(8, 6, relations, bases=4, relation_vectors=False)
    oracle = geometric.RGCNConv(8, 6, relations, num_bases=4, aggr="mean")
    with torch.no_grad():
        oracle.weight.copy_(ours.bases)
        oracle.comp.copy_(ours.coefficients)
        oracle.root.copy_(ours.root)
        oracle.bias.copy_(ours.bias)
    x = torch.randn(nodes, 8)
    x_ours, x_oracle = x.clone().requires_grad_(), x.clone().requires_grad_()
    out_ours = ours(x_ours, EdgeGroups.of(index, kinds, nodes))
    out_oracle = oracle(x_oracle, index, kinds)
    torch.testing.assert_close(out_ours, out_oracle, rtol=1e-5, atol=1e-5)
    direction = torch.randn_like(out_ours)
    (out_ours * direction).sum().backward()
    (out_oracle * direction).sum().backward()
    torch.testing.assert_close(x_ours.grad, x_oracle.grad, rtol=1e-4, atol=1e-5)
    for mine, theirs in (
        (ours.bases, oracle.weight),
        (ours.coefficients, oracle.comp),
        (ours.root, oracle.root),
        (ours.bias, oracle.bias),
    ):
        untouched = torch.zeros_like(theirs)
        expected = untouched if theirs.grad is None else theirs.grad
        torch.testing.assert_close(
            untouched if mine.grad is None else mine.grad, expected, rtol=1e-4, atol=1e-5
        )


def test_relation_vectors_are_added_to_every_message_of_their_relation() -> None:
    torch.manual_seed(0)
    layer = RelationalConvolution(4, 4, 3, bases=2)
    assert layer.vectors is not None
    index, kinds = torch.tensor([[0, 1, 0], [2, 2, 2]]), torch.tensor([1, 1, 2])
    x = torch.randn(3, 4)
    groups = EdgeGroups.of(index, kinds, 3)
    with torch.no_grad():
        plain = layer(x, groups)
        layer.vectors[1] += 1.0
        moved = layer(x, groups)
        weight = torch.einsum("b,bio->io", layer.coefficients[1], layer.bases)
    torch.testing.assert_close(moved[2] - plain[2], torch.ones(4) @ weight)
    torch.testing.assert_close(moved[:2], plain[:2])
