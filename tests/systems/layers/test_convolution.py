from __future__ import annotations

from typing import Any

import pytest
import torch

from mathamr.systems.layers import convolution
from mathamr.systems.layers.convolution import RelationalConvolution
from mathamr.systems.layers.groups import EdgeGroups


@pytest.fixture(scope="module")
def geometric() -> Any:
    """The oracle, imported only where these tests run: it takes seconds."""
    return pytest.importorskip("torch_geometric.nn", reason="needs PyTorch Geometric, the oracle")


def random_graph(nodes: int, edges: int, relations: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(nodes, (2, edges), generator=generator)
    index[:, : edges // 3] = index[:, edges // 3 : edges // 3 + edges // 3]  # parallel edges
    return index, torch.randint(relations, (edges,), generator=generator)


def groups_of(index: torch.Tensor, kinds: torch.Tensor, nodes: int) -> EdgeGroups:
    return EdgeGroups.of(index[0].numpy(), index[1].numpy(), kinds.numpy(), nodes)


@pytest.mark.parametrize(
    ("nodes", "edges", "relations", "seed", "bases"),
    [(30, 120, 7, 0, 4), (30, 120, 7, 0, None), (5, 0, 3, 1, 4), (200, 900, 60, 2, 4), (1, 4, 2, 3, 4)],
)
def test_forward_and_gradients_equal_those_of_pytorch_geometric(
    geometric: Any, nodes: int, edges: int, relations: int, seed: int, bases: int | None
) -> None:
    torch.manual_seed(seed)
    index, kinds = random_graph(nodes, edges, relations, seed)
    ours = RelationalConvolution(8, 6, relations, bases=bases, relation_vectors=False)
    oracle = geometric.RGCNConv(8, 6, relations, num_bases=bases, aggr="mean")
    pairs = [(ours.bases, oracle.weight), (ours.root, oracle.root), (ours.bias, oracle.bias)]
    if bases is not None:  # else every relation has its own matrix
        pairs.append((ours.coefficients, oracle.comp))
    with torch.no_grad():
        for mine, theirs in pairs:
            theirs.copy_(mine)
    x = torch.randn(nodes, 8)
    x_ours, x_oracle = x.clone().requires_grad_(), x.clone().requires_grad_()
    out_ours = ours(x_ours, groups_of(index, kinds, nodes))
    out_oracle = oracle(x_oracle, index, kinds)
    torch.testing.assert_close(out_ours, out_oracle, rtol=1e-5, atol=1e-5)
    direction = torch.randn_like(out_ours)
    (out_ours * direction).sum().backward()
    (out_oracle * direction).sum().backward()
    torch.testing.assert_close(x_ours.grad, x_oracle.grad, rtol=1e-4, atol=1e-5)
    assert len(pairs) == len(list(ours.parameters()))
    for mine, theirs in pairs:
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
    groups = groups_of(index, kinds, 3)
    with torch.no_grad():
        plain = layer(x, groups)
        layer.vectors[1] += 1.0
        moved = layer(x, groups)
        weight = torch.einsum("b,bio->io", layer.coefficients[1], layer.bases)
    torch.testing.assert_close(moved[2] - plain[2], torch.ones(4) @ weight)
    torch.testing.assert_close(moved[:2], plain[:2])


def test_gradient_of_relation_vectors_is_that_of_finite_differences() -> None:
    torch.manual_seed(1)
    layer = RelationalConvolution(3, 2, 5, bases=2).double()
    index, kinds = random_graph(200, 700, 5, 4)
    groups, x = groups_of(index, kinds, 200), torch.randn(200, 3, dtype=torch.float64)
    direction = torch.randn(200, 2, dtype=torch.float64)
    (layer(x, groups) * direction).sum().backward()
    assert layer.vectors is not None
    assert layer.vectors.grad is not None
    with torch.no_grad():
        for relation in range(5):
            plain = (layer(x, groups) * direction).sum()
            layer.vectors[relation, 1] += 1.0
            moved = (layer(x, groups) * direction).sum()
            layer.vectors[relation, 1] -= 1.0
            torch.testing.assert_close(moved - plain, layer.vectors.grad[relation, 1])


def test_a_huge_graph_in_pieces_gives_the_same_vectors() -> None:
    torch.manual_seed(2)
    layer = RelationalConvolution(6, 5, 9, bases=3)
    torch.nn.init.normal_(layer.vectors)  # type: ignore[arg-type]
    index, kinds = random_graph(60, 800, 9, 5)
    groups, x = groups_of(index, kinds, 60), torch.randn(60, 6)
    with torch.inference_mode():
        whole = layer(x, groups)
        layer.piece_rows = 7
        torch.testing.assert_close(layer(x, groups), whole, rtol=1e-5, atol=1e-5)


def test_bfloat16_stays_near_float32() -> None:
    torch.manual_seed(3)
    layer = RelationalConvolution(16, 16, 7, bases=4)
    index, kinds = random_graph(50, 300, 7, 6)
    groups, x = groups_of(index, kinds, 50), torch.randn(50, 16)
    exact = layer(x, groups)
    with torch.autocast("cpu", torch.bfloat16):
        rough = layer(x, groups)
    assert rough.dtype == torch.bfloat16
    torch.testing.assert_close(rough.float(), exact, rtol=0.05, atol=0.05)


@pytest.mark.skipif(
    not hasattr(torch, "_grouped_mm"), reason="this torch cannot multiply groups in one kernel"
)
@pytest.mark.parametrize(("into", "out"), [(16, 8), (13, 11)])
def test_products_in_one_kernel_equal_those_one_by_one(into: int, out: int) -> None:
    torch.manual_seed(4)
    rows = torch.randn(30, into, dtype=torch.bfloat16, requires_grad=True)
    weights = torch.randn(3, into, out, dtype=torch.bfloat16, requires_grad=True)
    ends = torch.tensor([4, 5, 30], dtype=torch.int32)
    fused = convolution._fused_product(rows, weights, ends)
    single = torch.cat(
        [part @ weight for part, weight in zip(torch.split(rows, [4, 1, 25]), weights, strict=True)]
    )
    torch.testing.assert_close(fused, single)
    direction = torch.randn_like(fused)
    for ours, theirs in zip(
        torch.autograd.grad((fused * direction).sum(), (rows, weights)),
        torch.autograd.grad((single * direction).sum(), (rows, weights)),
        strict=True,
    ):
        torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_gives_the_same_result_and_the_same_bits_again() -> None:
    torch.manual_seed(5)
    layer = RelationalConvolution(32, 32, 40, bases=8)
    index, kinds = random_graph(500, 3000, 40, 7)
    groups, x = groups_of(index, kinds, 500), torch.randn(500, 32)
    expected = layer(x, groups)
    layer, there, x = layer.cuda(), groups.to("cuda"), x.cuda()
    torch.testing.assert_close(layer(x, there).cpu(), expected, rtol=1e-4, atol=1e-4)
    with torch.autocast("cuda", torch.bfloat16):
        first, again = layer(x, there), layer(x, there)
    assert torch.equal(first, again)
    torch.testing.assert_close(first.float().cpu(), expected, rtol=0.05, atol=0.05)
