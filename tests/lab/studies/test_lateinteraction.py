"""Training by late interaction: scores and negatives."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy, normalize

from mathamr_lab.studies.lateinteraction import TEMPERATURE, loss_of, maxsim
from mathamr_lab.training.maxsim import VectorRows
from mathamr_lab.training.maxsim import maxsim as packed_maxsim


def test_scores_of_padded_tokens_are_those_of_packed_rows() -> None:
    torch.manual_seed(0)
    questions, answers = (normalize(torch.randn(3, length, 8), dim=-1) for length in (5, 7))
    asked = torch.arange(5) < torch.tensor([[5], [2], [1]])
    there = torch.arange(7) < torch.tensor([[3], [7], [4]])
    expected = packed_maxsim(
        questions[asked],
        VectorRows.of(asked.sum(1).tolist()),
        answers[there],
        VectorRows.of(there.sum(1).tolist()),
    )
    assert torch.allclose(maxsim(questions, asked, answers, there), expected, atol=1e-6)


def test_other_answers_of_a_thread_are_no_negatives() -> None:
    scores = torch.tensor([[0.5, 0.9, 0.1], [0.8, 0.5, 0.2], [0.3, 0.1, 0.6]])
    kept = [[0, 2], [1, 2], [0, 1, 2]]
    ways = [
        torch.stack(
            [
                cross_entropy(rows[row][own] / TEMPERATURE, torch.tensor(own.index(row)))
                for row, own in enumerate(kept)
            ]
        ).mean()
        for rows in (scores, scores.T)
    ]
    assert torch.allclose(loss_of(scores, ["a", "a", "b"]), (ways[0] + ways[1]) / 2)
