from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mathamr_lab.recipes.__main__ import main
from mathamr_lab.recipes.sidebyside import LOG
from tests.lab.recipes.quick import prepared

ONE_CORE = ["--device", "cpu", "--threads", "0"]


def test_several_trainings_run_side_by_side_and_one_that_fails_stops_no_other(
    text_files: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folders = [
        prepared(text_files, tmp_path / name, f"graph.seed={seed}", stages=("graph",))
        for seed, name in enumerate(("one", "two", "three"))
    ]
    (folders[1] / "pairs.npz").unlink()
    out = tmp_path / "models"
    assert main([*map(str, folders), "--out", str(out), *ONE_CORE, "--at-once", "2"]) == 1
    said, log = capfd.readouterr()
    rows = [json.loads(line) for line in said.splitlines()]
    assert sorted(row["training"] for row in rows) == ["one", "three"]
    assert "two: mathamr: the model is not complete" in log
    assert "1 of 3 trainings failed: two" in log
    for name in ("one", "three"):
        assert (out / name / "graph" / "weights.safetensors").exists()
        assert "training on" in (out / name / LOG).read_text()
    first, third = ((out / name / "graph" / "weights.safetensors").read_bytes() for name in ("one", "three"))
    assert first != third


def test_an_interrupt_reaches_all_of_them(text_files: Path, tmp_path: Path) -> None:
    folders = [
        prepared(
            text_files, tmp_path / name, "graph.epochs=100000", "graph.patience=100000", stages=("graph",)
        )
        for name in ("one", "two")
    ]
    command = [sys.executable, "-m", "mathamr_lab.recipes", *map(str, folders)]
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "models"), *ONE_CORE],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as process:
        assert process.stderr is not None
        begun = 0
        while begun < 2:
            begun += "training on" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=120)
    assert process.returncode == 0, log
    for name in ("one", "two"):
        assert f"{name}: stopped; the same command goes on from here" in log


def test_two_folders_of_one_name_are_refused(
    text_files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    folders = [tmp_path / "a" / "x", tmp_path / "x"]
    assert main([*map(str, folders), "--out", str(tmp_path / "out")]) == 1
    assert "the same name, 'x'" in capsys.readouterr().err
