"""Model folders: weights as safetensors, configuration as JSON, vocabularies as text; nothing that can run code.

config.json           which encoder, its configuration, the graphs it reads, hashes of the other files
weights.safetensors   the parameters
vocabulary.txt        one node label a line
relations.txt         one relation a line
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor

from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file, file_hash
from mathamr.core.tensorfile import read_tensors, tensor_bytes
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.systems.modelhead import (
    CONFIG,
    FORMAT,
    RELATIONS,
    VOCABULARY,
    WEIGHTS,
    ModelHead,
    read_head,
    read_vocabularies,
)

__all__ = [
    "CONFIG",
    "RELATIONS",
    "VOCABULARY",
    "WEIGHTS",
    "ModelHead",
    "read_head",
    "read_vocabularies",
    "read_weights",
    "save_model",
]


def save_model(
    folder: Path,
    head: ModelHead,
    weights: dict[str, Tensor],
    vocabulary: Vocabulary,
    relations: RelationVocabulary,
    *,
    half: bool = False,
) -> ModelHead:
    """Writes a model folder; `half` stores sixteen bits a number. The configuration comes last, when all is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stored = {
            name: tensor.detach().to("cpu", torch.float16 if half else torch.float32).contiguous()
            for name, tensor in weights.items()
        }
        temporary = folder / f"{WEIGHTS}.new"
        temporary.write_bytes(tensor_bytes(stored))
        temporary.replace(folder / WEIGHTS)
        vocabulary.save(folder / VOCABULARY)
        relations.save(folder / RELATIONS)
        hashes = {name: file_hash(folder / name) for name in (WEIGHTS, VOCABULARY, RELATIONS)}
        complete = ModelHead(head.encoder, head.model, head.graphs, hashes, head.about)
        row = {
            "format": FORMAT,
            "encoder": complete.encoder,
            "model": complete.model,
            "graphs": complete.graphs,
            "sha256": hashes,
            "about": complete.about,
        }
        temporary = folder / f"{CONFIG}.new"
        temporary.write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(folder / CONFIG)
    except OSError as error:
        raise MathAMRError(f"cannot write the model folder {folder}: {error}") from error
    return complete


def read_weights(folder: Path, head: ModelHead) -> dict[str, Tensor]:
    """The parameters of a model folder, after their hash was checked."""
    path = folder / WEIGHTS
    checked_file(path, head.hashes)
    return read_tensors(path)
