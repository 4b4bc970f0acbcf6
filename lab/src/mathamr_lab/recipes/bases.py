"""Loads the text encoder that a training starts from: ours by name or folder, or a published one that `transformers` reads.

A published encoder is converted once, where the training is prepared: the machine that trains, and the product, read our
own format. What our transformer and pieces can express is accepted (BERT, MPNet and DistilBERT with a WordPiece vocabulary,
RoBERTa and DistilRoBERTa with byte-level BPE); for anything else, such as a decoder, the error says what does not fit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.core.modelfolder import CONFIG, WEIGHTS
from mathamr.core.tensorfile import use_weights
from mathamr.systems.baseencoder import load_base_encoder
from mathamr.text.bytepieces import BytePieces
from mathamr.text.encoder import TextEncoder
from mathamr.text.folder import PIECES
from mathamr.text.torchfolder import load_text_encoder, save_text_encoder
from mathamr.text.transformer import Transformer, TransformerConfiguration
from mathamr.text.wordpieces import WordPieces

BASE = "base"
"""The folder of a converted base, in a prepared folder and in the model folder."""
_BERT = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}
_NAMES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "bert": ("encoder.layer", _BERT),
    "roberta": ("encoder.layer", _BERT),
    "mpnet": (
        "encoder.layer",
        {
            **_BERT,
            "query": "attention.attn.q",
            "key": "attention.attn.k",
            "value": "attention.attn.v",
            "attended": "attention.attn.o",
            "attention_norm": "attention.LayerNorm",
        },
    ),
    "distilbert": (
        "transformer.layer",
        {
            "query": "attention.q_lin",
            "key": "attention.k_lin",
            "value": "attention.v_lin",
            "attended": "attention.out_lin",
            "attention_norm": "sa_layer_norm",
            "inner": "ffn.lin1",
            "outer": "ffn.lin2",
            "outer_norm": "output_layer_norm",
        },
    ),
}
"""By type of model: where its layers are, and what their parts are called."""


def is_published(folder: Path) -> bool:
    """Return True if a folder holds an encoder as `transformers` writes it."""
    try:
        row = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(row, dict) and "model_type" in row


def check_base(name: str, base: Path | None) -> None:
    """Refuse a base that an index could not load: the folder that was named apart, or the one of this name."""
    try:
        folder_base(base) if base is not None else load_base_encoder(name)
    except MathAMRError as error:
        raise MathAMRError(
            f"the model would be changes to the text encoder {str(base or name)!r}, which neither training nor an index could load:"
            f" {error}; name another with --base or --set model.base=NAME"
        ) from error


def prepared_base(base: Path, folder: Path) -> tuple[str, list[Path]]:
    """Return the name of a training's base, and the files that were written for it into the prepared folder.

    A folder of ours keeps its path; a published one is converted, and the model folder will have a copy of it.
    """
    if not is_published(base):
        return str(base.resolve()), []
    save_text_encoder(folder / BASE, published_encoder(base), half=True)
    return BASE, [folder / BASE / name for name in (CONFIG, WEIGHTS, PIECES)]


def training_base(name: str, prepared: Path, device: str = "cpu") -> TextEncoder:
    """Load the base of a training: a converted one from the prepared folder, or the named one."""
    return load_text_encoder(prepared / BASE, device) if name == BASE else load_base_encoder(name, device)


def copy_base(name: str, prepared: Path, model: Path) -> None:
    """Copy a converted base into the model folder, where the product looks for it."""
    if name == BASE:
        shutil.copytree(prepared / BASE, model / BASE, dirs_exist_ok=True)


def folder_base(folder: Path) -> TextEncoder:
    """Load the encoder in a folder, ours or published."""
    return published_encoder(folder) if is_published(folder) else load_text_encoder(folder, "cpu")


def published_encoder(folder: Path, device: str = "cpu") -> TextEncoder:
    """Load the encoder in a local folder with `transformers`; its vectors are means of its states."""
    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("a published text encoder as a base", "pip install transformers") from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise MathAMRError(f"transformers cannot read a text encoder in {folder}: {error}") from error
    pieces = _word_pieces(tokenizer, folder)
    configuration, weights = _converted(model.config, model.state_dict(), folder)
    count = len(pieces.vocabulary)
    if configuration.pieces < count:
        raise MathAMRError(
            f"{folder}: its tokenizer has {count} pieces, the model {configuration.pieces} embeddings"
        )
    # Some models have more embeddings than pieces, to fill up a block of memory.
    weights["pieces.weight"] = weights["pieces.weight"][:count]
    configuration = replace(configuration, pieces=count)
    made = Transformer(configuration)
    use_weights(made, weights, folder)
    return TextEncoder(made, pieces, device=device)


def _word_pieces(tokenizer: Any, folder: Path) -> WordPieces:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    kind = type(backend.model).__name__ if backend is not None else type(tokenizer).__name__
    row = json.loads(backend.to_str()) if backend is not None else {}
    is_bytes = kind == "BPE" and (row["pre_tokenizer"] or {}).get("type") == "ByteLevel"
    if kind != "WordPiece" and not is_bytes:
        raise MathAMRError(
            f"{folder}: its tokenizer is {kind}; a base needs a WordPiece vocabulary, like BERT and MPNet, or byte-level BPE,"
            " like RoBERTa"
        )
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda each: int(each[1]))
    pieces = [piece for piece, _ in vocabulary]
    if not is_bytes:
        return WordPieces(pieces)
    merges = (each.split(" ") if isinstance(each, str) else each for each in row["model"]["merges"])
    return BytePieces(pieces, [(one, other) for one, other in merges])


def _converted(
    config: Any, state: Mapping[str, Tensor], folder: Path
) -> tuple[TransformerConfiguration, dict[str, Tensor]]:
    """Return the shape of a published encoder, and its weights under our names."""
    if config.model_type not in _NAMES:
        raise MathAMRError(
            f"{folder} holds a model of type {config.model_type!r}; a base can be of type {', '.join(_NAMES)}"
        )
    layers, parts = _NAMES[config.model_type]
    positions = state["embeddings.position_embeddings.weight"]
    if config.model_type in ("mpnet", "roberta"):
        positions = positions[2:]  # the first two belong to padding
    if "embeddings.token_type_embeddings.weight" in state:
        positions = positions + state["embeddings.token_type_embeddings.weight"][0]
    weights = {"pieces.weight": state["embeddings.word_embeddings.weight"], "positions.weight": positions}
    if config.model_type == "mpnet":
        weights["relative.table.weight"] = state["encoder.relative_attention_bias.weight"]
    for kind in ("weight", "bias"):
        weights[f"norm.{kind}"] = state[f"embeddings.LayerNorm.{kind}"]
        for number in range(config.num_hidden_layers):
            theirs, ours = f"{layers}.{number}", f"layers.{number}"
            attention = [state[f"{theirs}.{parts[part]}.{kind}"] for part in ("query", "key", "value")]
            weights[f"{ours}.attention.{kind}"] = torch.cat(attention)
            for part in ("attended", "attention_norm", "inner", "outer", "outer_norm"):
                weights[f"{ours}.{part}.{kind}"] = state[f"{theirs}.{parts[part]}.{kind}"]
    shape = TransformerConfiguration(
        pieces=config.vocab_size,
        size=config.hidden_size,
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        inner=getattr(config, "intermediate_size", None) or config.hidden_dim,
        positions=len(positions),
        buckets=getattr(config, "relative_attention_num_buckets", 0) if config.model_type == "mpnet" else 0,
        epsilon=getattr(config, "layer_norm_eps", 1e-12),
    )
    return shape, weights
