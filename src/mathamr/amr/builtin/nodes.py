"""`WordNode`: a node of the graph that is being built, and its rough kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.vocabulary import PRONOUNS

KINDS = (
    "polarity", "number", "constant", "conjunction", "formula", "name", "frame", "special", "pronoun",
    "quantity", "thing",
)  # fmt: skip
CONJUNCTIONS = frozenset({"and", "or", "contrast-01", "slash", "multi-sentence"})


@dataclass(slots=True)
class WordNode:
    """`token` is the node's word, `place` its position in the word's template, `last` the end of a longer span."""

    concept: str
    constant: bool
    token: int
    place: int = 0
    text: tuple[str, ...] = ()
    first: int = -1
    """The first word of a name; -1 for other nodes."""


@lru_cache(maxsize=65_536)
def kind_of(concept: str, constant: bool) -> str:
    """The rough kind of a node."""
    if constant:
        return "polarity" if concept == "-" else "number" if concept[:1].isdigit() else "constant"
    if concept in CONJUNCTIONS:
        return "conjunction"
    if is_formula(concept):
        return "formula"
    if concept == "name":
        return "name"
    if is_frame(concept):
        return "special" if concept.endswith("-91") else "frame"
    if concept in PRONOUNS:
        return "pronoun"
    if concept.endswith(("-quantity", "-entity")):
        return "quantity"
    return "thing"


def type_of(node: WordNode) -> str:
    """The rough kind of a node."""
    return kind_of(node.concept, node.constant)
