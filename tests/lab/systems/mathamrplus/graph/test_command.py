from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors import safe_open

from mathamr.graphs.shard import Shard
from mathamr_lab.recipes.__main__ import main
from mathamr_lab.recipes.prepared import prepare
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from tests.lab.synthetic import save


@pytest.fixture
def prepared(shard: Shard, tmp_path: Path) -> Path:
    save(shard, tmp_path / "pairs.npz")
    changes = ("graph.batch_size=8", "graph.epochs=100000", "graph.patience=100000")
    settings = TrainingSettings(config="small", changes=changes)
    prepare("mathamrplus", TrainingSources(path=tmp_path / "pairs.npz"), settings, tmp_path / "prepared")
    return tmp_path / "prepared"


def test_an_interrupt_finishes_the_step_and_saves_it(prepared: Path, tmp_path: Path) -> None:
    arguments = [str(prepared), "--out", str(tmp_path / "out"), "--device", "cpu", "--threads", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "mathamr_lab.recipes", *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stderr is not None
        assert "graph:" in process.stderr.readline()
        assert "training on 36 pairs" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=600)
    assert process.returncode == 0, log
    assert "stopped; the same command goes on from here" in log
    with safe_open(tmp_path / "out" / "graph" / "checkpoint.safetensors", "np") as file:
        progress = json.loads(file.metadata()["progress"])
    assert progress["epoch"] * 5 + progress["step"] >= 1
    assert not progress["done"]
    assert not (tmp_path / "out" / "model").exists()


def test_an_unknown_device_is_one_clear_line(prepared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(prepared), "--out", str(prepared / "out"), "--device", "abacus"]) == 1
    assert "unknown device" in capsys.readouterr().err
