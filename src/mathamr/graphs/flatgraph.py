"""`FlatGraph`: nodes and edges by number, and the names of virtual nodes and edges; it imports no formula parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from mathamr.posts.level import Level

VIRTUAL_FORMULA = "VIRTUAL_FORMULA"
VIRTUAL_SENTENCE = "VIRTUAL_SENTENCE"
VIRTUAL_DOCUMENT = "VIRTUAL_DOCUMENT"
VIRTUAL_LABELS = (VIRTUAL_FORMULA, VIRTUAL_SENTENCE, VIRTUAL_DOCUMENT)

FORMULA_EDGE = ":virtual_formula"
SENTENCE_EDGE = ":virtual_sentence"
DOCUMENT_EDGE = ":virtual_document"
AUXILIARY_EDGE = ":auxiliary_vn"
VIRTUAL_EDGES = (FORMULA_EDGE, SENTENCE_EDGE, DOCUMENT_EDGE, AUXILIARY_EDGE)


class NodePart(IntEnum):
    """Which part of the post a node belongs to."""

    CONCEPT = 0
    CONSTANT = 1
    FORMULA = 2
    OPT = 3
    SLT = 4
    VIRTUAL = 5


@dataclass(frozen=True, slots=True)
class Representative:
    """A node whose vector represents the post: which node, at which level, and what it stands for.

    `reference` is a formula id, the number of a sentence, or the id of the post.
    """

    node: int
    level: Level
    reference: str


@dataclass(slots=True)
class FlatGraph:
    """Nodes and forward edges by number; inverse edges follow from them and are added in the tensor."""

    labels: list[str] = field(default_factory=list)
    parts: list[NodePart] = field(default_factory=list)
    edges: list[tuple[int, str, int]] = field(default_factory=list)
    representatives: list[Representative] = field(default_factory=list)

    def add(self, label: str, part: NodePart) -> int:
        """Add a node and return its number."""
        self.labels.append(label)
        self.parts.append(part)
        return len(self.labels) - 1
