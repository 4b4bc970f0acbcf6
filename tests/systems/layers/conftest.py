"""One thread: the graphs of these tests are small, and threads would only wait for each other."""

from __future__ import annotations

import pytest
import torch

from mathamr.graphs.shard import Shard
from tests.lab.synthetic import synthetic_shard


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shard() -> Shard:
    """Thirty small posts."""
    return synthetic_shard(
        15, labels=80, relations=20, formulas=2, sentences=2, formula_nodes=5, sentence_nodes=4
    )
