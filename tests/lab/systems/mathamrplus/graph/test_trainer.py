from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.systems.mathamrplus.configuration import MODELS
from mathamr_lab.systems.mathamrplus.graph.configuration import TRAININGS, GraphTraining
from mathamr_lab.systems.mathamrplus.graph.pairs import GraphPairs
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from tests.lab.training.contract import check_trainer

CPU = torch.device("cpu")
SMALL = replace(TRAININGS["small"], batch_size=8)


def trainer_of(shard: Shard, training: GraphTraining, **shape: object) -> GraphTrainer:
    model = replace(MODELS["small"], **shape)  # type: ignore[arg-type]
    return GraphTrainer(shard, model, training, CPU)


def test_the_gradient_in_parts_equals_the_gradient_of_the_whole(shard: Shard) -> None:
    gradients = []
    for budget in (10**9, 60):
        training = replace(SMALL, budget=budget, learning_rate=0.0, minimum_rate=0.0, clip=1e9)
        trainer = trainer_of(shard, training)
        step = trainer.step(np.arange(8), 0)
        assert (len(step.parts) > 1) is (budget == 60)
        trainer.learn(step, 0)
        gradients.append([parameter.grad for parameter in trainer.network.parameters()])
    for whole, parts in zip(*gradients, strict=True):
        assert whole is not None
        assert parts is not None
        torch.testing.assert_close(whole, parts, rtol=1e-3, atol=1e-5)


def test_it_holds_the_contract_of_trainers(
    shard: Shard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = replace(SMALL, epochs=2)
    check_trainer(lambda: trainer_of(shard, training, dropout=0.1), tmp_path, monkeypatch)


def test_document_vectors_need_document_nodes(shard: Shard) -> None:
    columns = dict(shard.columns) | {"levels": np.minimum(shard.columns["levels"], 1)}
    bare = replace(shard, columns=columns)
    GraphPairs(bare, SMALL)
    with pytest.raises(MathAMRError, match="have no document node"):
        GraphPairs(bare, replace(SMALL, beta=0.5))


def test_validation_knows_a_perfect_and_a_useless_network(shard: Shard) -> None:
    training = replace(SMALL, validation=0.5)
    twins = replace(shard, pairs=tuple((number, number) for number in range(40)))
    perfect = trainer_of(twins, training).validate()
    assert perfect is not None
    assert (perfect.figures["mrr"], perfect.figures["recall"]) == (1.0, 1.0)
    trainer = trainer_of(shard, training)
    with torch.no_grad():
        trainer.network.head.second_norm.weight.zero_()
        trainer.network.head.second_norm.bias.fill_(1.0)
    useless = trainer.validate()
    assert useless is not None
    assert useless.figures["mrr"] < 0.1
    assert useless.worth == -useless.figures["loss"]
