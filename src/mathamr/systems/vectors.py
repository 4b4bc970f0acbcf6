"""The encoder seam: graph tensors in, vectors of a post's formulas, sentences and document out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mathamr.graphs.tensor import GraphTensor, Ints
from mathamr.graphs.virtual import Level
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.layers.textvectors import TextVectors
from mathamr.registry import Registry


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """The vectors that represent one post, each of length one, and what each stands for.

    Row i stands at `levels[i]` (`Level`) for `references[i]`: a formula id, the number of a sentence, or the post's id.
    """

    post_id: str
    vectors: npt.NDArray[np.float32]
    levels: Ints
    references: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def document(self) -> npt.NDArray[np.float32] | None:
        """The vector of the whole post, where it has one."""
        _, vectors = self.at(Level.DOCUMENT)
        return next(iter(vectors), None)

    def at(self, level: Level) -> tuple[tuple[str, ...], npt.NDArray[np.float32]]:
        """What the vectors of one level stand for, and these vectors."""
        (rows,) = np.nonzero(self.levels == level)
        return tuple(self.references[row] for row in rows), self.vectors[rows]


class Encoder(Protocol):
    """Makes vectors of graphs; its graphs are of one configuration and numbered by its vocabularies."""

    name: str
    size: int
    """The size of a vector."""
    text_size: int
    """The size of the text vectors it can take; zero when it takes none."""
    graphs: str
    """The name of the graph configuration it reads."""
    fingerprint: str
    """Two encoders with the same fingerprint give the same vectors."""
    vocabulary: Vocabulary
    relations: RelationVocabulary

    def encode(
        self, tensors: Iterable[GraphTensor], texts: Iterable[TextVectors | None] | None = None
    ) -> Iterator[Vectors]:
        """The vectors of every graph, in the order of the graphs, some graphs at a time.

        `texts` runs beside the graphs, for encoders with a text slot.
        """
        ...

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Encoder:
        """The encoder in a model folder."""
        ...


ENCODERS: Registry[type[Encoder]] = Registry(
    "encoder", {"mathamrplus": "mathamr.systems.mathamrplus.graphencoder:GraphEncoder"}
)


def load_encoder(folder: Path, device: str = "auto") -> Encoder:
    """The encoder in a model folder, whichever it is; `device` is ``auto``, ``cpu``, ``cuda`` or ``cuda:1``."""
    from mathamr.layers.weights import read_head

    return ENCODERS[read_head(folder).encoder].load(folder, device)
