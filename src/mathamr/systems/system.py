"""The seam of systems: how posts and formulas become vectors, and how a query is ranked with them.

A system is what a model folder loads to. Everything above this room (index, search, evaluation, experiments, serve)
knows only this module; `docs/systems.md` explains how to add a system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, Protocol, Self

from mathamr.core.registry import Registry
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.mathgraph import MathGraph
from mathamr.graphs.tensor import GraphTensor
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary
from mathamr.posts.passage import Passage
from mathamr.posts.post import Formula, Post
from mathamr.systems.field import Field
from mathamr.systems.ranking import Rankings, Task
from mathamr.systems.vectors import Vectors

Need = Literal["graph", "tensor", "trees", "wording"]
"""What an index gives a system of every post: its MathAMR+ graph; the tensor of that graph; the trees of formulas;
or nothing but the text itself. What is not needed is not made: graphs only where they or their tensors are."""


@dataclass(frozen=True, slots=True)
class GraphInput:
    """Which graphs a system reads as tensors: the name of their configuration, and who numbers labels and relations."""

    configuration: str
    vocabulary: Vocabulary
    relations: RelationVocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A post on its way to vectors, with what the system needs of it."""

    post: Post
    graph: MathGraph | None = None
    tensor: GraphTensor | None = None
    passage: Passage | None = None
    """Its sentences, where they are known already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualFormula:
    """Formulas that look the same, as one: their key, one of them, and its trees (`None` where it cannot be read)."""

    key: str
    formula: Formula
    opt: Opt | None
    slt: Slt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The vectors of one post by field, and those of its formulas, in the order of the post.

    A field without rows for a post is left out.
    """

    id: str
    post: Mapping[str, Vectors] = field(default_factory=dict)
    formulas: tuple[tuple[str, Mapping[str, Vectors]], ...] = ()


class System(Protocol):
    """A trained system; one for all threads, used by one at a time."""

    kind: ClassVar[str]
    """Its name among `SYSTEMS`."""
    tasks: ClassVar[frozenset[Task]]
    needs: ClassVar[frozenset[Need]]
    rankings: ClassVar[Rankings]
    """Known before any weights are loaded."""

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    @property
    def fingerprint(self) -> str:
        """Two systems with the same fingerprint give the same vectors, up to the rounding of their devices."""
        ...

    @property
    def fields(self) -> tuple[Field, ...]:
        """What an engine keeps for it."""
        ...

    @property
    def graphs(self) -> GraphInput | None:
        """The graphs it reads, if it needs tensors."""
        ...

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """The vectors of every post, in the order of the posts, some at a time: fields of posts and formulas."""
        ...

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """The vectors of every visual class, in order: fields of visual classes."""
        ...

    def save(self, folder: Path) -> None:
        """Writes the folder that `load` reads; no pickles."""
        ...

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """The system in a model folder; `device` is ``auto``, ``cpu``, ``cuda`` or ``cuda:1``."""
        ...


SYSTEMS: Registry[type[System]] = Registry(
    "system",
    {
        "mathamrplus": "mathamr.systems.mathamrplus.system:MathAMRPlusSystem",
        "mathamr": "mathamr.systems.mathamr.system:MathAMRSystem",
        "marf": "mathamr.systems.marf.system:MarfSystem",
        "text": "mathamr.systems.text.system:TextSystem",
        "formula-graph": "mathamr.systems.formulagraph.system:FormulaGraphSystem",
        "ssemb": "mathamr.systems.ssemb.system:SsembSystem",
    },
)
