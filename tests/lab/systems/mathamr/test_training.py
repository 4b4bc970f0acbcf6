from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.mathamr.judgedlines import (
    SCORES,
    pairs_of,
    read_pairs,
    split_by_grade,
    write_pairs,
)
from mathamr_lab.systems.mathamr.trainer import LineTrainer, LineTraining, spearman
from mathamr_lab.systems.stateencoder import StateEncoder, plain_line
from mathamr_lab.training.plain import LEARNED, use_learned
from mathamr_lab.training.resources import Resources
from tests.lab.training.contract import check_trainer
from tests.systems.tinytext import tiny_base

WORDS = ("ab", "cd", "ef", "gh", "ij", "kl", "mn", "op")
ROWS = [
    {
        "topic": f"T{topic}",
        "query": f"{WORDS[topic]} a",
        "candidate": f"{WORDS[other]} b",
        "grade": 3 if topic == other else other % 2,
    }
    for topic in range(6)
    for other in range(6)
]
CPU = torch.device("cpu")
SMALL = {"batch_size": 4, "epochs": 2, "validation": 0.2}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("lines") / "base")


def encoder(base: Path) -> StateEncoder:
    torch.manual_seed(3)
    return StateEncoder(load_text_encoder(base, "cpu"), str(base), tuning="low-rank", rank=2)


