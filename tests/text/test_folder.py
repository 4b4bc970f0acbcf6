from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

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
