from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.device import chosen_device
from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.posts.level import Level
from mathamr.systems.mathamrplus.configuration import MODELS, VirtualStart
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.network import MathAMRPlus


def encoder_of(shard: Shard, *, start: VirtualStart = "zero-embedding", budget: int = 500) -> GraphEncoder:
    torch.manual_seed(1)
    shape = replace(MODELS["small"], virtual_start=start)
    model = MathAMRPlus(shape, len(shard.vocabulary), len(shard.relations))
    return GraphEncoder(model, shard.vocabulary, shard.relations, shard.configuration, budget=budget)


def test_every_post_comes_back_in_order_with_what_its_vectors_stand_for(shard: Shard) -> None:
    tensors = [shard[number] for number in range(len(shard))]
    found = list(encoder_of(shard).encode(iter(tensors)))
    assert len(found) == len(shard)
    for tensor, vectors in zip(tensors, found, strict=True):
        assert vectors.references == tensor.references
        assert vectors.vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors.vectors, axis=1), 1, rtol=1e-5)
        assert vectors.document is not None
        np.testing.assert_array_equal(vectors.document, vectors.vectors[-1])
        names, formulas = vectors.at(Level.FORMULA)
        assert len(names) == len(formulas) == int((tensor.levels == Level.FORMULA).sum())


def test_encoding_again_gives_the_same_bits_and_the_budget_hardly_matters(shard: Shard) -> None:
    tensors = [shard[number] for number in range(len(shard))]
    first, again = (np.concatenate([v.vectors for v in encoder_of(shard).encode(tensors)]) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    for budget in (1, 10**9):
        other = np.concatenate([v.vectors for v in encoder_of(shard, budget=budget).encode(tensors)])
        np.testing.assert_allclose(first, other, rtol=1e-4, atol=1e-5)


def test_a_graph_of_another_vocabulary_is_refused(shard: Shard) -> None:
    encoder = encoder_of(shard)
    tensor = shard[0]
    foreign = replace(tensor, node_ids=tensor.node_ids + 10_000)
    with pytest.raises(MathAMRError, match="label number outside the model's 80"):
        list(encoder.encode([foreign]))
    foreign = replace(tensor, relation_ids=tensor.relation_ids + 10_000)
    with pytest.raises(MathAMRError, match="relation number outside"):
        list(encoder.encode([foreign]))


def test_no_graphs_and_graphs_without_edges_are_no_trouble(shard: Shard) -> None:
    encoder = encoder_of(shard)
    assert list(encoder.encode([])) == []
    tensor = shard[0]
    bare = replace(
        tensor,
        edge_index=np.zeros((2, 0), np.int32),
        relation_ids=np.zeros(0, np.int32),
        representatives=np.zeros(0, np.int32),
        levels=np.zeros(0, np.int32),
        references=(),
    )
    empty, full = encoder.encode([bare, tensor])
    assert len(empty) == 0
    assert empty.document is None
    assert len(full) == len(tensor.representatives)


def test_weights_in_sixteen_bits_are_half_as_large_and_nearly_the_same(shard: Shard, tmp_path: Path) -> None:
    encoder = encoder_of(shard)
    encoder.save(tmp_path / "whole")
    encoder.save(tmp_path / "half", half=True)
    sizes = [(tmp_path / name / "weights.safetensors").stat().st_size for name in ("whole", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    (whole,) = encoder.encode([shard[0]])
    (half,) = GraphEncoder.load(tmp_path / "half", "cpu").encode([shard[0]])
    np.testing.assert_allclose(whole.vectors, half.vectors, atol=0.01)


def test_unknown_devices_are_refused() -> None:
    with pytest.raises(MathAMRError, match="unknown device 'abacus'"):
        chosen_device("abacus")
    with pytest.raises(MathAMRError, match="no device 'cuda:999'"):
        chosen_device("cuda:999")
