"""The folder of a text encoder: word pieces as text, weights in eight bits a number, nothing that can run code.

config.json           the transformer's shape, hashes of the other files
weights.safetensors   matrices as eight-bit numbers with a scale a row, the rest as it is
wordpieces.txt        one piece a line

Or what training changed of a published encoder that is installed: then `config.json` names that base and the hash of its
weights, `weights.safetensors` holds the difference in two bits a number (`difference`), and the word pieces are the base's.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file, file_hash
from mathamr.core.tensorfile import read_tensors, tensor_bytes, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.text.difference import difference, with_difference
from mathamr.text.encoder import TextEncoder
from mathamr.text.mpnet import KEPT, NAME, mpnet_folder
from mathamr.text.published import MODEL, VOCABULARY, published_weights
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces

FORMAT = 1
CONFIG, WEIGHTS = "config.json", "weights.safetensors"
PIECES = "wordpieces.txt"
SCALE = ".scale"


def save_text_encoder(folder: Path, encoder: TextEncoder, *, half: bool = False) -> None:
    """Writes the folder that `load_text_encoder` reads; the configuration comes last, when all is there.

    `half` stores sixteen bits a number, for what is still to be worked with. What was read as a difference to a base
    is written as one.
    """
    if encoder.upon and not half:
        save_difference(folder, encoder)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        weights = encoder.model.state_dict()
        stored = {name: tensor.half() for name, tensor in weights.items()} if half else quantised(weights)
        (folder / WEIGHTS).write_bytes(tensor_bytes(stored))
        encoder.pieces.save(folder / PIECES)
        row = {
            "format": FORMAT,
            "transformer": encoder.model.configuration.to_json(),
            "sha256": {name: file_hash(folder / name) for name in (WEIGHTS, PIECES)},
        }
        (folder / CONFIG).write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the text encoder's folder {folder}: {error}") from error


def save_difference(folder: Path, encoder: TextEncoder) -> None:
    """Writes the folder of an encoder that was made from mpnet as what differs from it."""
    weights = encoder.model.state_dict()
    _, base = published_weights(mpnet_folder() / MODEL)
    own = {name: tensor for name, tensor in weights.items() if name not in base}
    stored = {**difference(weights, base), **quantised(own)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / WEIGHTS).write_bytes(tensor_bytes(stored))
        row = {
            "format": FORMAT,
            "transformer": encoder.model.configuration.to_json(),
            "base": {"name": NAME, "sha256": KEPT[MODEL]},
            "sha256": {WEIGHTS: file_hash(folder / WEIGHTS)},
        }
        (folder / CONFIG).write_text(json.dumps(row, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"cannot write the text encoder's folder {folder}: {error}") from error


def load_text_encoder(folder: Path, device: str = "auto") -> TextEncoder:
    """The text encoder in a folder, after the hashes of its files, and of its base, were checked."""
    path = folder / CONFIG
    with describing(path, "text encoder"):
        row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if row["format"] != FORMAT:
            raise MathAMRError(f"{path} has format {row['format']}, this version reads {FORMAT}")
        configuration = TransformerConfiguration.from_json(dict(row["transformer"]))
        hashes = {str(name): str(value) for name, value in row["sha256"].items()}
    checked_file(folder / WEIGHTS, hashes)
    if "base" in row:
        weights, vocabulary = _upon_base(folder, row["base"])
    else:
        checked_file(folder / PIECES, hashes)
        weights, vocabulary = restored(read_tensors(folder / WEIGHTS)), folder / PIECES
    with unfilled():
        model = Transformer(configuration)
    use_weights(model, weights, folder / WEIGHTS)
    pieces = WordPieces.load(vocabulary)
    if len(pieces.vocabulary) != configuration.pieces:
        raise MathAMRError(f"{folder} has {len(pieces.vocabulary)} word pieces, not {configuration.pieces}")
    fingerprint = hashlib.sha256(
        json.dumps(
            [row["transformer"], hashes, *([row["base"]] if "base" in row else [])], sort_keys=True
        ).encode()
    ).hexdigest()
    name = fingerprint[:16]
    return TextEncoder(model, pieces, device=device, fingerprint=name, upon=NAME if "base" in row else "")


def _upon_base(folder: Path, base: object) -> tuple[dict[str, Tensor], Path]:
    """The weights of an encoder that is kept as a difference, and the word pieces of its base."""
    if base != {"name": NAME, "sha256": KEPT[MODEL]}:
        raise MathAMRError(f"{folder / CONFIG} names a base that this version does not know: {base!r}")
    installed = mpnet_folder()
    stored = read_tensors(folder / WEIGHTS)
    _, weights = published_weights(installed / MODEL)
    own = {name: tensor for name, tensor in stored.items() if name.removesuffix(SCALE) == "head.weight"}
    changed = {name: tensor for name, tensor in stored.items() if name not in own}
    return {**with_difference(weights, changed, folder / WEIGHTS), **restored(own)}, installed / VOCABULARY


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
