from __future__ import annotations

import math

import pytest
import torch

from mathamr_lab.training.losses import SHARPEST, Contrast, ContrastiveLoss, info_nce
from mathamr_lab.training.maxsim import VectorRows


def test_ignored_documents_are_no_negatives() -> None:
    scores = torch.tensor([[0.9, 5.0, 0.1], [0.4, 0.6, 0.2]])
    ignored = torch.tensor([[False, True, False], [False, False, False]])
    first = math.log(1 + math.exp(0.1 - 0.9))
    second = math.log(1 + math.exp(0.4 - 0.6) + math.exp(0.2 - 0.6))
    assert info_nce(scores, torch.tensor(1.0), ignored).item() == pytest.approx((first + second) / 2)


def two_posts() -> tuple[torch.Tensor, torch.Tensor, Contrast]:
    """Two questions and two answers; vectors of length one in the plane, given by their angles."""

    def rows(*degrees: float) -> torch.Tensor:
        angles = torch.deg2rad(torch.tensor(degrees))
        return torch.stack([angles.cos(), angles.sin()], 1)

    queries, documents = rows(0, 90, 45), rows(30, 60, 80)
    contrast = Contrast(
        VectorRows.of([2, 1]),
        VectorRows.of([1, 2]),
        torch.zeros(2, 2, dtype=torch.bool),
        torch.tensor([1, 2]),
        torch.tensor([0, 2]),
    )
    return queries, documents, contrast


def cosine(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def nce(scores: list[list[float]], temperature: float) -> float:
    total = 0.0
    for number, row in enumerate(scores):
        total -= math.log(math.exp(row[number] / temperature) / sum(math.exp(s / temperature) for s in row))
    return total / len(scores)


def test_the_loss_is_beta_maxsim_and_the_rest_document_vectors() -> None:
    queries, documents, contrast = two_posts()
    maxsims = [
        [(cosine(30) + cosine(60)) / 2, (cosine(60) + cosine(10)) / 2],
        [cosine(15), cosine(15)],
    ]
    singles = [[cosine(60), cosine(10)], [cosine(15), cosine(35)]]
    for beta in (1.0, 0.3, 0.0):
        loss = ContrastiveLoss(0.2, beta)(queries, documents, contrast)
        expected = beta * nce(maxsims, 0.2) + (1 - beta) * nce(singles, 0.2)
        assert loss.item() == pytest.approx(expected, rel=1e-5)


def test_the_temperature_is_learned_and_never_too_sharp() -> None:
    queries, documents, contrast = two_posts()
    loss = ContrastiveLoss(0.05)
    assert loss.temperature.item() == pytest.approx(0.05)
    torch.autograd.backward(loss(queries, documents, contrast))
    assert loss.log_temperature.grad is not None
    assert loss.log_temperature.grad.item() != 0
    with torch.no_grad():
        loss.log_temperature.fill_(-50.0)
    assert loss.temperature.item() == pytest.approx(SHARPEST)
