from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from mathamr.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr.layers.batch import GraphBatch
from mathamr.layers.textvectors import TextTable
from mathamr.systems.mathamrplus.configuration import MODELS
from mathamr.systems.mathamrplus.network import MathAMRPlus
from mathamr.training.configuration import TRAININGS, TrainingConfiguration
from mathamr.training.learner import Learner, rate
from mathamr.training.losses import ContrastiveLoss
from mathamr.training.negatives import HardNegatives
from mathamr.training.processes import Processes
from mathamr.training.task import Task
from mathamr.training.validation import validate

CPU = torch.device("cpu")
WAY = replace(TRAININGS["small"], batch_size=8)


def learner_of(shard: Shard, way: TrainingConfiguration, **shape: object) -> Learner:
    torch.manual_seed(0)
    model = MathAMRPlus(
        replace(MODELS["small"], **shape),  # type: ignore[arg-type]
        len(shard.vocabulary),
        len(shard.relations),
    )
    return Learner(model, way, 100, CPU)


def learned(shard: Shard, way: TrainingConfiguration, steps: int = 3, **shape: object) -> list[torch.Tensor]:
    learner, task = learner_of(shard, way, **shape), Task(shard, way)
    for number in range(steps):
        places = np.arange(8) + number
        learner.learn(task.step(task.train[places], places, 0, CPU), number)
    return [parameter.detach().clone() for parameter in learner.model.parameters()]


def test_a_batch_in_parts_learns_the_same_as_the_whole(shard: Shard) -> None:
    for ours, theirs in zip(learned(shard, WAY), learned(shard, replace(WAY, budget=1)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


def test_both_times_a_part_is_encoded_it_draws_the_same_dropout(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = replace(WAY, budget=60)
    learner, task = learner_of(shard, way, dropout=0.3), Task(shard, way)
    step = task.step(task.train[:8], np.arange(8), 0, CPU)
    found = []
    encode = learner._vectors

    def recorded(part: GraphBatch) -> torch.Tensor:
        found.append(encode(part))
        return found[-1]

    monkeypatch.setattr(learner, "_vectors", recorded)
    learner.learn(step, 0)
    count = len(step.parts)
    assert len(found) == 2 * count > 4
    for first, second in zip(found[:count], found[count:], strict=True):
        assert torch.equal(first, second)


def test_the_gradient_in_parts_equals_the_gradient_of_the_whole(shard: Shard) -> None:
    gradients = []
    for budget in (10**9, 60):
        way = replace(WAY, budget=budget, learning_rate=0.0, minimum_rate=0.0, clip=1e9)
        learner, task = learner_of(shard, way), Task(shard, way)
        step = task.step(task.train[:8], np.arange(8), 0, CPU)
        assert (len(step.parts) > 1) is (budget == 60)
        learner.learn(step, 0)
        gradients.append([parameter.grad for parameter in learner.model.parameters()])
    for whole, parts in zip(*gradients, strict=True):
        assert whole is not None
        assert parts is not None
        torch.testing.assert_close(whole, parts, rtol=1e-3, atol=1e-5)


def test_the_state_is_all_that_the_next_step_depends_on(shard: Shard) -> None:
    way = replace(WAY)
    first, task = learner_of(shard, way, dropout=0.1), Task(shard, way)
    step = task.step(task.train[:8], np.arange(8), 0, CPU)
    first.learn(step, 0)
    state = first.state()
    first.learn(step, 1)
    second = learner_of(shard, way, dropout=0.1)
    second.use_state(state)
    second.learn(step, 1)
    for ours, theirs in zip(first.state().items(), second.state().items(), strict=True):
        assert ours[0] == theirs[0]
        assert torch.equal(ours[1], theirs[1]), ours[0]


def test_hard_negatives_are_further_documents_of_the_step(shard: Shard) -> None:
    rows = [
        (shard.ids[q], [shard.ids[(a + 2) % len(shard)], shard.ids[(a + 4) % len(shard)]])
        for q, a in shard.pairs
    ]
    way = replace(WAY, hard_negatives=2)
    task = Task(shard, way, negatives=HardNegatives.of(shard.ids, rows))
    step = task.step(task.train[:8], np.arange(8), 0, CPU)
    assert step.contrast.ignored.shape == (8, 24)
    assert sum(len(part) for part in step.parts) == 8 + 24
    assert torch.isfinite(learner_of(shard, way).learn(step, 0))
    with pytest.raises(MathAMRError, match="give the file that lists them"):
        Task(shard, way)


def test_formulas_of_a_pair_can_be_trained_too(shard: Shard) -> None:
    way = replace(WAY, formula_weight=1.0, batch_size=36)
    task = Task(shard, way)
    step = task.step(task.train, np.arange(len(task.train)), 0, CPU)
    assert step.contrast.formulas is not None
    vectors = learner_of(shard, way).encoded(step.parts)
    ours, theirs = step.contrast.formulas
    levels = torch.cat([part.levels for part in step.parts])
    assert (levels[ours] == 0).all()
    assert (levels[step.questions + theirs] == 0).all()
    plain = ContrastiveLoss(0.05)(vectors[: step.questions], vectors[step.questions :], step.contrast)
    both = ContrastiveLoss(0.05, formula_weight=1.0)(
        vectors[: step.questions], vectors[step.questions :], step.contrast
    )
    assert both.item() > plain.item()


def test_document_vectors_need_document_nodes(shard: Shard) -> None:
    columns = dict(shard.columns) | {"levels": np.minimum(shard.columns["levels"], 1)}
    bare = replace(shard, columns=columns)
    Task(bare, WAY)
    with pytest.raises(MathAMRError, match="have no document node"):
        Task(bare, replace(WAY, beta=0.5))


def test_text_vectors_of_another_shard_are_refused(shard: Shard) -> None:
    table = TextTable(np.ones((3, 4)), np.zeros(3, np.int32))
    with pytest.raises(MathAMRError, match="the text vectors are of 3 representatives"):
        Task(shard, WAY, texts=table)


def test_batches_must_divide_among_processes(shard: Shard) -> None:
    with pytest.raises(MathAMRError, match="cannot be shared evenly by 3"):
        Task(shard, WAY, processes=Processes(0, 3))


def test_the_rate_rises_and_falls_to_its_minimum() -> None:
    way = replace(WAY, learning_rate=1e-2, minimum_rate=1e-3, warmup=0.1)
    rates = [rate(step, 200, way) for step in range(201)]
    assert rates[:20] == sorted(rates[:20])
    assert max(rates) == pytest.approx(1e-2)
    assert rates[20:] == sorted(rates[20:], reverse=True)
    assert rates[-1] == pytest.approx(1e-3)


def test_validation_knows_a_perfect_and_a_useless_model(shard: Shard) -> None:
    way = replace(WAY, validation=0.5)
    task = Task(shard, way)
    twins = replace(shard, pairs=tuple((number, number) for number in range(40)))
    perfect = validate(learner_of(shard, way), Task(twins, way))
    assert perfect is not None
    assert (perfect.mrr, perfect.recall) == (1.0, 1.0)
    learner = learner_of(shard, way)
    with torch.no_grad():
        learner.model.head.second_norm.weight.zero_()
        learner.model.head.second_norm.bias.fill_(1.0)
    useless = validate(learner, task)
    assert useless is not None
    assert useless.mrr < 0.1
