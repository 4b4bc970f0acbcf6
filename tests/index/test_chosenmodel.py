"""An index never chooses an encoder of other people; what a user names must be the encoder that it was made with."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import write_model_folder
from mathamr.core.settings import ENCODER
from mathamr.index.chosenmodel import chosen_model, recorded_model
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.manifest import Manifest, ModelRecord
from mathamr.search.searcher import Index
from mathamr.systems.encoders import system as encoders
from mathamr.systems.encoders.source import encoder_folder
from mathamr.systems.encoders.system import SentenceTransformersSystem


@pytest.fixture
def stranger(small_index: Path, tmp_path: Path) -> Path:
    """An index that brings a hostile encoder in a folder of its own and names it."""
    index = tmp_path / "stranger"
    shutil.copytree(small_index, index)
    brought = index / "encoder"
    brought.mkdir()
    (brought / "model.safetensors").touch()
    (brought / "modules.json").write_text(
        json.dumps([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.SentenceTransformer"}])
    )
    return index


def claim(index: Path, **changes: Any) -> ModelRecord:
    """Change what the index says of its model, with the right checksum."""
    manifest = Manifest.read(index)
    found = replace(manifest, model=replace(manifest.model, **changes))
    found.write(index)
    return found.model


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The encoders that were loaded, or would have been."""
    found: list[str] = []

    def load(cls: type, source: object, device: str) -> None:
        found.append(str(source))
        raise AssertionError("an encoder was loaded")

    for kind in (encoders.SentenceTransformersSystem, encoders.EmbeddingsSystem):
        monkeypatch.setattr(kind, "_load_encoder", classmethod(load))
    return found


@pytest.mark.parametrize(
    ("system", "scheme"),
    [
        ("sentence-transformers", "st:"),
        ("late-interaction", "pylate:"),
        ("embeddings", "http://localhost:9/"),
    ],
)
@pytest.mark.parametrize("how", ["name", "folder of the cache", "folder of the index", "system of ours"])
def test_no_spelling_of_a_strangers_manifest_chooses_an_encoder(
    stranger: Path, loaded: list[str], system: str, scheme: str, how: str
) -> None:
    name = scheme if system == "embeddings" else f"{scheme}{stranger / 'encoder'}"
    changes: dict[str, Any] = {"name": name, "system": system, "folder": None}
    if how == "folder of the cache":
        changes |= {"folder": str(encoder_folder(name))}
    elif how == "folder of the index":
        write_model_folder(stranger / "model", {"system": system, "name": name})
        changes |= {"folder": str(stranger / "model"), "system": "mathamrplus"}
    elif how == "system of ours":
        changes |= {"system": "mathamrplus"}
    record = claim(stranger, **changes)
    with pytest.raises(MathAMRError, match=r"only if you name it yourself: --model"):
        recorded_model(record)
    with Index.open(stranger) as index, pytest.raises(MathAMRError, match="only if you name it yourself"):
        index.search("prime numbers", strategy=next(iter(index.archive.system_type.rankings["answers"])))
    with pytest.raises(MathAMRError, match="only if you name it yourself"):
        build_index([], stranger, BuildOptions(device="cpu"))
    assert not loaded


def test_words_are_searched_without_the_encoder_of_an_index(stranger: Path, loaded: list[str]) -> None:
    claim(stranger, name=f"st:{stranger / 'encoder'}", system="sentence-transformers", folder=None)
    with Index.open(stranger) as index:
        assert index.search("prime", strategy="lexical").hits
    assert not loaded


@pytest.mark.parametrize("by", ["argument", "setting"])
def test_the_fingerprint_is_compared_before_anything_is_loaded(
    stranger: Path, tmp_path: Path, loaded: list[str], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    shutil.copytree(stranger / "encoder", own)
    if by == "setting":
        monkeypatch.setenv(ENCODER.name, f"st:{own}")
    named = f"st:{own}" if by == "argument" else None
    folder = encoder_folder(f"st:{own}")
    assert folder is not None
    fingerprint = SentenceTransformersSystem.fingerprint_of(folder)
    record = claim(
        stranger,
        name="st:anything",
        system="sentence-transformers",
        folder=None,
        fingerprint=fingerprint,
    )
    assert chosen_model(record, named) == f"st:{own}"
    (own / "config.json").write_text("{}")
    with Index.open(stranger, model=named) as index, pytest.raises(MathAMRError, match="so it is not loaded"):
        index.search("prime numbers", strategy="single")
    with pytest.raises(MathAMRError, match="so it is not loaded"):
        build_index([], stranger, BuildOptions(model=named, device="cpu"))
    assert not loaded


def test_a_named_encoder_does_not_open_an_index_of_ours(stranger: Path, loaded: list[str]) -> None:
    with (
        Index.open(stranger, model=f"st:{stranger / 'encoder'}") as index,
        pytest.raises(MathAMRError, match="so it is not loaded"),
    ):
        index.search("prime numbers")
    assert not loaded
