"""The folder of a graph encoder: its shape, the graphs it reads, and two vocabularies, one label or relation per line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import WEIGHTS, ModelFolder, write_model_folder
from mathamr.core.tensorfile import halved, tensor_bytes
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.systems.mathamrplus.configuration import ModelConfiguration

if TYPE_CHECKING:
    from torch import Tensor

ENCODER = "mathamrplus"
VOCABULARY, RELATIONS = "vocabulary.txt", "relations.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFolder:
    """A graph encoder without its weights; `graphs` names the configuration of the graphs it reads."""

    configuration: ModelConfiguration
    graphs: str
    vocabulary: Vocabulary
    relations: RelationVocabulary
    fingerprint: str
    about: dict[str, Any]
    weights: Path
    """The file with the parameters, whose hash was checked."""


def read_graph_folder(path: Path) -> GraphFolder:
    """Return the graph encoder in a folder."""
    folder = ModelFolder.read(path)
    with folder.parsing():
        encoder, model, graphs = (
            str(folder.config["encoder"]),
            dict(folder.config["model"]),
            str(folder.config["graphs"]),
        )
        about = dict(folder.config.get("about", {}))
    if encoder != ENCODER:
        raise MathAMRError(f"{path} holds a model of the encoder {encoder!r}, not {ENCODER!r}")
    content = json.dumps([encoder, model, graphs, folder.hashes], sort_keys=True)
    return GraphFolder(
        configuration=ModelConfiguration.from_json(model),
        graphs=graphs,
        vocabulary=Vocabulary.load(folder.file(VOCABULARY)),
        relations=RelationVocabulary.load(folder.file(RELATIONS)),
        fingerprint=hashlib.sha256(content.encode()).hexdigest()[:16],
        about=about,
        weights=folder.file(WEIGHTS),
    )


def save_graph_folder(
    path: Path,
    configuration: ModelConfiguration,
    weights: Mapping[str, Tensor],
    graphs: str,
    vocabulary: Vocabulary,
    relations: RelationVocabulary,
    about: Mapping[str, Any],
    *,
    half: bool = False,
) -> None:
    """Write the folder that `read_graph_folder` reads; with `half`, numbers have sixteen bits."""
    stored = (
        halved(weights) if half else {name: each.detach().cpu().float() for name, each in weights.items()}
    )
    write_model_folder(
        path,
        {"encoder": ENCODER, "model": configuration.to_json(), "graphs": graphs},
        {
            WEIGHTS: tensor_bytes(stored),
            VOCABULARY: vocabulary.to_text().encode(),
            RELATIONS: relations.to_text().encode(),
        },
        {"about": dict(about)},
    )
