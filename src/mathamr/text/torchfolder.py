"""Writes and reads the folder of a text encoder (`folder`) with torch: for the backend `float`, and for training."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from mathamr.core.integrity import checked_file
from mathamr.core.modelfolder import WEIGHTS, write_model_folder
from mathamr.core.tensorfile import read_tensors, tensor_bytes, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.text.encoder import TextEncoder
from mathamr.text.folder import PIECES, load_pieces, read_head
from mathamr.text.onnxgraph import SCALE
from mathamr.text.transformer import Transformer


def save_text_encoder(folder: Path, encoder: TextEncoder, *, half: bool = False) -> None:
    """Write the folder that `load_text_encoder` reads; the configuration is written last, when all files exist.

    `half` stores sixteen bits per number, for intermediate results.
    """
    weights = encoder.model.state_dict()
    stored = {name: tensor.half() for name, tensor in weights.items()} if half else quantised(weights)
    shape = encoder.model.configuration.to_json()
    files = {WEIGHTS: tensor_bytes(stored), PIECES: encoder.pieces.to_bytes()}
    write_model_folder(folder, {"transformer": shape}, files)


def load_text_encoder(folder: Path, device: str = "auto") -> TextEncoder:
    """Load the text encoder from a folder after checking the hashes of its files."""
    head = read_head(folder)
    for name in (WEIGHTS, PIECES):
        checked_file(folder / name, head.hashes)
    with unfilled():
        model = Transformer(head.configuration)
    use_weights(model, restored(read_tensors(folder / WEIGHTS)), folder / WEIGHTS)
    pieces = load_pieces(folder / PIECES, head.configuration)
    return TextEncoder(model, pieces, device=device, fingerprint=head.fingerprint)


def quantised(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Round matrices to eight-bit numbers with a scale per row; vectors are unchanged."""
    stored: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        exact = tensor.detach().to("cpu", torch.float32)
        if exact.ndim != 2:
            stored[name] = exact.contiguous()
            continue
        scale = exact.abs().amax(1).clamp(min=1e-12) / 127
        stored[name] = (exact / scale[:, None]).round().clamp(-127, 127).to(torch.int8).contiguous()
        stored[f"{name}{SCALE}"] = scale
    return stored


def restored(stored: dict[str, Tensor]) -> dict[str, Tensor]:
    """Undo `quantised`, up to rounding."""
    return {
        name: tensor.float() * stored[f"{name}{SCALE}"][:, None] if f"{name}{SCALE}" in stored else tensor
        for name, tensor in stored.items()
        if not name.endswith(SCALE)
    }
