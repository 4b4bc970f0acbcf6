"""One thread, and small shards whose pairs can be learned."""

from __future__ import annotations

import pytest
import torch
from benchmarks._synthetic import synthetic_shard

from mathamr.graphs.shard import Shard


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shard() -> Shard:
    """Forty pairs of small posts."""
    return synthetic_shard(
        40, labels=80, relations=12, formulas=2, sentences=2, formula_nodes=5, sentence_nodes=4
    )
