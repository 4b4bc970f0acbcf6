from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.text import reading
from mathamr.text.encoder import TextEncoder
from mathamr.text.files import load_text_encoder, save_text_encoder
from mathamr.text.quantised import QuantisedText
from mathamr.text.reading import exact_encoder, load_quantised, load_text_reader
from mathamr.text.wording import Span, Wording
from tests.text.small import small_text_encoder

pytest.importorskip("onnxruntime")
WORDINGS = [Wording("let $x^2$ be prime", (Span(0, 0, 18), Span(1, 4, 9)))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_text_encoder(tmp_path / "text", small_text_encoder(projection=8))
    return tmp_path / "text"


def test_both_ways_read_one_folder_under_one_fingerprint(folder: Path) -> None:
    exact, ours = load_text_encoder(folder, "cpu"), load_text_reader(folder, "cpu")
    assert isinstance(ours, QuantisedText)
    assert ours.fingerprint == exact.fingerprint
    assert ours.size == exact.size == 8
    (first,), (second,) = exact.encode(WORDINGS), ours.encode(WORDINGS)
    assert (first.vectors * second.vectors).sum(1).min() > 0.995
    assert np.array_equal(next(iter(exact_encoder(ours).encode(WORDINGS))).vectors, first.vectors)


def test_torch_reads_where_it_is_asked_to_or_alone_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MATHAMR_TEXT", "float")
    assert isinstance(load_text_reader(folder, "cpu"), TextEncoder)
    monkeypatch.setenv("MATHAMR_TEXT", "auto")
    assert isinstance(load_text_reader(folder), QuantisedText | TextEncoder)
    monkeypatch.setattr(reading, "is_available", lambda: False)
    assert isinstance(load_text_reader(folder, "cpu"), TextEncoder)
    monkeypatch.setenv("MATHAMR_TEXT", "fast")
    with pytest.raises(MathAMRError, match="auto, compiled, onnx or float, not 'fast'"):
        load_text_reader(folder)


def test_damaged_and_foreign_folders_are_refused(folder: Path) -> None:
    with pytest.raises(MathAMRError, match=r"no text encoder in .*: it has no config\.json"):
        load_quantised(folder / "none")
    weights = (folder / "weights.safetensors").read_bytes()
    (folder / "weights.safetensors").write_bytes(weights[:-1] + b"\x00")
    with pytest.raises(MathAMRError, match="damaged"):
        load_quantised(folder)
    (folder / "weights.safetensors").write_bytes(weights)
    row = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    row["transformer"]["layers"] = 3
    (folder / "config.json").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(MathAMRError, match=r"layers\.2\.attention\.weight is missing"):
        load_quantised(folder)
    row["format"] = 9
    (folder / "config.json").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(MathAMRError, match="format 9"):
        load_quantised(folder)
