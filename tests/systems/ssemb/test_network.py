"""The isomorphism network against a loop over nodes, and InfoNCE worked by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from mathamr.systems.ssemb.graphs import OperatorGraphs
from mathamr.systems.ssemb.network import GraphNumbers, StructEmb, StructEmbConfiguration
from mathamr.systems.ssemb.system import SsembSystem
from mathamr_lab.systems.ssemb.trainer import agreement_loss
from tests.systems.formulamodels import shard


def test_the_network_equals_a_loop_over_nodes_and_neighbours() -> None:
    formulas = shard()
    torch.manual_seed(0)
    network = StructEmb(StructEmbConfiguration(size=8, layers=2, edge_labels=False), len(formulas.labels))
    graphs = OperatorGraphs.of_numbers(formulas.opt, formulas.opt.labels)
    found = network(GraphNumbers.of(graphs, torch.device("cpu")))
    for number in range(len(graphs)):
        one = graphs.chosen(np.array([number]))
        x = network.embedding.weight[torch.from_numpy(one.labels.astype(np.int64))]
        pooled = x.mean(0)
        for layer in network.layers:
            heard = []
            for node in range(len(x)):
                ways = list(zip(one.sources.tolist(), one.targets.tolist(), strict=True))
                neighbours = [s for s, t in ways if t == node] + [t for s, t in ways if s == node]
                total = (1 + layer.own) * x[node]
                for other in neighbours:
                    total = total + x[other]
                heard.append(functional.relu(layer.norm(layer.inner(total))))
            x = torch.stack(heard)
            pooled = pooled + x.mean(0)
        torch.testing.assert_close(found[number], functional.normalize(pooled, dim=0), atol=1e-5, rtol=1e-4)


def test_infonce_of_two_formulas_worked_by_hand() -> None:
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    other = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    # Rows: both views of others score 1 for formula 0 and 0 for formula 1; columns: 1 against 0, and 0 against 1.
    rows = math.log(2)
    columns = (math.log(1 + math.exp(-1 / 0.5)) + math.log(1 + math.exp(1 / 0.5))) / 2
    assert float(agreement_loss(one, other, 0.5)) == pytest.approx((rows + columns) / 2, rel=1e-6)


def test_with_batch_normalisation_a_trained_network_encodes_a_formula_alone_as_among_others(
    tmp_path: Path,
) -> None:
    formulas = shard()
    configuration = StructEmbConfiguration(size=8, edge_labels=False, norm="batch")
    network = StructEmb(configuration, len(formulas.labels))
    graphs = OperatorGraphs.of_numbers(formulas.opt, formulas.opt.labels)
    every = GraphNumbers.of(graphs, torch.device("cpu"))
    network.train()
    before = network(every)
    network.eval()
    alone = network(GraphNumbers.of(graphs.chosen(np.array([1])), torch.device("cpu")))
    torch.testing.assert_close(alone[0], network(every)[1])
    assert not torch.allclose(before, network(every))
    SsembSystem(network, formulas.labels, reader="mathamr-2").save(tmp_path)
    loaded = SsembSystem.load(tmp_path, "cpu").network.eval()
    torch.testing.assert_close(loaded(every), network(every), atol=2e-3, rtol=1e-2)
