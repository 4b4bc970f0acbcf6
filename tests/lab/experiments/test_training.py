from __future__ import annotations

import fcntl
import threading
import time
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr_lab.experiments.child import stop_children
from mathamr_lab.experiments.training import LOG, train_model
from tests.lab.synthetic import save, synthetic_shard


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.npz"
    save(synthetic_shard(30, labels=40, relations=12, formulas=1, sentences=1, formula_nodes=4), path)
    return path


def trained(shard: Path, folder: Path, epochs: int) -> dict[str, object]:
    return train_model(
        shard, folder, "small", [f"epochs={epochs}", "batch_size=8", "patience=1000000"], "cpu", 1
    )


def test_a_model_comes_with_its_curve_and_costs(shard: Path, tmp_path: Path) -> None:
    figures = trained(shard, tmp_path, 2)
    encoder = GraphEncoder.load(tmp_path, "cpu")
    assert figures["output"] == encoder.fingerprint
    assert figures["epochs"] == 2
    assert isinstance(figures["parameters"], int)
    assert figures["parameters"] > 1000
    assert isinstance(figures["history"], list)
    assert [row["step"] for row in figures["history"]] == [4, 8]
    assert not (tmp_path / "checkpoint.safetensors").exists()


def test_a_stopped_training_goes_on_and_another_configuration_starts_afresh(
    shard: Path, tmp_path: Path
) -> None:
    for attempt, epochs in enumerate((100_000, 100_000, 99_999)):
        _stop_when_it_learns(shard, tmp_path, epochs)
        said = (tmp_path / LOG).read_text()
        assert ("going on from" in said) == (attempt == 1)


def _stop_when_it_learns(shard: Path, folder: Path, epochs: int) -> None:
    caught: list[MathAMRError] = []

    def train() -> None:
        try:
            trained(shard, folder, epochs)
        except MathAMRError as error:
            caught.append(error)

    (folder / LOG).unlink(missing_ok=True)
    thread = threading.Thread(target=train)
    thread.start()
    while thread.is_alive() and ", validation" not in _text(folder / LOG):
        time.sleep(0.02)
    stop_children()
    thread.join()
    assert "run the same command to continue" in str(caught[0])


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_a_folder_in_which_another_process_trains_is_left_alone(shard: Path, tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(MathAMRError, match="another process still works"):
            trained(shard, tmp_path, 1)


def test_a_training_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match=r"failed \(exit code 1\): mathamr: .*not a shard of graphs"):
        trained(tmp_path / "nothing.npz", tmp_path / "model", 1)
