from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import file_hash
from mathamr.graphs.shard import Shard
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.graphfolder import read_graph_folder
from tests.systems.mathamrplus.test_graphencoder import encoder_of


@pytest.fixture
def folder(shard: Shard, tmp_path: Path) -> Path:
    encoder_of(shard).save(tmp_path / "model")
    return tmp_path / "model"


def change_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    row = json.loads(path.read_text())
    row.update(changes)
    path.write_text(json.dumps(row))


def change_weights(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    path = folder / "weights.safetensors"
    save_file(tensors, path)
    hashes = json.loads((folder / "config.json").read_text())["sha256"]
    change_config(folder, sha256=hashes | {"weights.safetensors": file_hash(path)})


@pytest.mark.parametrize("name", ["weights.safetensors", "vocabulary.txt", "relations.txt"])
def test_a_damaged_file_is_refused_by_its_hash(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[-5] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(
        MathAMRError, match=rf"{name} is damaged, or not the file that belongs to config.json"
    ):
        GraphEncoder.load(folder, "cpu")


def test_a_pickle_is_never_loaded(folder: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, ("raise SystemExit('a pickle ran')",))

    path = folder / "weights.safetensors"
    path.write_bytes(pickle.dumps(Trap()))
    hashes = json.loads((folder / "config.json").read_text())["sha256"]
    change_config(folder, sha256=hashes | {"weights.safetensors": file_hash(path)})
    with pytest.raises(MathAMRError, match="not a safetensors file"):
        GraphEncoder.load(folder, "cpu")


def test_weights_of_another_shape_or_another_model_are_refused(folder: Path) -> None:
    weights = load_file(folder / "weights.safetensors")
    change_config(folder, model={"hidden": 32, "projection": 16, "layers": 2, "bases": 4})
    with pytest.raises(MathAMRError, match=r"has shape .* the configuration requires"):
        GraphEncoder.load(folder, "cpu")
    change_config(folder, model={"hidden": 16, "projection": 16, "layers": 3, "bases": 4})
    with pytest.raises(MathAMRError, match=r"missing layers.2"):
        GraphEncoder.load(folder, "cpu")
    change_config(folder, model={"hidden": 16, "projection": 16, "layers": 2, "bases": 4})
    change_weights(folder, weights | {"wings": torch.zeros(2)})
    with pytest.raises(MathAMRError, match="not known here wings"):
        GraphEncoder.load(folder, "cpu")


def test_weights_that_are_no_numbers_are_refused(folder: Path) -> None:
    weights = load_file(folder / "weights.safetensors")
    weights["embedding.weight"][3, 2] = torch.nan
    change_weights(folder, weights)
    with pytest.raises(MathAMRError, match="not finite"):
        GraphEncoder.load(folder, "cpu")


def test_a_configuration_cannot_ask_for_more_memory_than_the_weights_have(folder: Path) -> None:
    change_config(folder, model={"hidden": 10_000, "projection": 10_000, "layers": 1000, "bases": 10_000})
    with pytest.raises(MathAMRError, match="weights of another model"):
        GraphEncoder.load(folder, "cpu")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "does not describe a model"),
        ("[]", "does not describe a model"),
        ("{" * 5000, "does not describe a model"),
        ('{"format": 99}', "has format 99"),
        ('{"format": 1, "encoder": "mathamrplus"}', "does not describe a model"),
    ],
)
def test_a_foreign_configuration_is_refused(folder: Path, content: str, message: str) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(MathAMRError, match=message):
        read_graph_folder(folder)


def test_missing_files_and_unknown_encoders_are_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="no model in"):
        GraphEncoder.load(tmp_path / "nothing")
    change_config(folder, encoder="oracle")
    with pytest.raises(MathAMRError, match=r"of the encoder .oracle., not .mathamrplus."):
        GraphEncoder.load(folder)
    change_config(folder, encoder="mathamrplus")
    (folder / "relations.txt").unlink()
    with pytest.raises(MathAMRError, match=r"not complete: cannot read .*relations.txt"):
        GraphEncoder.load(folder)
