from __future__ import annotations

import fcntl
import io
import sys
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr_lab.experiments import training
from mathamr_lab.experiments.child import run_child
from mathamr_lab.experiments.training import LOG, train_graphs
from mathamr_lab.recipes.recipe import MODEL, TrainingSettings
from tests.lab.synthetic import save, synthetic_shard


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.npz"
    save(synthetic_shard(30, labels=40, relations=12, formulas=1, sentences=1, formula_nodes=4), path)
    return path


def trained(shard: Path, folder: Path, epochs: int) -> dict[str, object]:
    changes = (f"graph.epochs={epochs}", "graph.batch_size=8", "graph.patience=1000000")
    return train_graphs(shard, TrainingSettings(config="small", changes=changes), folder, "cpu")


def test_a_model_comes_with_its_curve_and_costs(shard: Path, tmp_path: Path) -> None:
    figures = trained(shard, tmp_path, 2)
    encoder = GraphEncoder.load(tmp_path / MODEL, "cpu")
    assert figures["output"] == encoder.fingerprint
    assert figures["epochs"] == 2
    assert isinstance(figures["parameters"], int)
    assert figures["parameters"] > 1000
    assert isinstance(figures["history"], list)
    assert [row["step"] for row in figures["history"]] == [4, 8]


class InterruptedWhenItLearns(io.StringIO):
    """A stream that a user interrupts at the first validation."""

    def write(self, text: str) -> int:
        if ", validation" in text:
            raise KeyboardInterrupt
        return len(text)


def test_a_stopped_training_goes_on_and_another_configuration_starts_afresh(
    shard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", InterruptedWhenItLearns())
    for attempt, epochs in enumerate((100_000, 100_000, 99_999)):
        with pytest.raises(KeyboardInterrupt):
            trained(shard, tmp_path, epochs)
        assert ("going on from" in (tmp_path / LOG).read_text()) == (attempt == 1)
    monkeypatch.setattr(training, "run_child", lambda *_: None)
    with pytest.raises(MathAMRError, match="run the same command to continue"):
        trained(shard, tmp_path, 99_999)


def test_a_folder_in_which_another_process_trains_is_left_alone(shard: Path, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(MathAMRError, match="another process still works"):
            trained(shard, tmp_path, 1)


def test_a_training_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "nothing.npz").write_bytes(b"")
    with pytest.raises(MathAMRError, match="not a shard of graphs"):
        trained(tmp_path / "nothing.npz", tmp_path / "model", 1)
    command = [sys.executable, "-m", "mathamr_lab.recipes", str(tmp_path), "--out", str(tmp_path)]
    with pytest.raises(MathAMRError, match=r"failed \(exit code 1\): mathamr: .*no prepared training"):
        run_child("training", command, tmp_path, LOG)
