"""A clean copy of an encoder's folder: all that a library sees of it has been read here first, key by key.

Published encoders choose classes, functions, files and repositories by their descriptions, and every version of a library obeys others.
So no library gets the folder itself. It gets a folder in which each description holds only what `choices` allows, each module has the
name of the class that we chose for it, and nothing else lies beside the weights and vocabularies.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mathamr.core.choices import (
    ADDED_TOKENS,
    CANONICAL,
    CLASSES,
    COLBERT,
    ENCODER,
    ENCODER_IGNORED,
    MODULE,
    MODULE_CONFIGS,
    NETWORK,
    NETWORK_IGNORED,
    NOT_TEXT,
    SPECIAL_TOKENS,
    TOKENIZER,
    TOKENIZER_IGNORED,
    TRANSFORMER,
    TRANSFORMER_NAMES,
    VOCABULARIES,
)
from mathamr.core.errors import MathAMRError
from mathamr.core.rules import choose
from mathamr.core.storage.plainfiles import open_regular, read_description

CONFIG, WEIGHTS, SHARDS = "config.json", "model.safetensors", "model.safetensors.index.json"
MOST_MODULES = 12
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors\Z", re.ASCII)


def make_clean_copy(folder: Path, copy: Path) -> None:
    """Write the clean copy of an encoder's folder; raise for a folder that chooses what it may not."""
    modules = _modules(folder)
    for row in modules or [{"type": CANONICAL["Transformer"], "path": ""}]:
        kind, place = CLASSES[row["type"]], row["path"]
        (copy / place).mkdir(exist_ok=True)
        if kind == "Transformer":
            _copy_transformer(folder / place, copy / place)
        else:
            _copy_module(kind, folder / place, copy / place)
    if modules:
        _write(copy / "modules.json", modules)
    encoder = _read(folder / "config_sentence_transformers.json")
    if encoder is not None:
        where = folder / "config_sentence_transformers.json"
        _write(copy / where.name, choose(encoder, ENCODER, where, ignored=ENCODER_IGNORED))
    training = _read(folder / "artifact.metadata")
    if isinstance(training, dict):
        known = {name: value for name, value in training.items() if name in COLBERT}
        _write(copy / "artifact.metadata", choose(known, COLBERT, folder / "artifact.metadata"))


def _modules(folder: Path) -> list[dict[str, Any]]:
    """Return the modules of an encoder, each under the name of our choice; none for a network that stands alone."""
    where = folder / "modules.json"
    rows = _read(where)
    if rows is None:
        return []
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_MODULES:
        raise MathAMRError(f"{where} is damaged: it is not a list of at most {MOST_MODULES} modules")
    found = [choose(row, MODULE, where) for row in rows]
    if any(not {"type", "path", "name"} <= row.keys() for row in found):
        raise MathAMRError(f"{where} is damaged: a module has no type, path or name")
    places = [row["path"] for row in found if CLASSES[row["type"]] in ("Transformer", "StaticEmbedding")]
    if len(places) != 1:
        raise MathAMRError(f"{where} has {len(places)} modules that read text, expected one")
    return [{**row, "type": CANONICAL[CLASSES[row["type"]]]} for row in found]


def _copy_transformer(folder: Path, copy: Path) -> None:
    where = folder / CONFIG
    network = choose(_needed(where), NETWORK, where, ignored=NETWORK_IGNORED)
    if "model_type" not in network:
        raise MathAMRError(f"{where} does not say which architecture it is of (model_type)")
    if network.pop("architectures", None) == ["HF_ColBERT"]:
        network["architectures"] = ["HF_ColBERT"]
    _write(copy / CONFIG, network)
    for name in TRANSFORMER_NAMES:
        row = _read(folder / name)
        if isinstance(row, dict):
            modalities = row.get("modality_config")
            if isinstance(modalities, dict):  # only text is ever read
                row["modality_config"] = {
                    kind: each for kind, each in modalities.items() if kind not in NOT_TEXT
                }
            _write(copy / name, choose(row, TRANSFORMER, folder / name))
            break
    _copy_tokenizer(folder, copy)
    _link_weights(folder, copy)


def _copy_tokenizer(folder: Path, copy: Path) -> None:
    for name in VOCABULARIES:
        if (folder / name).is_file():
            _link(folder / name, copy / name)
    for name, rules, ignored in (
        ("tokenizer_config.json", TOKENIZER, TOKENIZER_IGNORED),
        ("special_tokens_map.json", SPECIAL_TOKENS, ()),
    ):
        row = _read(folder / name)
        if row is not None:
            _write(copy / name, choose(row, rules, folder / name, ignored=ignored))
    added = _read(folder / "added_tokens.json")
    if added is not None:
        if not ADDED_TOKENS(added):
            raise MathAMRError(
                f"{folder / 'added_tokens.json'} is damaged: it is not a table of tokens and numbers"
            )
        _write(copy / "added_tokens.json", added)


def _copy_module(kind: str, folder: Path, copy: Path) -> None:
    if kind in MODULE_CONFIGS:
        row = _read(folder / CONFIG)
        if row is None and kind not in ("Normalize", "MultiVectorMask"):
            raise MathAMRError(f"the encoder is not complete: it has no {folder / CONFIG}")
        if row is not None:
            _write(copy / CONFIG, choose(row, MODULE_CONFIGS[kind], folder / CONFIG))
    if kind == "StaticEmbedding":
        _link(folder / "tokenizer.json", copy / "tokenizer.json")
    if kind in ("Dense", "LayerNorm", "StaticEmbedding"):
        _link_weights(folder, copy)


def _link_weights(folder: Path, copy: Path) -> None:
    """Link the weights of a module, whether they are in one file or in several."""
    if (folder / WEIGHTS).is_file():
        _link(folder / WEIGHTS, copy / WEIGHTS)
        return
    shards = _read(folder / SHARDS)
    if shards is None:
        raise MathAMRError(
            f"{folder} has no weights in safetensors files; other formats can run code and are not loaded."
            " Convert the model with: SentenceTransformer(FOLDER).save_pretrained(NEW_FOLDER)"
        )
    names = shards.get("weight_map") if isinstance(shards, dict) else None
    if not isinstance(names, dict) or not all(
        isinstance(file, str) and _SHARD.match(file) for file in names.values()
    ):
        raise MathAMRError(
            f"{folder / SHARDS} is damaged: it does not list files model-NUMBER-of-NUMBER.safetensors"
        )
    for file in sorted(set(names.values())):
        _link(folder / file, copy / file)
    _write(copy / SHARDS, {"metadata": {}, "weight_map": names})


def _link(source: Path, target: Path) -> None:
    try:
        open_regular(source).close()
    except OSError as error:
        raise MathAMRError(f"the encoder is not complete: cannot read {source} ({error.strerror})") from error
    if not target.is_symlink():
        target.symlink_to(source.resolve())


def _needed(path: Path) -> Any:
    found = _read(path)
    if found is None:
        raise MathAMRError(f"{path.parent} is not an encoder: it has no {path.name}")
    return found


def _read(path: Path) -> Any:
    """Return what a description says, or None if there is none."""
    try:
        return json.loads(read_description(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise MathAMRError(f"{path} is damaged: {error}") from error


def _write(path: Path, row: object) -> None:
    path.write_text(json.dumps(row), encoding="utf-8")
