from __future__ import annotations

import json
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.systems.encoders.source import EncoderSource, encoder_folder
from mathamr.systems.models import load_system, model_folder, system_of
from tests.systems.encoders.examples import embeddings_server


@pytest.mark.parametrize("name", ["mathamr-3", "st:", "ftp://host", "C:/models", "./st", "notes"])
def test_names_without_a_known_scheme_are_not_encoders(name: str) -> None:
    assert EncoderSource.parse(name) is None
    assert encoder_folder(name) is None


@pytest.mark.parametrize(
    "address", ["http://", "http:localhost", "http://user:secret@localhost/v1", "https:///v1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(MathAMRError, match="is not the address of a server"):
        model_folder(address)


def test_an_encoder_has_a_model_folder_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "encoder").mkdir()
    folder = model_folder(f"st:{tmp_path / 'encoder'}")
    assert json.loads((folder / "config.json").read_text())["name"] == f"st:{tmp_path / 'encoder'}"
    assert system_of(folder).kind == "sentence-transformers"
    assert folder == model_folder(f"st:{tmp_path / 'encoder'}")


def test_nothing_is_downloaded_unless_the_user_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked = []

    def snapshot(name: str, *, local_files_only: bool) -> str:
        asked.append(local_files_only)
        raise hub.errors.LocalEntryNotFoundError("not here")

    monkeypatch.setattr(hub, "snapshot_download", snapshot)
    with pytest.raises(MathAMRError, match="--download"):
        load_system("st:someone/some-model", "cpu")
    assert asked == [True]


def test_a_server_is_another_encoder_for_another_model() -> None:
    with embeddings_server() as server:
        one, other = (load_system(f"{server.address}#{name}", "cpu") for name in ("one", "other"))
    assert one.fingerprint != other.fingerprint


def test_the_vocabulary_of_an_old_encoder_is_part_of_its_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("one")
    before = EncoderSource("st", str(tmp_path)).fingerprint()
    (tmp_path / "vocab.txt").write_text("two")
    assert EncoderSource("st", str(tmp_path)).fingerprint() != before


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("embeddings", "http://localhost:9/"),
        ("sentence-transformers", "st:x"),
        ("late-interaction", "pylate:x"),
    ],
)
def test_a_model_folder_does_not_choose_an_encoder_of_others(tmp_path: Path, system: str, name: str) -> None:
    row = {"format": 1, "system": system, "name": name}
    (tmp_path / "config.json").write_text(json.dumps(row))
    with pytest.raises(MathAMRError, match=r"which only you can choose.*name it yourself"):
        load_system(tmp_path, "cpu")
    with pytest.raises(MathAMRError, match="which only you can choose"):
        system_of(tmp_path).fingerprint_of(tmp_path)
