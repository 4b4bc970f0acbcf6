"""One thread, and a small shard whose pairs can be learned."""

from __future__ import annotations

import pytest
import torch

from mathamr.graphs.shard import Shard
from tests.lab.synthetic import synthetic_shard


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def small_shard(pairs: int) -> Shard:
    """Small posts; those of a pair share three labels."""
    return synthetic_shard(
        pairs,
        labels=60,
        relations=12,
        formulas=1,
        sentences=2,
        formula_nodes=5,
        sentence_nodes=5,
        topic=0.9,
        topic_labels=3,
    )


@pytest.fixture(scope="session")
def shard() -> Shard:
    """Forty pairs."""
    return small_shard(40)
