from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import torch
from torch.nn import functional

from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.posts.level import Level
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus.configuration import MODELS, ModelConfiguration, VirtualStart
from mathamr.systems.mathamrplus.network import GATHERING, VIRTUAL_IDS, MathAMRPlus

SMALL = MODELS["small"]


def network(shard: Shard, configuration: ModelConfiguration = SMALL, seed: int = 0) -> MathAMRPlus:
    torch.manual_seed(seed)
    model = MathAMRPlus(configuration, len(shard.vocabulary), len(shard.relations))
    with torch.no_grad():
        for parameter in model.parameters():  # away from the zeros that some start at
            parameter += 0.05 * torch.randn_like(parameter)
    return model.eval()


def vectors(model: MathAMRPlus, shard: Shard, numbers: list[int]) -> list[torch.Tensor]:
    batch = GraphBatch.of(GraphStack.of_shard(shard, numbers))
    with torch.no_grad():
        return list(torch.split(model(batch), list(batch.counts)))


@pytest.mark.parametrize("start", get_args(VirtualStart))
def test_other_graphs_of_a_batch_never_change_the_vectors_of_a_post(
    shard: Shard, start: VirtualStart
) -> None:
    model = network(shard, replace(SMALL, virtual_start=start))
    draw = np.random.default_rng(5)
    alone = {number: vectors(model, shard, [number])[0] for number in range(8)}
    for _ in range(4):
        numbers = draw.integers(0, 8, 6).tolist()
        for number, found in zip(numbers, vectors(model, shard, numbers), strict=True):
            torch.testing.assert_close(found, alone[number], rtol=1e-4, atol=1e-5)


def test_a_layer_is_what_equation_3_1_says(shard: Shard) -> None:
    model = network(shard)
    groups = GraphBatch.of(GraphStack.of_shard(shard, [1, 2])).groups
    layer = model.layers[0]
    x = torch.randn(len(groups.fed_starts) - 1, SMALL.hidden)
    expected = x + functional.gelu(layer.convolution(layer.norm(x), groups))
    torch.testing.assert_close(layer(x, groups), expected)


def test_a_post_sees_only_as_many_hops_as_there_are_layers(shard: Shard) -> None:
    tensor = shard[2]
    model = network(shard, replace(SMALL, layers=0))
    before = vectors(model, shard, [2])[0]
    changed = replace(tensor, node_ids=np.where(tensor.node_ids > VIRTUAL_IDS[-1], 20, tensor.node_ids))
    with torch.no_grad():
        after = model(GraphBatch.of(GraphStack.of_tensors([changed])))
    torch.testing.assert_close(before, after)  # without layers the labels never reach the virtual nodes


@pytest.mark.parametrize("start", ["zero", "mean", "mean-projection", "mean-typed-projection"])
def test_starts_without_an_embedding_ignore_the_embeddings_of_virtual_nodes(
    shard: Shard, start: VirtualStart
) -> None:
    model = network(shard, replace(SMALL, virtual_start=start))
    before = vectors(model, shard, [3])[0]
    with torch.no_grad():
        model.embedding.weight[list(VIRTUAL_IDS)] += 7.0
    torch.testing.assert_close(vectors(model, shard, [3])[0], before)


def test_the_mean_start_is_the_mean_of_the_members(shard: Shard) -> None:
    tensor = shard[6]
    model = network(shard, replace(SMALL, virtual_start="mean"))
    batch = GraphBatch.of(GraphStack.of_tensors([tensor]))
    with torch.no_grad():
        embedded = model.embedding(batch.node_ids)
        started = model.start(embedded, batch)
    pooled = embedded.clone()
    for level in (Level.FORMULA, Level.SENTENCE, Level.DOCUMENT):
        for node, own in zip(tensor.representatives, tensor.levels, strict=True):
            if own == level:
                half = tensor.forward_edges
                arriving = (tensor.edge_index[1] == node) & (tensor.relation_ids == GATHERING[level])
                members = tensor.edge_index[0, half:][arriving[half:]]
                pooled[int(node)] = pooled[torch.from_numpy(members).long()].mean(0)
    torch.testing.assert_close(started, pooled)


def test_zero_and_random_embeddings_start_as_their_names_say(shard: Shard) -> None:
    for start, is_zero in (("zero-embedding", True), ("random-embedding", False)):
        torch.manual_seed(0)
        model = MathAMRPlus(
            replace(SMALL, virtual_start=start),  # type: ignore[arg-type]
            len(shard.vocabulary),
            len(shard.relations),
        )
        assert bool((model.embedding.weight[list(VIRTUAL_IDS)] == 0).all()) is is_zero


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"virtual_start": "ones"}, "unknown start of virtual nodes 'ones'; known: zero"),
        ({"hidden": 0}, "hidden must be from 1"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_impossible_configurations_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(MathAMRError, match=message):
        ModelConfiguration(**change)  # type: ignore[arg-type]


def test_configurations_survive_json_and_refuse_what_they_do_not_know() -> None:
    row = MODELS["thesis-full"].to_json()
    assert ModelConfiguration.from_json(row) == MODELS["thesis-full"]
    with pytest.raises(MathAMRError, match="unknown model configuration field 'wings'"):
        ModelConfiguration.from_json({"wings": 2})
    with pytest.raises(MathAMRError, match="hidden is 'many'"):
        ModelConfiguration.from_json({"hidden": "many"})


def test_retired_options_are_read_where_they_are_off() -> None:
    assert ModelConfiguration.from_json({"hidden": 8, "attention_heads": 0, "text_output": False}).hidden == 8
    with pytest.raises(MathAMRError, match="unknown model configuration field 'text_size'"):
        ModelConfiguration.from_json({"text_size": 8})
