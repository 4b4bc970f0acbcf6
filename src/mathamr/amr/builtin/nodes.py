"""The graph that is being built: `WordNode`s with their rough kinds, the `Template` around a core, and the `Draft` of a sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache

from mathamr.amr.builtin.frames import is_frame
from mathamr.amr.builtin.mathematics import is_formula
from mathamr.amr.builtin.vocabulary import PRONOUNS
from mathamr.amr.builtin.words import WordSentence

KINDS = (
    "polarity", "number", "constant", "conjunction", "formula", "name", "frame", "special", "pronoun",
    "quantity", "thing",
)  # fmt: skip
CONJUNCTIONS = frozenset({"and", "or", "contrast-01", "slash", "multi-sentence"})
PLAIN = '[["*"],[]]'
"""The text of the template that adds nothing to a core."""


@lru_cache(maxsize=65_536)
def kind_of(concept: str, *, constant: bool) -> str:
    """Return the rough kind of a node."""
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


@dataclass(slots=True)
class WordNode:
    """`token` is the node's word, `place` its position in the word's template, `text` the parts of a name."""

    concept: str
    constant: bool
    token: int
    place: int = 0
    text: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The rough kind of the node."""
        return kind_of(self.concept, constant=self.constant)


@dataclass(frozen=True)
class Template:
    """The nodes and edges around a core, like ``person :ARG0-of`` with `teach-01` for "teacher".

    Node 0 is the core; constants are written with a leading ``=``. It need not be connected ("never": `ever` and the polarity ``-``).
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, str, int], ...]

    @classmethod
    def from_text(cls, text: str) -> Template:
        """Parse a template from its `text`."""
        nodes, edges = json.loads(text)
        return cls(tuple(nodes), tuple((int(s), str(role), int(t)) for s, role, t in edges))

    @property
    def text(self) -> str:
        """One line of JSON, the name of the template.

        >>> Template(("*", "person"), ((0, ":ARG0", 1),)).text
        '[["*","person"],[[0,":ARG0",1]]]'
        """
        return json.dumps([self.nodes, self.edges], separators=(",", ":"))


@dataclass
class Draft:
    """The nodes of a sentence before relations are identified, and the edges of their templates."""

    sentence: WordSentence
    nodes: list[WordNode] = field(default_factory=list)
    edges: list[tuple[int, str, int]] = field(default_factory=list)

    def add(self, core: WordNode, template: Template) -> None:
        """Add a core with the nodes and edges of its template."""
        first = len(self.nodes)
        self.nodes.append(core)
        for place, name in enumerate(template.nodes[1:], start=1):
            constant = name.startswith("=")
            self.nodes.append(WordNode(name[1:] if constant else name, constant, core.token, place))
        self.edges.extend((first + s, role, first + t) for s, role, t in template.edges)
