from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_lab.training.maxsim import LOWEST, VectorRows, maxsim


def naive(
    queries: torch.Tensor, query_counts: list[int], documents: torch.Tensor, counts: list[int]
) -> torch.Tensor:
    rows = []
    for query in torch.split(queries, query_counts):
        row = []
        for document in torch.split(documents, counts):
            total = torch.zeros(())
            for vector in query:
                best = max(
                    (vector @ other for other in document),
                    key=lambda score: score.item(),
                    default=torch.tensor(LOWEST),
                )
                total = total + best
            row.append(total / max(1, len(query)))
        rows.append(torch.stack(row))
    return torch.stack(rows)


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
    st.lists(st.integers(0, 5), min_size=1, max_size=5),
    st.integers(0, 10_000),
)
def test_maxsim_and_its_gradients_equal_a_naive_loop(
    query_counts: list[int], counts: list[int], seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    queries = torch.randn(sum(query_counts), 3, generator=generator).requires_grad_()
    documents = torch.randn(sum(counts), 3, generator=generator).requires_grad_()
    direction = torch.randn(len(query_counts), len(counts), generator=generator)
    found = maxsim(queries, VectorRows.of(query_counts), documents, VectorRows.of(counts))
    expected = naive(queries, query_counts, documents, counts)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    if expected.requires_grad and found.requires_grad:
        for table in (queries, documents):
            ours = torch.autograd.grad(
                (found * direction).sum(), table, retain_graph=True, allow_unused=True
            )[0]
            theirs = torch.autograd.grad(
                (expected * direction).sum(), table, retain_graph=True, allow_unused=True
            )[0]
            zero = torch.zeros_like(table)
            torch.testing.assert_close(zero if ours is None else ours, zero if theirs is None else theirs)


def test_chunks_do_not_change_anything() -> None:
    torch.manual_seed(0)
    queries, documents = torch.randn(11, 4), torch.randn(9, 4)
    rows, other = VectorRows.of([5, 2, 4]), VectorRows.of([1, 6, 2])
    whole = maxsim(queries, rows, documents, other)
    torch.testing.assert_close(maxsim(queries, rows, documents, other, limit=40), whole)
