from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.text.torchfolder import load_text_encoder, quantised, restored, save_text_encoder
from mathamr.text.wording import Span, Wording
from tests.text.small import small_text_encoder


def test_a_saved_encoder_gives_nearly_the_same_vectors(tmp_path: Path) -> None:
    encoder = small_text_encoder(projection=8)
    save_text_encoder(tmp_path / "text", encoder)
    loaded = load_text_encoder(tmp_path / "text", "cpu")
    wordings = [Wording("let $x^2$ be prime", (Span(0, 0, 18), Span(1, 4, 9)))]
    (ours,), (theirs,) = encoder.encode(wordings), loaded.encode(wordings)
    assert loaded.size == 8
    assert loaded.fingerprint == load_text_encoder(tmp_path / "text", "cpu").fingerprint
    assert (ours.vectors * theirs.vectors).sum(1).min() > 0.999
    assert not np.array_equal(ours.vectors, theirs.vectors)


def test_eight_bits_are_off_by_half_a_step_at_most() -> None:
    torch.manual_seed(5)
    weights = {"a": torch.randn(7, 11), "b": torch.randn(11), "zero": torch.zeros(2, 3)}
    back = restored(quantised(weights))
    step = weights["a"].abs().amax(1, keepdim=True) / 127
    assert bool(((back["a"] - weights["a"]).abs() <= step / 2 + 1e-7).all())
    assert torch.equal(back["b"], weights["b"])
    assert torch.equal(back["zero"], weights["zero"])


def test_damaged_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "text"
    with pytest.raises(MathAMRError, match=r"no text encoder in .*: it has no config\.json"):
        load_text_encoder(folder, "cpu")
    save_text_encoder(folder, small_text_encoder())
    config = (folder / "config.json").read_text(encoding="utf-8")
    weights = (folder / "weights.safetensors").read_bytes()
    (folder / "weights.safetensors").write_bytes(weights[:-1] + b"\x00")
    with pytest.raises(MathAMRError, match="damaged"):
        load_text_encoder(folder, "cpu")
    (folder / "weights.safetensors").write_bytes(weights)
    row = json.loads(config)
    row["transformer"]["layers"] = 3
    (folder / "config.json").write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(MathAMRError, match="another model"):
        load_text_encoder(folder, "cpu")
    (folder / "config.json").write_text(config.replace('"format": 1', '"format": 9'), encoding="utf-8")
    with pytest.raises(MathAMRError, match="format 9"):
        load_text_encoder(folder, "cpu")
    (folder / "config.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(MathAMRError, match="does not describe"):
        load_text_encoder(folder, "cpu")
