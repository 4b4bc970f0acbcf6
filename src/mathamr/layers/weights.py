"""Model folders: weights as safetensors, configuration as JSON, vocabularies as text; nothing that can run code.

config.json           which encoder, its configuration, the graphs it reads, hashes of the other files
weights.safetensors   the parameters
vocabulary.txt        one node label a line
relations.txt         one relation a line
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mathamr.errors import MathAMRError
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.integrity import checked_file, file_hash
from mathamr.layers.tensorfile import read_tensors, tensor_bytes

FORMAT = 1
CONFIG, WEIGHTS, VOCABULARY, RELATIONS = (
    "config.json",
    "weights.safetensors",
    "vocabulary.txt",
    "relations.txt",
)


@dataclass(frozen=True, slots=True)
class ModelHead:
    """What a model folder says about itself; `about` is for people: how it was trained."""

    encoder: str
    model: dict[str, Any]
    graphs: str
    hashes: dict[str, str] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A name for exactly this model: equal ones give equal vectors."""
        content = json.dumps([self.encoder, self.model, self.graphs, self.hashes], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:16]


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


def read_head(folder: Path) -> ModelHead:
    """What a model folder says about itself."""
    path = folder / CONFIG
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        if row["format"] != FORMAT:
            raise MathAMRError(
                f"{path} has format {row['format']}, this version reads {FORMAT}; install the version it was made with"
            )
        return ModelHead(
            str(row["encoder"]),
            dict(row["model"]),
            str(row["graphs"]),
            {str(name): str(value) for name, value in row["sha256"].items()},
            dict(row.get("about", {})),
        )
    except FileNotFoundError as error:
        raise MathAMRError(f"no model in {folder}: it has no {CONFIG}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MathAMRError(
            f"{path} does not describe a model, or it is damaged ({type(error).__name__}: {error})"
        ) from error


def read_weights(folder: Path, head: ModelHead) -> dict[str, Tensor]:
    """The parameters of a model folder, after their hash was checked."""
    path = folder / WEIGHTS
    checked_file(path, head.hashes)
    return read_tensors(path)


def read_vocabularies(folder: Path, head: ModelHead) -> tuple[Vocabulary, RelationVocabulary]:
    """The vocabularies of a model folder, after their hashes were checked."""
    checked_file(folder / VOCABULARY, head.hashes)
    checked_file(folder / RELATIONS, head.hashes)
    return Vocabulary.load(folder / VOCABULARY), RelationVocabulary.load(folder / RELATIONS)


def use_weights(module: nn.Module, weights: dict[str, Tensor], source: Path) -> None:
    """Puts weights into a module; names and shapes must agree, and every number must be finite."""
    expected = module.state_dict()
    missing, foreign = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or foreign:
        raise MathAMRError(
            f"{source} holds weights of another model: missing {_few(missing)}, not known here {_few(foreign)}"
        )
    for name, tensor in weights.items():
        if tensor.shape != expected[name].shape:
            raise MathAMRError(
                f"{source}: {name} has shape {tuple(tensor.shape)}, the configuration asks for {tuple(expected[name].shape)}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise MathAMRError(f"{source}: {name} holds numbers that are not finite; the file is damaged")
    module.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, assign=True)


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") or "nothing"
