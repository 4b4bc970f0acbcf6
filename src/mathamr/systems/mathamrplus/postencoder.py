"""`PostEncoder`: the vectors of a post from its graph and, where the model reads text, from its wording.

A model folder is that of a graph encoder, or holds one in `graph/` and a text encoder in `text/`; its `config.json` may name
another model to take a part from. A graph encoder with a slot for text reads the text vectors. Otherwise the vectors of a
representative are concatenated, weighted by level, so that the cosine of two joined vectors is the weighted mean of the
two cosines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.core.modelfolder import CONFIG, ModelFolder, read_config, write_model_folder
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.posts.level import Level
from mathamr.posts.passage import Passage
from mathamr.posts.post import Post
from mathamr.systems.mathamrplus.graphbackend import GraphBackend, load_graph_backend, torch_graph_encoder
from mathamr.systems.models import GRAPH, TEXT, part_of
from mathamr.systems.vectors import Vectors
from mathamr.text.textvectors import TextVectors

if TYPE_CHECKING:
    from mathamr.text.textvectors import AnyTextEncoder

JOINED = "joined"
AT_A_TIME = 256


@dataclass(frozen=True, slots=True)
class Shares:
    """The weight of the text in the cosine of joined vectors, by level; the rest is the graph's."""

    formula: float = 0.5
    sentence: float = 0.5
    document: float = 0.5

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise MathAMRError(f"the text's share of a {name} must be from 0 to 1, got {value!r}")

    def of(self, levels: AnyArray) -> FloatArray:
        """Return the share of each representative by its level."""
        table = np.zeros(len(Level), np.float32)
        table[[Level.FORMULA, Level.SENTENCE, Level.DOCUMENT]] = self.formula, self.sentence, self.document
        return np.asarray(table[levels])

    def to_json(self) -> dict[str, float]:
        """Return the JSON form for a model's folder."""
        return {name: getattr(self, name) for name in self.__slots__}


class PostEncoder:
    """Encodes posts with their graphs: in order, batched, in bounded memory."""

    def __init__(
        self,
        graph: GraphBackend,
        text: AnyTextEncoder | None = None,
        shares: Shares | None = None,
        name: str = "",
    ) -> None:
        self.graph, self.text, self.shares = graph, text, shares or Shares()
        self.name = name or graph.name
        self.graphs: str = graph.graphs
        self.vocabulary: Vocabulary = graph.vocabulary
        self.relations: RelationVocabulary = graph.relations
        self.size = graph.size + (0 if text is None else text.size)

    @property
    def fingerprint(self) -> str:
        """An identifier: encoders with the same one give the same vectors, up to the rounding of their devices."""
        if self.text is None:
            return self.graph.fingerprint
        shares = json.dumps(self.shares.to_json(), sort_keys=True)
        parts = [self.graph.fingerprint, self.text.fingerprint, shares]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def encode(
        self, items: Iterable[tuple[Post, GraphTensor]], passages: Iterable[Passage | None] | None = None
    ) -> Iterator[Vectors]:
        """Yield the vectors of every post, in the order of the posts; passages that are known already are not computed again."""
        if self.text is None:
            yield from self.graph.encode(tensor for _, tensor in items)
            return
        from mathamr.text.wording import wording

        stream = zip(items, repeat(None) if passages is None else passages, strict=False)
        while chosen := list(islice(stream, AT_A_TIME)):
            tensors = [tensor for (_, tensor), _ in chosen]
            texts = list(self.text.encode(wording(post, tensor, read) for (post, tensor), read in chosen))
            for vectors, text in zip(self.graph.encode(tensors), texts, strict=True):
                yield self.side_by_side(vectors, text, self.shares, self.text.size)

    @staticmethod
    def side_by_side(vectors: Vectors, text: TextVectors, shares: Shares, size: int) -> Vectors:
        """Concatenate the text and graph vectors of a post, each times the root of its share; a row without text has only
        the graph's.
        """
        share = np.zeros(len(vectors), np.float32)
        share[text.of] = shares.of(vectors.levels[text.of])
        beside = np.zeros((len(vectors), size), np.float32)
        beside[text.of] = text.vectors * np.sqrt(share[text.of])[:, None]
        joined = np.concatenate([beside, vectors.vectors * np.sqrt(1 - share)[:, None]], axis=1)
        return Vectors(joined, vectors.levels, vectors.references)


def load_post_encoder(folder: Path, device: str = "auto") -> PostEncoder:
    """Load the encoder from a model folder."""
    if read_config(folder).get("encoder") != JOINED:
        return PostEncoder(load_graph_backend(folder, device))
    row = ModelFolder.read(folder).config
    try:
        shares = Shares(**row["shares"])
    except (KeyError, TypeError) as error:
        raise MathAMRError(f"{folder / CONFIG} does not say how vectors are joined: {error}") from error
    from mathamr.text.backend import load_encoder

    graph = load_graph_backend(part_of(folder, GRAPH), device)
    text = load_encoder(part_of(folder, TEXT), device)
    return PostEncoder(graph, text, shares, str(row.get("name", "")))


def save_post_encoder(folder: Path, encoder: PostEncoder) -> None:
    """Write the folder that `load_post_encoder` reads."""
    if encoder.text is None:
        torch_graph_encoder(encoder.graph).save(folder)
        return
    from mathamr.text.backend import exact_encoder
    from mathamr.text.torchfolder import save_text_encoder

    torch_graph_encoder(encoder.graph).save(folder / GRAPH)
    save_text_encoder(folder / TEXT, exact_encoder(encoder.text))
    save_joined(folder, encoder.name, encoder.shares)


def save_joined(folder: Path, name: str, shares: Shares) -> None:
    """Write the configuration of a folder whose parts are in `graph/` and `text/` already."""
    write_model_folder(folder, {"encoder": JOINED, "name": name, "shares": shares.to_json()})
