"""The folder of a cross-encoder: word pieces as text, embeddings in four bits a number, other matrices in eight.

config.json           the transformer's shape, how much of a query and a document is read, hashes of the other files
weights.safetensors   the weights
wordpieces.txt        one piece a line
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mathamr.errors import MathAMRError
from mathamr.integrity import file_hash
from mathamr.layers.language.crossencoder import CrossEncoder
from mathamr.layers.language.files import SCALE, quantised, restored
from mathamr.layers.language.fourbits import coded, decoded
from mathamr.layers.language.quantisedcross import (
    CODES,
    CONFIG,
    EMBEDDINGS,
    FORMAT,
    PIECES,
    SCORE,
    WEIGHTS,
    read_cross,
)
from mathamr.layers.language.transformer import Transformer
from mathamr.layers.tensorfile import tensor_bytes
from mathamr.layers.unfilled import unfilled
from mathamr.layers.weights import use_weights


def save_cross_encoder(folder: Path, model: CrossEncoder) -> None:
    """Writes the folder that `load_cross_encoder` reads; the configuration comes last, when all is there."""
    weights = model.text.state_dict()
    embeddings = weights.pop(EMBEDDINGS).detach().cpu().float().numpy()
    codes, scales = map(torch.from_numpy, coded(embeddings))
    stored: dict[str, Tensor] = {
        **quantised(weights),
        f"{EMBEDDINGS}{CODES}": codes,
        f"{EMBEDDINGS}{SCALE}": scales.float(),
        f"{SCORE}.weight": model.score.weight.detach().cpu().float().flatten(),
        f"{SCORE}.bias": model.score.bias.detach().cpu().float(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WEIGHTS).write_bytes(tensor_bytes(stored))
        model.pieces.save(folder / PIECES)
        row = {
            "format": FORMAT,
            "transformer": model.text.configuration.to_json(),
            "reads": asdict(model.lengths),
            "sha256": {name: file_hash(folder / name) for name in (WEIGHTS, PIECES)},
        }
        (folder / CONFIG).write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the cross-encoder's folder {folder}: {error}") from error


def load_cross_encoder(folder: Path, device: str = "cpu") -> CrossEncoder:
    """The cross-encoder in a folder in floating point, after the hashes of its files were checked."""
    found = read_cross(folder)
    stored = {name: torch.from_numpy(np.array(array)) for name, array in found.weights.items()}
    embeddings = decoded(
        stored.pop(f"{EMBEDDINGS}{CODES}").numpy(), stored.pop(f"{EMBEDDINGS}{SCALE}").numpy()
    )
    score = stored.pop(f"{SCORE}.weight"), stored.pop(f"{SCORE}.bias")
    weights = {**restored(stored), EMBEDDINGS: torch.from_numpy(embeddings)}
    with unfilled():
        text = Transformer(found.configuration)
    use_weights(text, weights, folder / WEIGHTS)
    model = CrossEncoder(text, found.pieces, found.lengths)
    with torch.no_grad():
        model.score.weight.copy_(score[0][None])
        model.score.bias.copy_(score[1])
    return model.to(device).eval()
