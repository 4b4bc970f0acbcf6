"""One index, one backend: which one is chosen, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.text import backend
from mathamr.text.backend import (
    FLOAT,
    ONNX,
    chosen_backend,
    current_backend,
    exact_encoder,
    index_backend,
    load_encoder,
    using_backend,
)
from mathamr.text.encoder import TextEncoder
from mathamr.text.folder import load_onnx_encoder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr.text.wording import Span, Wording
from tests.text.small import small_text_encoder

pytest.importorskip("onnxruntime")
WORDINGS = [Wording("let $x^2$ be prime", (Span(0, 0, 18), Span(1, 4, 9)))]
INDEX = Path("some.index")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_text_encoder(tmp_path / "text", small_text_encoder(projection=8))
    return tmp_path / "text"


def test_both_backends_load_one_folder_under_one_fingerprint(folder: Path) -> None:
    exact, ours = load_text_encoder(folder, "cpu"), load_encoder(folder, "cpu", ONNX)
    assert isinstance(ours, OnnxTextEncoder)
    assert isinstance(load_encoder(folder, "cpu", FLOAT), TextEncoder)
    assert ours.fingerprint == exact.fingerprint
    assert ours.size == exact.size == 8
    (first,), (second,) = exact.encode(WORDINGS), ours.encode(WORDINGS)
    assert (first.vectors * second.vectors).sum(1).min() > 0.995
    assert np.array_equal(next(iter(exact_encoder(ours).encode(WORDINGS))).vectors, first.vectors)
    assert exact_encoder(exact) is exact


def test_a_new_index_has_onnx_on_a_processor_unless_another_backend_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MATHAMR_TEXT", raising=False)
    assert chosen_backend("cpu") == ONNX
    monkeypatch.setattr(backend, "_is_gpu", lambda device: True)
    assert chosen_backend() == FLOAT
    monkeypatch.setenv("MATHAMR_TEXT", "onnx")
    assert chosen_backend() == ONNX
    monkeypatch.setenv("MATHAMR_TEXT", "fast")
    with pytest.raises(MathAMRError, match="must be auto, onnx or float, got 'fast'"):
        chosen_backend()


@pytest.mark.parametrize("recorded", [ONNX, FLOAT])
def test_an_index_keeps_its_backend_and_only_a_search_may_use_another(
    recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MATHAMR_TEXT", raising=False)
    other = {ONNX: FLOAT, FLOAT: ONNX}[recorded]
    for read_only in (True, False):
        assert index_backend(recorded, INDEX, read_only=read_only) == recorded
    monkeypatch.setenv("MATHAMR_TEXT", recorded)
    assert index_backend(recorded, INDEX, read_only=False) == recorded
    monkeypatch.setenv("MATHAMR_TEXT", other)
    assert index_backend(recorded, INDEX, read_only=True) == other
    with pytest.raises(MathAMRError, match=f"built with the text backend '{recorded}'.*--rebuild"):
        index_backend(recorded, INDEX, read_only=False)


def test_a_backend_that_cannot_be_used_here_is_refused(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.delenv("MATHAMR_TEXT", raising=False)
    with pytest.raises(MathAMRError, match="unknown text backend 'compiled'"):
        index_backend("compiled", INDEX, read_only=True)
    monkeypatch.setattr(backend, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"mathamr\[torch\].*MATHAMR_TEXT=onnx.*--rebuild"):
        index_backend(FLOAT, INDEX, read_only=True)
    with pytest.raises(MissingExtraError, match="pip install onnxruntime"):
        load_encoder(folder, "cpu", ONNX)


def test_what_is_loaded_inside_has_the_backend_of_its_index() -> None:
    with using_backend(FLOAT):
        assert current_backend("cpu") == FLOAT
        with using_backend(None):
            assert current_backend("cpu") == FLOAT
        with using_backend(ONNX):
            assert current_backend() == ONNX
    assert current_backend("cpu") == chosen_backend("cpu")


def test_loading_an_encoder_imports_neither_torch_nor_other_rooms(folder: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from mathamr.text.backend import load_encoder
load_encoder(Path({str(folder)!r}), "cpu", "onnx")
rooms = {{name.split(".")[1] for name in sys.modules if name.startswith("mathamr.")}}
print(*sorted(rooms), "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["core", "text", "False"]


@pytest.mark.parametrize("load", [load_onnx_encoder, load_text_encoder])
def test_damaged_and_foreign_folders_are_refused(folder: Path, load: Callable[[Path], object]) -> None:
    with pytest.raises(MathAMRError, match=r"no text encoder in .*: it has no config\.json"):
        load(folder / "none")
    weights = (folder / "weights.safetensors").read_bytes()
    (folder / "weights.safetensors").write_bytes(weights[:-1] + b"\x00")
    with pytest.raises(MathAMRError, match="damaged"):
        load(folder)
    (folder / "weights.safetensors").write_bytes(weights)
    row = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    more_layers = {**row["transformer"], "layers": 3}
    for changed, said in (
        ({**row, "transformer": more_layers}, r"layers\.2\.attention\.weight is missing|missing layers\.2"),
        ({**row, "format": 9}, "format 9"),
        ([1], "does not describe"),
    ):
        (folder / "config.json").write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(MathAMRError, match=said):
            load(folder)
