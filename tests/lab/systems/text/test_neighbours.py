from __future__ import annotations

import numpy as np
import torch

from mathamr_lab.systems.text.neighbours import neighbour_batches


def test_batches_of_neighbours_hold_every_pair_once_and_neighbours_together() -> None:
    angles = torch.tensor([0.0, 0.01, 1.0, 1.01, 2.0, 2.01, 3.0, 3.01])
    vectors = torch.stack([angles.cos(), angles.sin()], 1)
    batches = neighbour_batches(vectors, 4, 2, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(8))
    for batch in batches:
        assert {place // 2 for place in batch.tolist()} == {batch[0] // 2, batch[2] // 2}
    by_chance = neighbour_batches(vectors, 3, 1, np.random.default_rng(0))
    assert sorted(np.concatenate(by_chance).tolist()) == list(range(8))
    # A batch of one has no negative.
    assert [len(batch) for batch in neighbour_batches(vectors[:7], 3, 1, np.random.default_rng(0))] == [3, 3]
