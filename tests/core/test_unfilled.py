"""Networks without memory, for weights from a file."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from mathamr.core.unfilled import unfilled


def test_networks_have_shapes_and_no_memory_and_randomness_is_untouched() -> None:
    state = torch.random.get_rng_state()
    with unfilled():
        network = nn.Sequential(nn.Embedding(10**9, 4), nn.Linear(4, 3), nn.LayerNorm(3))
        nn.init.orthogonal_(network[1].weight)
    assert all(parameter.is_meta for parameter in network.parameters())
    assert network[1].weight.shape == (3, 4)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not nn.Linear(4, 3).weight.is_meta


@pytest.mark.slow
def test_torchs_compiler_is_not_loaded_for_it() -> None:
    code = (
        "import sys\nfrom torch import nn\nfrom mathamr.core.unfilled import unfilled\n"
        "with unfilled():\n    nn.EmbeddingBag(7, 4), nn.Linear(4, 3)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.strip() == "False", ran.stderr