@pytest.mark.parametrize("objective", ["contrast", "ranking"])
@pytest.mark.parametrize("monitor", ["spearman", "loss"])
def test_the_trainer_keeps_to_the_contract(
    objective: str, monitor: str, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = LineTraining(
        objective=objective, batch_size=2, epochs=2, validation=0.2, length=18, monitor=monitor
    )
    check_trainer(lambda: LineTrainer(encoder(base), pairs_of(ROWS), way, CPU), tmp_path, monkeypatch)


def test_ranking_takes_relevant_pairs_and_ignores_those_of_the_same_topic_if_asked(base: Path) -> None:
    rows = [*ROWS, {"topic": "T0", "query": "ab a", "candidate": "mn b", "grade": 2}]
    way = LineTraining(objective="ranking", validation=0.0)
    trainer = LineTrainer(encoder(base), pairs_of(rows), way, CPU)
    assert len(trainer.judged) == 7
    assert {pair.grade for pair in trainer.judged} == {2, 3}
    step = trainer.step(np.arange(7), 0)
    topics = np.array([pair.topic for pair in trainer.judged])
    same = topics[:, None] == topics[None]
    np.fill_diagonal(same, False)
    assert step.ignored.numpy().tolist() == same.tolist()
    assert same.any()
    as_published = LineTrainer(encoder(base), pairs_of(rows), replace(way, masked=False), CPU)
    assert not as_published.step(np.arange(7), 0).ignored.any()


def test_grades_are_scores_as_the_seed_has_them_and_are_split_alike(tmp_path: Path) -> None:
    judged = pairs_of(
        {"topic": "T", "query": "a", "candidate": f"{grade}", "grade": grade} for grade in range(4)
    )
    assert [SCORES[pair.grade] for pair in judged] == [0.0, 0.5, 1.0, 1.0]
    grades = [0] * 40 + [1] * 20 + [2] * 10 + [3] * 30
    train, held = split_by_grade(grades, 0.1, seed=4)
    assert [grades[place] for place in held] == [0] * 4 + [1] * 2 + [2] + [3] * 3
    assert not set(train) & set(held)
    write_pairs(judged, tmp_path / "judged.jsonl")
    assert read_pairs(tmp_path / "judged.jsonl") == judged
    with pytest.raises(MathAMRError, match="judgment 1"):
        pairs_of([{"topic": "T"}])


@torch.no_grad()
def means(trained: StateEncoder, lines: list[str], length: int) -> np.ndarray:
    """The vectors of lines, one at a time."""
    trained.eval()
    rows = [torch.from_numpy(row)[None].long() for row in trained.numbers(lines, length)]
    lengths = [torch.tensor([row.shape[1]]) for row in rows]
    made = [trained.vectors(trained(*each), each[1]) for each in zip(rows, lengths, strict=True)]
    return torch.cat(made).numpy()


def test_a_trained_encoder_reads_a_line_as_the_product_does(base: Path) -> None:
    lines = ["ab cd 𝑥 e", "", "a " * 100]
    ours = means(encoder(base), [plain_line(line) for line in lines], 18)
    product = SentenceEncoder(load_text_encoder(base, "cpu"), 16).encode(lines)
    np.testing.assert_allclose(ours, product, atol=1e-5)


def test_the_paper_is_trained_fully_and_stored_in_eight_bits(base: Path, tmp_path: Path) -> None:
    lines = tmp_path / "judged.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    changes = tuple(f"{stage}.epochs=2" for stage in ("contrast", "ranking"))
    settings = TrainingSettings(
        config="paper", changes=(*changes, "contrast.learning_rate=0.001", "model.rank=16")
    )
    sources = TrainingSources(path=lines, base=base)
    prepare("mathamr", sources, settings, tmp_path / "prepared", say=lambda line: None)
    list(train_prepared(tmp_path / "prepared", tmp_path / "out", Resources(device=CPU, threads=0)))
    system = MathAMRSystem.load(tmp_path / "out" / "model", "cpu")
    assert (system.name, system.configuration.context, system.fields[0].size) == (
        "mathamr-paper",
        "amr-opt",
        16,
    )
    trained = StateEncoder(load_text_encoder(base, "cpu"), str(base), projected=False)
    before = means(trained, [row["query"] for row in ROWS], 128)
    use_learned(trained, tmp_path / "out" / "ranking" / LEARNED)
    wanted = means(trained, [row["query"] for row in ROWS], 128)
    found = system.encoder.encode([row["query"] for row in ROWS])
    assert float((wanted * found).sum(1).min()) > 0.995
    assert float((wanted * before).sum(1).min()) < 0.999
    card = (tmp_path / "out" / "contrast" / "README.md").read_text(encoding="utf-8")
    assert "Spearman" in card


def test_spearman_is_that_of_ranks_with_ties() -> None:
    assert spearman([1, 2, 2, 4], [1, 3, 3, 9]) == 1.0
    assert spearman([1, 2, 3], [3, 2, 1]) == -1.0
    assert spearman([1, 1, 1], [1, 2, 3]) == 0.0


def test_the_recipe_goes_from_judged_lines_to_a_model_folder(base: Path, tmp_path: Path) -> None:
    lines = tmp_path / "judged.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    changes = tuple(
        f"{stage}.{name}={value}" for stage in ("contrast", "ranking") for name, value in SMALL.items()
    )
    settings = TrainingSettings(config="amr-opt", changes=(*changes, "model.rank=2"))
    prepare(
        "mathamr",
        TrainingSources(path=lines, base=base),
        settings,
        tmp_path / "prepared",
        say=lambda line: None,
    )
    resources = Resources(device=torch.device("cpu"), threads=0)
    reported = list(train_prepared(tmp_path / "prepared", tmp_path / "out", resources))
    assert [row["stage"] for row in reported] == ["contrast"] * 2 + ["ranking"] * 2 + ["join"]
    system = MathAMRSystem.load(tmp_path / "out" / "model", "cpu")
    plain = load_text_encoder(base, "cpu")
    assert system.configuration.rank == 2
    reported = json.loads((tmp_path / "out" / "model" / "config.json").read_text(encoding="utf-8"))
    assert reported["training"] == {"judgments": 36, "topics": 6}
    before = plain.model.get_parameter("layers.0.attention.weight")
    assert not torch.equal(system.encoder.encoder.model.get_parameter("layers.0.attention.weight"), before)
