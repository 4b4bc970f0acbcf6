"""Writes and reads the folder of a text encoder (`folder`) with torch: for the backend `float`, for training, and for differences to a base."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.core.modelfolder import CONFIG, WEIGHTS, write_model_folder
from mathamr.core.tensorfile import read_tensors, tensor_bytes, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.text.difference import difference, with_difference
from mathamr.text.encoder import TextEncoder
from mathamr.text.folder import PIECES, load_pieces, read_head
from mathamr.text.mpnet import KEPT, NAME, mpnet_folder
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.onnxgraph import SCALE
from mathamr.text.published import MODEL, VOCABULARY, published_weights
from mathamr.text.transformer import Transformer


def save_text_encoder(folder: Path, encoder: TextEncoder, *, half: bool = False) -> None:
    """Write the folder that `load_text_encoder` reads; the configuration is written last, when all files exist.

    `half` stores sixteen bits per number, for intermediate results. An encoder that was loaded as a difference to a base
    is written as a difference.
    """
    if encoder.upon and not half:
        save_difference(folder, encoder)
        return
    weights = encoder.model.state_dict()
    stored = {name: tensor.half() for name, tensor in weights.items()} if half else quantised(weights)
    shape = encoder.model.configuration.to_json()
    files = {WEIGHTS: tensor_bytes(stored), PIECES: encoder.pieces.to_bytes()}
    write_model_folder(folder, {"transformer": shape}, files)


def save_difference(folder: Path, encoder: TextEncoder) -> None:
    """Write the folder of an encoder that was tuned from mpnet as its difference to mpnet."""
    weights = encoder.model.state_dict()
    _, base = published_weights(mpnet_folder() / MODEL)
    own = {name: tensor for name, tensor in weights.items() if name not in base}
    stored = {**difference(weights, base), **quantised(own)}
    base_name = {"name": NAME, "sha256": KEPT[MODEL]}
    config = {"transformer": encoder.model.configuration.to_json(), "base": base_name}
    write_model_folder(folder, config, {WEIGHTS: tensor_bytes(stored)})


def load_text_encoder(folder: Path, device: str = "auto") -> TextEncoder:
    """Load the text encoder from a folder after checking the hashes of its files and of its base."""
    head = read_head(folder)
    checked_file(folder / WEIGHTS, head.hashes)
    if head.base is not None:
        weights, vocabulary = _upon_base(folder, head.base)
    else:
        checked_file(folder / PIECES, head.hashes)
        weights, vocabulary = restored(read_tensors(folder / WEIGHTS)), folder / PIECES
    with unfilled():
        model = Transformer(head.configuration)
    use_weights(model, weights, folder / WEIGHTS)
    pieces = load_pieces(vocabulary, head.configuration)
    upon = "" if head.base is None else NAME
    return TextEncoder(model, pieces, device=device, fingerprint=head.fingerprint, upon=upon)


def to_onnx(encoder: TextEncoder, source: Path | None = None) -> OnnxTextEncoder:
    """Convert the encoder to eight bits for ONNX Runtime."""
    weights = {name: tensor.numpy() for name, tensor in quantised(encoder.model.state_dict()).items()}
    return OnnxTextEncoder(
        encoder.model.configuration, weights, encoder.pieces, fingerprint=encoder.fingerprint, source=source
    )


def _upon_base(folder: Path, base: object) -> tuple[dict[str, Tensor], Path]:
    """Return the weights of an encoder that is stored as a difference, and the word pieces of its base."""
    if base != {"name": NAME, "sha256": KEPT[MODEL]}:
        raise MathAMRError(f"{folder / CONFIG} names the base {base!r}, which this version does not know")
    installed = mpnet_folder()
    stored = read_tensors(folder / WEIGHTS)
    _, weights = published_weights(installed / MODEL)
    own = {name: tensor for name, tensor in stored.items() if name.removesuffix(SCALE) == "head.weight"}
    changed = {name: tensor for name, tensor in stored.items() if name not in own}
    return {**with_difference(weights, changed, folder / WEIGHTS), **restored(own)}, installed / VOCABULARY


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
    """Return the inverse of `quantised`, up to rounding."""
    return {
        name: tensor.float() * stored[f"{name}{SCALE}"][:, None] if f"{name}{SCALE}" in stored else tensor
        for name, tensor in stored.items()
        if not name.endswith(SCALE)
    }
