"""What a system can do beyond `System`, if it can: one protocol for each ability.

Whoever asks for an ability asks for its protocol (`isinstance(system, MatchesNodes)`), never for the name of a method. What is known
before weights are loaded is asked of the class: `isinstance(system_type, CutsPieces)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mathamr.systems.nodematch import TreeMatch
from mathamr.systems.system import Encoded, GraphInput, Item, Need, VisualFormula


class Preparation(Protocol):
    """The part of a system that needs no weights, for processes beside the one with a GPU."""

    needs: frozenset[Need]

    @property
    def fingerprint(self) -> str:
        """That of the whole system."""
        ...

    @property
    def graphs(self) -> GraphInput | None:
        """The graphs that the system reads, if it needs tensors."""
        ...

    def cut(self, item: Item) -> Any:
        """Return what the network reads of a post; it is sent to another process."""
        ...


@runtime_checkable
class CutsPieces(Protocol):
    """A system that can prepare posts without its weights, and encode many prepared posts together."""

    @classmethod
    def without_weights(cls, folder: Path) -> Preparation:
        """Return the part of the system in a folder that prepares posts."""
        ...

    def encode_pieces(self, posts: Sequence[Any]) -> list[Encoded]:
        """Return the vectors of prepared posts, in order."""
        ...


@runtime_checkable
class MatchesNodes(Protocol):
    """A system that can match nodes; the others are explained by the alignment of trees alone."""

    def match_nodes(self, query: VisualFormula, found: VisualFormula) -> Sequence[TreeMatch]:
        """Return the pairs of nodes by view, for the views that the system compares."""
        ...


@runtime_checkable
class JoinsWording(Protocol):
    """A system whose vectors may begin with those of the wording, so that an alignment can tell them from the rest."""

    @property
    def wording_size(self) -> int:
        """How many numbers of a vector, its first, come from the text; 0 if none do."""
        ...


@runtime_checkable
class ComparesSentences(Protocol):
    """A system that ranks formulas by their sentences, which explain a hit too."""

    sentence_field: str
    """The field of the vectors of sentences."""


ABILITIES = (CutsPieces, MatchesNodes, JoinsWording, ComparesSentences)
"""All of them."""
