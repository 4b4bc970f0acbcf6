from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr.experiments.trials.marfsum import formula_scores


def test_formulas_are_scored_by_all_their_tokens_as_a_loop_does_and_none_is_minus_one() -> None:
    chance = torch.Generator().manual_seed(3)
    query = torch.randn(4, 8, generator=chance)
    documents = [torch.randn(count, 8, generator=chance) for count in (3, 0, 5)]
    found = formula_scores(query, documents)
    for score, rows in zip(found, documents, strict=True):
        expected = np.mean([max(float(q @ d) for d in rows) for q in query]) if len(rows) else -1.0
        assert score == pytest.approx(expected, abs=1e-5)
    assert formula_scores(torch.zeros(0, 8), documents).tolist() == [-1.0] * 3
