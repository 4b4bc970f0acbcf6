from __future__ import annotations

import pytest
import torch

from mathamr.experiments.trials.marfattempts import standard


def test_scores_of_a_query_are_standardised_and_what_has_none_counts_as_the_mean() -> None:
    found = standard(torch.tensor([0.2, 0.4, -1.0, 0.6]))
    assert found.tolist() == pytest.approx([-1.0, 0.0, 0.0, 1.0], abs=1e-5)


def test_a_query_with_fewer_than_two_scores_tells_nothing() -> None:
    assert standard(torch.tensor([-1.0, 0.3])).tolist() == [0.0, 0.0]
