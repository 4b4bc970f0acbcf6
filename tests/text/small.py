"""A tiny text encoder with random weights, quick enough for every test."""

from __future__ import annotations

import string

import torch

from mathamr.text.encoder import TextEncoder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.torchfolder import quantised
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase),
    *string.digits,
    *(f"##{digit}" for digit in string.digits),
    *"$^_+-=<>{}()\\.,!?",
    "let",
    "then",
    "prime",
    "number",
    "##s",
][:-1]


def small_text_encoder(projection: int = 0, seed: int = 0) -> TextEncoder:
    torch.manual_seed(seed)
    shape = TransformerConfiguration(
        pieces=len(PIECES), size=16, layers=2, heads=2, inner=32, positions=256, projection=projection
    )
    return TextEncoder(Transformer(shape), WordPieces(PIECES), fingerprint=f"small-{seed}")


def to_onnx(encoder: TextEncoder) -> OnnxTextEncoder:
    """The encoder in eight bits for ONNX Runtime."""
    weights = {name: tensor.numpy() for name, tensor in quantised(encoder.model.state_dict()).items()}
    return OnnxTextEncoder(
        encoder.model.configuration, weights, encoder.pieces, fingerprint=encoder.fingerprint
    )
