"""The folder of a text encoder: word pieces as text, weights in eight bits a number, nothing that can run code.

config.json           the transformer's shape, hashes of the other files
weights.safetensors   matrices as eight-bit numbers with a scale a row, the rest as it is
wordpieces.txt        one piece a line
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mathamr.errors import MathAMRError
from mathamr.integrity import checked_file, file_hash
from mathamr.layers.language.encoder import TextEncoder
from mathamr.layers.language.transformer import Transformer, TransformerConfiguration
from mathamr.layers.language.wordpieces import WordPieces
from mathamr.layers.tensorfile import read_tensors, tensor_bytes
from mathamr.layers.unfilled import unfilled
from mathamr.layers.weights import CONFIG, WEIGHTS, use_weights

FORMAT = 1
PIECES = "wordpieces.txt"
SCALE = ".scale"


def save_text_encoder(folder: Path, encoder: TextEncoder) -> None:
    """Writes the folder that `load_text_encoder` reads; the configuration comes last, when all is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WEIGHTS).write_bytes(tensor_bytes(quantised(encoder.model.state_dict())))
        encoder.pieces.save(folder / PIECES)
        row = {
            "format": FORMAT,
            "transformer": encoder.model.configuration.to_json(),
            "sha256": {name: file_hash(folder / name) for name in (WEIGHTS, PIECES)},
        }
        (folder / CONFIG).write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the text encoder's folder {folder}: {error}") from error


def load_text_encoder(folder: Path, device: str = "auto") -> TextEncoder:
    """The text encoder in a folder, after the hashes of its files were checked."""
    path = folder / CONFIG
    try:
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if row["format"] != FORMAT:
            raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
        configuration = TransformerConfiguration.from_json(dict(row["transformer"]))
        hashes = {str(name): str(value) for name, value in row["sha256"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MathAMRError(
            f"{path} does not describe a text encoder, or it is damaged ({type(error).__name__}: {error})"
        ) from error
    for name in (WEIGHTS, PIECES):
        checked_file(folder / name, hashes)
    with unfilled():
        model = Transformer(configuration)
    use_weights(model, restored(read_tensors(folder / WEIGHTS)), folder / WEIGHTS)
    pieces = WordPieces.load(folder / PIECES)
    if len(pieces.vocabulary) != configuration.pieces:
        raise MathAMRError(f"{folder} has {len(pieces.vocabulary)} word pieces, not {configuration.pieces}")
    fingerprint = hashlib.sha256(
        json.dumps([row["transformer"], hashes], sort_keys=True).encode()
    ).hexdigest()
    return TextEncoder(model, pieces, device=device, fingerprint=fingerprint[:16])


def quantised(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Matrices as eight-bit numbers, each row with a scale of its own; vectors stay as they are."""
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
    """The inverse of `quantised`, up to rounding."""
    return {
        name: tensor.float() * stored[f"{name}{SCALE}"][:, None] if f"{name}{SCALE}" in stored else tensor
        for name, tensor in stored.items()
        if not name.endswith(SCALE)
    }
