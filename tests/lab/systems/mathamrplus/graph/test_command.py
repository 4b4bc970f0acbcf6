from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors import safe_open

from mathamr.core.errors import MathAMRError
from mathamr.graphs.shard import Shard
from mathamr_lab.recipes.__main__ import main
from mathamr_lab.systems.mathamrplus.graph.configuration import (
    TRAININGS,
    GraphTraining,
    configured,
)
from tests.lab.synthetic import save

QUICK = [
    "--config",
    "small",
    "--device",
    "cpu",
    "--set",
    "epochs=1",
    "--set",
    "batch_size=8",
    "--threads",
    "1",
]


@pytest.fixture
def shard_file(shard: Shard, tmp_path: Path) -> Path:
    save(shard, tmp_path / "pairs.npz")
    return tmp_path / "pairs.npz"


def test_a_shard_is_trained_from_its_file(
    shard_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(shard_file), "--out", str(tmp_path / "model"), *QUICK]) == 0
    out, log = capsys.readouterr()
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert row["epoch"] == 1
    assert "training on 36 pairs" in log
    assert (tmp_path / "model" / "config.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--config", "gigantic"],
            "unknown model configuration 'gigantic'; known: thesis, thesis-full, small, box",
        ),
        (["--set", "wings=2"], "unknown configuration field 'wings'"),
        (["--set", "beta"], "expected NAME=VALUE"),
        (["--set", "beta=2"], "beta must be from 0 to 1"),
        (["--set", "epochs=few"], "epochs is 'few': expected int"),
        (["--device", "abacus"], "unknown device"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(
    shard_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([str(shard_file), "--out", str(tmp_path / "model"), *QUICK, *arguments]) == 1
    assert message in capsys.readouterr().err


def test_the_named_configurations_are_those_of_the_tables() -> None:
    assert TRAININGS["thesis"] == GraphTraining()
    training = TRAININGS["thesis-full"]
    assert (training.batch_size, training.learning_rate, training.minimum_rate, training.beta) == (
        16,
        5e-4,
        1e-5,
        0.3,
    )
    model, training = configured("thesis-full", ["seed=4", "layers=2"])
    assert (model.bases, model.layers, training.seed) == (256, 2, 4)
    assert GraphTraining.from_json(training.to_json()) == training
    with pytest.raises(MathAMRError, match="unknown precision"):
        configured("thesis", ["precision=double"])


def test_an_interrupt_finishes_the_step_and_saves_it(shard_file: Path, tmp_path: Path) -> None:
    arguments = [str(shard_file), "--out", str(tmp_path / "model"), *QUICK, "--set", "epochs=100000"]
    with subprocess.Popen(
        [sys.executable, "-m", "mathamr_lab.recipes", *arguments, "--set", "patience=100000"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stderr is not None
        assert "training on" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=600)
    assert process.returncode == 0, log
    assert "stopped; the same command goes on from here" in log
    with safe_open(tmp_path / "model" / "checkpoint.safetensors", "np") as file:
        progress = json.loads(file.metadata()["progress"])
    assert progress["epoch"] * 5 + progress["step"] >= 1
    assert not progress["done"]
