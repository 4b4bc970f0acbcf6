"""Published decoders under our names: a local folder with the weights of Llama's, Mistral's, Qwen2's or Qwen3's kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from mathamr.errors import MathAMRError
from mathamr.layers.language.bytepieces import FILE, BytePieces
from mathamr.layers.language.decoder import Decoder, DecoderConfiguration
from mathamr.layers.language.encoder import TextEncoder
from mathamr.layers.language.published import MODEL
from mathamr.layers.tensorfile import read_tensors
from mathamr.layers.unfilled import unfilled
from mathamr.layers.weights import use_weights

KINDS = ("llama", "mistral", "qwen2", "qwen3")
"""`model_type` in `config.json`, as transformers writes it."""
INDEX = "model.safetensors.index.json"
_PART = re.compile(r"[\w.-]+\.safetensors")
_NAMES = {
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "attended": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "inner": "mlp.up_proj",
    "outer": "mlp.down_proj",
    "attention_norm": "input_layernorm",
    "outer_norm": "post_attention_layernorm",
}
_NORMS = {"query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"}


def decoder_files(folder: Path) -> list[Path]:
    """The files of weights in a folder: one, or those that an index names, all beside it."""
    index = folder / INDEX
    if not index.is_file():
        return [folder / MODEL]
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MathAMRError(f"{index} does not tell where the weights are: {error}") from error
    strange = [name for name in names if not isinstance(name, str) or not _PART.fullmatch(name)]
    if strange or not names:
        raise MathAMRError(f"{index} names no files of weights beside it: {strange[:1]}")
    return [folder / name for name in names]


def published_decoder(
    folder: Path, row: Mapping[str, Any], fingerprint: str, device: str = "cpu"
) -> TextEncoder:
    """The decoder in a folder; `row` is its `config.json`."""
    given: dict[str, Tensor] = {}
    for path in decoder_files(folder):
        given |= {name.removeprefix("model."): tensor for name, tensor in read_tensors(path).items()}
    configuration = _shape(folder, row, given)
    with unfilled():
        model = Decoder(configuration)
    try:
        use_weights(model, _weights(given, configuration), folder / MODEL)
    except KeyError as error:
        raise MathAMRError(f"{folder} holds no decoder that is known here: {error} is missing") from error
    return TextEncoder(model, _pieces(folder, row, configuration), device=device, fingerprint=fingerprint)


def _shape(folder: Path, row: Mapping[str, Any], given: Mapping[str, Tensor]) -> DecoderConfiguration:
    turning = row.get("rope_parameters") or row.get("rope_scaling") or {}
    try:
        if turning.get("rope_type", turning.get("type", "default")) != "default":
            raise MathAMRError(f"{folder}: stretched positions ({turning}) are not read")
        if row.get("hidden_act", "silu") != "silu":
            raise MathAMRError(f"{folder}: {row['hidden_act']!r} between layers is not read, only 'silu'")
        heads = int(row["num_attention_heads"])
        return DecoderConfiguration(
            pieces=len(given["embed_tokens.weight"]),
            size=int(row["hidden_size"]),
            layers=int(row["num_hidden_layers"]),
            heads=heads,
            inner=int(row["intermediate_size"]),
            key_heads=int(row.get("num_key_value_heads") or heads),
            head_size=int(row.get("head_dim") or int(row["hidden_size"]) // heads),
            theta=float(turning.get("rope_theta") or row.get("rope_theta") or 10_000),
            biased="layers.0.self_attn.q_proj.bias" in given,
            normed="layers.0.self_attn.q_norm.weight" in given,
            epsilon=float(row.get("rms_norm_eps", 1e-6)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError) as error:
        raise MathAMRError(
            f"{folder / 'config.json'} does not tell the shape of a decoder ({type(error).__name__}: {error})"
        ) from error


def _weights(given: Mapping[str, Tensor], configuration: DecoderConfiguration) -> dict[str, Tensor]:
    weights = {"pieces.weight": given["embed_tokens.weight"], "norm.weight": given["norm.weight"]}
    named = _NAMES | (_NORMS if configuration.normed else {})
    for number in range(configuration.layers):
        for ours, theirs in named.items():
            weights[f"layers.{number}.{ours}.weight"] = given[f"layers.{number}.{theirs}.weight"]
        for part in ("query", "key", "value") if configuration.biased else ():
            weights[f"layers.{number}.{part}.bias"] = given[f"layers.{number}.{_NAMES[part]}.bias"]
    return weights


def _pieces(folder: Path, row: Mapping[str, Any], configuration: DecoderConfiguration) -> BytePieces:
    """The tokenizer; what begins a text, where the model has no mark for it, is what ends one."""
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
        ending = row["eos_token_id"]
        end = int(ending[0] if isinstance(ending, list) else ending)
        begin, pad = (row.get(name) for name in ("bos_token_id", "pad_token_id"))
        marks = {
            "end": end,
            "begin": end if begin is None else int(begin),
            "pad": end if pad is None else int(pad),
        }
    except (OSError, UnicodeDecodeError) as error:
        raise MathAMRError(f"cannot read the tokenizer {path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise MathAMRError(f"{folder / 'config.json'} does not tell what ends a text: {error}") from error
    return BytePieces(text, configuration.pieces, marks, source=str(path))
