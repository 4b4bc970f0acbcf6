from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
import torch

from mathamr.core.errors import MathAMRError
from mathamr.core.prioritylock import PriorityLock
from mathamr.text import onnxgraph
from mathamr.text.configuration import QUERY_WINDOWS, WINDOW, TransformerConfiguration
from mathamr.text.encoder import TextEncoder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.transformer import Transformer
from mathamr.text.wording import Span, Wording
from mathamr.text.wordpieces import WordPieces
from tests.text.small import PIECES, small_text_encoder, to_onnx

pytest.importorskip("onnxruntime")
LONG = "prime numbers " * (WINDOW * QUERY_WINDOWS)
TEXTS = ["let p. then $p^2$!", "", "x", "let p. then $p^2$!", LONG, "prime " * WINDOW, "let $x$ " * 40]


def worded(text: str) -> Wording:
    return Wording(text, (Span(3, 0, len(text)), Span(1, 0, max(1, len(text) // 2)), Span(2, 4, 9)))


@pytest.fixture(params=[True, False], ids=["signed", "unsigned"])
def signed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(onnxgraph, "multiplies_signed", lambda: request.param)
    return bool(request.param)


def outlying(buckets: int) -> TextEncoder:
    """An encoder some of whose states are far larger than the others, as those of trained ones are."""
    torch.manual_seed(1)
    shape = TransformerConfiguration(
        pieces=len(PIECES), size=32, layers=2, heads=4, inner=64, positions=256, projection=8, buckets=buckets
    )
    model = Transformer(shape)
    with torch.no_grad():
        for layer in model.layers:
            layer.attention_norm.weight[5] = 12
            layer.outer_norm.bias[7] = 9
        if model.relative is not None:
            model.relative.table.weight.mul_(3)
    return TextEncoder(model, WordPieces(PIECES), fingerprint="outlying")


@pytest.mark.parametrize("buckets", [0, 8])
def test_vectors_are_those_of_torch_up_to_rounding(buckets: int, signed: bool) -> None:
    exact = outlying(buckets)
    found = list(to_onnx(exact).encode(map(worded, TEXTS)))
    expected = list(exact.encode(map(worded, TEXTS)))
    assert len(found) == len(TEXTS)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.of.tolist() == theirs.of.tolist()
        assert ours.vectors.shape == theirs.vectors.shape
        np.testing.assert_allclose(np.linalg.norm(ours.vectors, axis=1), 1, atol=1e-5)
    cosines = np.concatenate([(a.vectors * b.vectors).sum(1) for a, b in zip(found, expected, strict=True)])
    assert cosines.min() > 0.995


def test_a_piece_with_large_states_does_not_coarsen_its_neighbours() -> None:
    """Rounded relative to the largest number of the window, they would have cosines of .995 only."""
    torch.manual_seed(2)
    shape = TransformerConfiguration(
        pieces=len(PIECES), size=32, layers=1, heads=4, inner=64, positions=256, projection=8
    )
    model = Transformer(shape)
    (layer,), loud, text = model.layers, PIECES.index("prime"), "let x! prime let x!"
    with torch.no_grad():
        # One number of one piece is large where the feed-forward network begins; that network says nearly everything,
        # and listens to all numbers but this one.
        model.pieces.weight[:, 5] = model.positions.weight[:, 5] = 0
        model.pieces.weight[loud, 5] = 20
        layer.attention_norm.weight[5] = 30
        layer.inner.weight[:, 5] = 0
        layer.outer.weight.mul_(50)
        layer.outer_norm.weight[5] = 0
    exact = TextEncoder(model, WordPieces(PIECES), fingerprint="loud")
    spans = tuple(Span(number, place, place + 3) for number, place in enumerate((0, 13)))
    (ours,) = to_onnx(exact).encode([Wording(text, spans)])
    (theirs,) = exact.encode([Wording(text, spans)])
    assert (ours.vectors * theirs.vectors).sum(1).min() > 0.999


def test_other_posts_never_change_a_post() -> None:
    encoder = to_onnx(small_text_encoder(projection=8))
    together = list(encoder.encode(map(worded, TEXTS)))
    for text, ours in zip(TEXTS, together, strict=True):
        (alone,) = encoder.encode([worded(text)])
        assert np.array_equal(alone.vectors, ours.vectors)


def test_a_window_that_repeats_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = to_onnx(small_text_encoder())
    read: list[bytes] = []
    states = OnnxTextEncoder._states

    def counted(self: OnnxTextEncoder, window: np.ndarray, *rest: Any) -> Any:
        read.append(window.tobytes())
        return states(self, window, *rest)

    monkeypatch.setattr(OnnxTextEncoder, "_states", counted)
    first, second = encoder.encode([worded("let p!"), worded("let p!")])
    assert len(read) == 1
    assert np.array_equal(first.vectors, second.vectors)


def test_a_query_is_read_before_the_next_window_of_a_long_post(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, lock, order = to_onnx(small_text_encoder()), PriorityLock(patience=600), list[str]()
    states = OnnxTextEncoder._states
    queries: list[threading.Thread] = []

    def query() -> None:
        with lock:
            list(encoder.encode([worded("let p!")]))

    def recorded(self: OnnxTextEncoder, window: np.ndarray, *rest: Any) -> Any:
        order.append("post" if len(window) == WINDOW else "query")
        if not queries:
            queries.append(threading.Thread(target=query, daemon=True))
            queries[0].start()
            while not lock._waiting:
                time.sleep(0.001)
        return states(self, window, *rest)

    monkeypatch.setattr(OnnxTextEncoder, "_states", recorded)
    with lock.yielding():
        list(encoder.encode([worded("prime numbers let " * (WINDOW * 2))]))
    queries[0].join(60)
    assert order[:3] == ["post", "query", "post"]


def fitting(loud: float = 1.0) -> OnnxTextEncoder:
    """An encoder with weights so many times as large."""
    torch.manual_seed(3)
    shape = TransformerConfiguration(
        pieces=len(PIECES), size=48, layers=2, heads=6, inner=96, positions=256, projection=16
    )
    encoder = to_onnx(TextEncoder(Transformer(shape), WordPieces(PIECES), fingerprint="fitting"))
    weights = {
        name: numbers * np.float32(loud if name.endswith(".scale") and "layers" in name else 1)
        if numbers.dtype == np.float32
        else numbers
        for name, numbers in encoder._weights.items()
    }
    return OnnxTextEncoder(shape, weights, encoder.pieces)


@pytest.mark.parametrize("loud", [1.0, 1e3, 1e7])
def test_the_encoder_reads_every_text_alike_whatever_was_read_before(loud: float) -> None:
    encoder = fitting(loud)
    texts = [*TEXTS, "x" * 10_000, "1" * 10_000]
    together = list(encoder.encode(map(worded, texts)))
    backwards = list(encoder.encode(map(worded, texts[::-1])))[::-1]
    alone = [next(fitting(loud).encode([worded(text)])) for text in texts]
    for first, second, third in zip(together, backwards, alone, strict=True):
        assert np.isfinite(first.vectors).all()
        assert np.array_equal(first.vectors, second.vectors)
        assert np.array_equal(first.vectors, third.vectors)


def test_weights_of_another_shape_or_kind_are_refused() -> None:
    encoder = to_onnx(small_text_encoder())
    weights = dict(encoder._weights)

    def refused(match: str, **changed: np.ndarray) -> None:
        with pytest.raises(MathAMRError, match=match):
            OnnxTextEncoder(encoder.configuration, weights | changed, encoder.pieces)

    refused("norm.bias has shape", **{"norm.bias": np.zeros(3, np.float32)})
    refused("not finite", **{"norm.bias": np.full(16, np.nan, np.float32)})
    refused("not finite", **{"pieces.weight.scale": np.full(len(PIECES), np.inf, np.float32)})
    refused("eight bits", **{"layers.0.inner.weight": np.zeros((32, 16), np.float32)})
    del weights["layers.1.outer.bias"]
    refused(r"layers\.1\.outer\.bias is missing")
