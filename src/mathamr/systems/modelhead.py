"""What a model folder says about itself, and its vocabularies: all that is known of a model without its weights."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mathamr.core.configured import describing
from mathamr.core.errors import MathAMRError
from mathamr.core.integrity import checked_file
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary

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


def read_head(folder: Path) -> ModelHead:
    """What a model folder says about itself."""
    path = folder / CONFIG
    with describing(path, "model"):
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


def read_vocabularies(folder: Path, head: ModelHead) -> tuple[Vocabulary, RelationVocabulary]:
    """The vocabularies of a model folder, after their hashes were checked."""
    checked_file(folder / VOCABULARY, head.hashes)
    checked_file(folder / RELATIONS, head.hashes)
    return Vocabulary.load(folder / VOCABULARY), RelationVocabulary.load(folder / RELATIONS)
