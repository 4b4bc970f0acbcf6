"""The interface of systems: how posts and formulas become vectors, and how a query is ranked with them.

A system is what a model folder loads to. Everything above this package (index, search, evaluation, experiments, serve)
knows only this module; `docs/systems.md` explains how to add a system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, Self

from mathamr.core.registry import Registry
from mathamr.formulas.tree import Opt, Slt
from mathamr.posts.passage import Passage
from mathamr.posts.post import Formula, Post
from mathamr.systems.field import Field
from mathamr.systems.ranking import Rankings, Task
from mathamr.systems.vectors import Vectors

if TYPE_CHECKING:
    from mathamr.graphs.mathgraph import MathGraph
    from mathamr.graphs.tensor import GraphTensor
    from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary

Need = Literal["graph", "tensor", "trees", "wording"]
"""What an index provides to a system for every post: its MathAMR+ graph; the tensor of that graph; the trees of formulas;
or only the text. An index builds only what is needed."""


@dataclass(frozen=True, slots=True)
class GraphInput:
    """The graphs that a system reads as tensors: the name of their configuration, and the vocabularies of labels and relations."""

    configuration: str
    vocabulary: Vocabulary
    relations: RelationVocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A post to encode, with the inputs that the system needs."""

    post: Post
    graph: MathGraph | None = None
    tensor: GraphTensor | None = None
    passage: Passage | None = None
    """Its sentences, if they are known already."""
    is_query: bool = False
    """True for a query: some encoders read queries and documents by different prompts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualFormula:
    """A visual class of formulas: its key, one of the formulas, and its trees (`None` if it cannot be parsed)."""

    key: str
    formula: Formula
    opt: Opt | None
    slt: Slt | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The vectors of one post by field, and those of its formulas, in the order of the post.

    A field without rows for a post is left out. `unread` is the number of sentences that stand behind what the system reads.
    """

    id: str
    post: Mapping[str, Vectors] = field(default_factory=dict)
    formulas: tuple[tuple[str, Mapping[str, Vectors]], ...] = ()
    unread: int = 0


class System(Protocol):
    """A trained system; threads may share it, but only one may use it at a time. A subclass inherits the defaults."""

    kind: ClassVar[str]
    """Its name among `SYSTEMS`."""
    tasks: ClassVar[frozenset[Task]]
    needs: ClassVar[frozenset[Need]]
    rankings: ClassVar[Rankings]
    """The rankings, which are known before any weights are loaded."""
    name: str
    """The name of the model."""
    encodes_on_processor: ClassVar[bool] = False
    """True if ONNX Runtime gives the vectors that a GPU gives, up to rounding."""

    @property
    def fingerprint(self) -> str:
        """An identifier: systems with the same one give the same vectors, up to the rounding of their devices."""
        ...

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that an engine stores for it."""
        ...

    @property
    def graphs(self) -> GraphInput | None:
        """The graphs it reads, if it needs tensors; by default none."""
        return None

    @classmethod
    def fingerprint_of(cls, folder: Path) -> str | None:  # noqa: ARG003
        """Return the fingerprint of the model in a folder if it is known without loading the model; by default it is not."""
        return None

    def encode(self, items: Iterable[Item]) -> Iterator[Encoded]:
        """Yield the vectors of every post, in order, a few posts at a time: the fields of posts and formulas."""
        ...

    def encode_visuals(self, visuals: Iterable[VisualFormula]) -> Iterator[Mapping[str, Vectors]]:
        """Yield the vectors of every visual class, in order: the fields of visual classes; by default none."""
        return ({} for _ in visuals)

    def save(self, folder: Path) -> None:
        """Write the folder that `load` reads; no pickles."""
        ...

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> Self:
        """Load the system from a model folder; `device` is ``auto``, ``cpu``, ``cuda`` or ``cuda:1``."""
        ...


SYSTEMS: Registry[type[System]] = Registry(
    "system",
    {
        "mathamrplus": "mathamr.systems.mathamrplus.system:MathAMRPlusSystem",
        "mathamr": "mathamr.systems.mathamr.system:MathAMRSystem",
        "marf": "mathamr.systems.marf.system:MarfSystem",
        "marf-paper": "mathamr.systems.marf.system:PublishedMarfSystem",
        "text": "mathamr.systems.text.system:TextSystem",
        "formula-graph": "mathamr.systems.formulagraph.system:FormulaGraphSystem",
        "ssemb": "mathamr.systems.ssemb.system:SsembSystem",
        "sentence-transformers": "mathamr.systems.encoders.system:SentenceTransformersSystem",
        "late-interaction": "mathamr.systems.encoders.system:LateInteractionSystem",
        "embeddings": "mathamr.systems.encoders.system:EmbeddingsSystem",
    },
    group="mathamr.systems",
)
"""The systems by name; another package adds one through the entry-point group ``mathamr.systems``."""
