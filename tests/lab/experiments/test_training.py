from __future__ import annotations

import fcntl
import io
import sys
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr_lab.experiments import training
from mathamr_lab.experiments.child import run_child
from mathamr_lab.experiments.training import LOG, TrainedModel, split_base, train_system
from mathamr_lab.recipes.recipe import TrainingSettings, TrainingSources
from tests.lab.synthetic import save, synthetic_shard


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.npz"
    save(synthetic_shard(30, labels=40, relations=12, formulas=1, sentences=1, formula_nodes=4), path)
    return path


def trained(shard: Path, folder: Path, epochs: int) -> dict[str, object]:
    changes = (f"graph.epochs={epochs}", "graph.batch_size=8", "graph.patience=1000000")
    settings = TrainingSettings(config="small", changes=changes)
    return train_system("mathamr-plus", TrainingSources(path=shard), settings, folder, "cpu")


def test_a_model_s_name_says_what_is_changed_and_fits_a_file_system(tmp_path: Path) -> None:
    assert TrainedModel("ssemb", "paper", ("structure.kind=both", "structure.seed=1")).name == (
        "ssemb-paper-kind=both-seed=1"
    )
    two = TrainedModel("marf", "paper", ("context.epochs=1", "fusion.epochs=2")).name
    assert two == "marf-paper-context.epochs=1-fusion.epochs=2"
    many = [f"model.base=/{'long' * 40}/{number}" for number in range(2)]
    names = {TrainedModel("marf", "paper", (each,)).name for each in many}
    assert len(names) == 2
    assert max(map(len, names)) < 200
    changes = ("all.seed=1", f"model.base={tmp_path}")
    assert split_base(changes) == (("all.seed=1",), tmp_path)
    assert split_base(("model.base=mathamr-3",)) == (("model.base=mathamr-3",), None)


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
