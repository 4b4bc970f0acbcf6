"""Linearised MathAMR beside graphs: a sentence encoder learns the pairs of the graph network, written as lines (thesis, Table 4.19)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar, Self

from mathamr.core.errors import MathAMRError
from mathamr.graphs import shard as shards
from mathamr.graphs.mathamr import linearise, mathamr
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.store import GraphStore
from mathamr.posts.level import Level
from mathamr.systems.field import Field
from mathamr.systems.mathamr.sentenceencoder import SentenceEncoder
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr.systems.ranking import Nearest, Rankings, Task
from mathamr.systems.system import Encoded, Item, Need, System
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.scale import Scale
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.recipes.recipe import TrainingSettings
from mathamr_lab.systems.mathamr.judgedlines import JudgedPair, write_pairs

DOCUMENT = "document"
AT_A_TIME = 16
_SHARED = ("batch_size", "epochs", "validation", "seed")
"""The settings that the training of lines has from that of graphs."""


class LineSystem(System):
    """One vector for a post: that of its whole graph as a line."""

    kind: ClassVar[str] = "mathamr-lines"
    tasks: ClassVar[frozenset[Task]] = frozenset({"answers"})
    needs: ClassVar[frozenset[Need]] = frozenset({"graph"})
    rankings: ClassVar[Rankings] = {"answers": {"single": Nearest(DOCUMENT)}}

    def __init__(self, system: MathAMRSystem, pieces: int = 510) -> None:
        self.name, self._system = system.name, system
        self._encoder = SentenceEncoder(system.encoder.encoder, pieces)

    @property
    def fingerprint(self) -> str:
        """That of the encoder, and how much of a line it reads."""
        return f"{self._system.fingerprint}-{self._encoder.length}"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The vector of a post."""
        return (Field(name=DOCUMENT, of="posts", size=self._encoder.size),)

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vector of every post, in order."""
        stream = iter(items)
        while some := list(islice(stream, AT_A_TIME)):
            if any(item.graph is None for item in some):
                raise MathAMRError("a post without a graph has no line")
            lines = [line_of(item.graph) for item in some if item.graph is not None]
            for item, vector in zip(some, self._encoder.encode(lines), strict=True):
                row = Vectors.one(vector, Level.DOCUMENT, item.post.id)
                yield Encoded(id=item.post.id, post={DOCUMENT: row})

    def save(self, folder: Path) -> None:
        """Write the folder of the encoder."""
        self._system.save(folder)

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the encoder of a MathAMR model, whatever it learned from."""
        return cls(MathAMRSystem.load(folder, device))


def line_of(graph: MathGraph) -> str:
    """Return a post's graph as one line of MathAMR."""
    return linearise(mathamr(graph).to_penman(one_line=True))


def write_lines(shard: Path, store: Path, path: Path) -> Figures:
    """Write the pairs of a shard as lines, which MathAMR's recipe reads."""
    pairs = shards.load(shard)
    with GraphStore(store) as graphs:
        lines = {
            number: line_of(graphs.graph(pairs.ids[number]))
            for number in {each for pair in pairs.pairs for each in pair}
        }
    write_pairs((JudgedPair(pairs.ids[q], lines[q], lines[a], 3) for q, a in pairs.pairs), path)
    return {"pairs": len(pairs.pairs)}


def line_settings(scale: Scale, changes: Iterable[str], seed: int) -> TrainingSettings:
    """Return a training by multiple negatives ranking, with the steps and the seed that the graph network has.

    Other answers of a question are no negatives, as in the training of graphs.
    """
    changes = tuple(changes)
    _, graph = scale.configurations(changes, seed)
    given = [f"ranking.{name}={graph[name]}" for name in _SHARED]
    own = [f"ranking.{change}" for change in changes if change.partition("=")[0] not in _SHARED]
    lengths = [f"model.length={scale.pieces}", f"ranking.length={scale.pieces + 2}", "ranking.masked=true"]
    return TrainingSettings(config="paper", changes=(*lengths, *given, *own), stages=("ranking", "join"))
