from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.text.torchfolder import load_text_encoder
from mathamr_lab.recipes.prepared import prepare, train_prepared
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from mathamr_lab.systems.mathamr.judgedlines import JudgedLines, split_by_grade
from mathamr_lab.systems.mathamr.trainer import LineTrainer, LineTraining, spearman
from mathamr_lab.training.lowrank import add_changes
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
SMALL = {"batch_size": 4, "epochs": 2, "validation": 0.2}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_base(tmp_path_factory.mktemp("lines") / "base")


@pytest.mark.parametrize("objective", ["contrast", "ranking"])
def test_the_trainer_keeps_to_the_contract(
    objective: str, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> LineTrainer:
        encoder = load_text_encoder(base, "cpu")
        torch.manual_seed(3)
        add_changes(encoder.model, 2)
        judged = JudgedLines.of_rows(ROWS, encoder.pieces, 16)
        way = LineTraining(objective=objective, batch_size=2, epochs=2, validation=0.2)
        return LineTrainer(encoder, judged, way, torch.device("cpu"))

    check_trainer(made, tmp_path, monkeypatch)


def test_ranking_takes_relevant_pairs_and_ignores_those_of_the_same_topic(base: Path) -> None:
    encoder = load_text_encoder(base, "cpu")
    add_changes(encoder.model, 2)
    rows = [*ROWS, {"topic": "T0", "query": "ab a", "candidate": "mn b", "grade": 2}]
    judged = JudgedLines.of_rows(rows, encoder.pieces, 16)
    trainer = LineTrainer(
        encoder, judged, LineTraining(objective="ranking", validation=0.0), torch.device("cpu")
    )
    assert len(trainer.judged) == 7
    assert set(trainer.judged.grades.tolist()) == {2, 3}
    step = trainer.step(np.arange(7), 0)
    same = trainer.judged.topics[:, None] == trainer.judged.topics[None]
    np.fill_diagonal(same, False)
    assert step.ignored.numpy().tolist() == same.tolist()
    assert same.any()


def test_grades_are_scores_as_the_seed_has_them_and_are_split_alike(base: Path, tmp_path: Path) -> None:
    judged = JudgedLines.of_rows(
        [{"topic": "T", "query": "a", "candidate": f"{grade}", "grade": grade} for grade in range(4)],
        load_text_encoder(base, "cpu").pieces,
        8,
    )
    assert judged.scores.tolist() == [0.0, 0.5, 1.0, 1.0]
    grades = [0] * 40 + [1] * 20 + [2] * 10 + [3] * 30
    train, held = split_by_grade(grades, 0.1, seed=4)
    assert [grades[place] for place in held] == [0] * 4 + [1] * 2 + [2] + [3] * 3
    assert not set(train) & set(held)
    judged.save(tmp_path / "judged.npz")
    again = JudgedLines.load(tmp_path / "judged.npz")
    assert again.grades.tolist() == [0, 1, 2, 3]
    assert [line.numbers.tolist() for line in again.lines] == [line.numbers.tolist() for line in judged.lines]
    with pytest.raises(MathAMRError, match="judgment 1"):
        JudgedLines.of_rows([{"topic": "T"}], load_text_encoder(base, "cpu").pieces, 8)


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
