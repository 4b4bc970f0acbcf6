"""`Node`: a piece of mathematics between LaTeX and MathML, with its grammatical role.

The roles are those of LaTeXML's intermediate form, whose parse of LaTeX determines the published trees:
`UNKNOWN` and `ID` (identifiers), `NUMBER`, `ADDOP`, `MULOP`, `BINOP`, `RELOP`, `METARELOP`, `ARROW`, `OPEN`,
`CLOSE`, `MIDDLE`, `VERTBAR`, `PUNCT`, `PERIOD`, `FUNCTION`, `OPFUNCTION`, `TRIGFUNCTION`, `SUMOP`, `INTOP`,
`LIMITOP`, `BIGOP`, `DIFFOP`, `OPERATOR`, `POSTFIX`, `MODIFIER`, `MODIFIEROP`, `SUPOP`, `ARRAY`, `ATOM`, and
the scripts `POSTSUPERSCRIPT`, `POSTSUBSCRIPT`, `FLOATSUPERSCRIPT`, `FLOATSUBSCRIPT`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.fonts import PLAIN, Font
from mathamr.formulas.mathml.element import Element

TOKEN, APPLY, DUAL, ROW, ARRAY, TEXT, SCRIPT, HINT, ERROR, WILDCARD = range(10)
"""Kinds of node: a symbol; an operator (first child) with its operands; a pair of content and presentation; a
row that no grammar joined; a table (rows of cells); words; a script that is not attached yet; space; an
unknown command; a wildcard of a query."""


class Node:
    """One node. Nodes are shared between trees and never changed after their list has been read."""

    __slots__ = (
        "bump", "children", "content", "enclosure", "floated", "font", "key", "kind", "level", "meaning", "places", "position",
        "presentation", "role", "source", "text",
    )  # fmt: skip

    def __init__(
        self,
        kind: int,
        role: str = "",
        text: str = "",
        meaning: str = "",
        font: Font = PLAIN,
        children: Sequence[Node] = (),
        key: str = "",
        position: str = "",
        level: int = 0,
    ) -> None:
        self.kind = kind
        self.role = role
        self.text = text
        self.meaning = meaning
        self.font = font
        self.children = children
        self.key = key or meaning or text
        """How the grammar identifies a symbol: its meaning, its name or its text."""
        self.position = position
        """Where scripts go: `mid` (above and below), `post`, `pre`, or nothing."""
        self.level = level
        """Depth of braces at which a script was written; scripts of one level share one place."""
        self.enclosure = ""
        self.floated = False
        self.bump = 0
        """A script before its base (`{}^a x`) and the level that the next one is moved to."""
        self.presentation: Element | None = None
        self.content: Element | None = None
        self.source: Sequence[Node] = ()
        """The list that the grammar made this node from, for another reading of the same list."""
        self.places: tuple[int, ...] = ()
        """The tokens that a symbol was written as, if places are wanted."""

    def with_role(self, role: str, position: str = "", meaning: str = "") -> Node:
        """Return a copy with another role (`\\mathrel{x}`)."""
        copy = Node(self.kind, role, self.text, meaning or self.meaning, self.font, self.children, self.key,
                    position or self.position, self.level)  # fmt: skip
        copy.enclosure, copy.source, copy.places = self.enclosure, self.source, self.places
        return copy

    def written_as(self, nodes: Sequence[Node]) -> Node:
        """Return this new node with the places of those that it joins."""
        self.places = tuple([place for node in nodes for place in node.places])
        return self

    def __repr__(self) -> str:
        shown = f"{self.role or self.kind}:{self.key}"
        return f"({shown} {' '.join(map(repr, self.children))})" if self.children else shown


def apply(operator: Node, *operands: Node) -> Node:
    """Apply the operator to operands."""
    return Node(APPLY, children=(operator, *operands))


def dual(content: Node, presentation: Node, role: str = "") -> Node:
    """Make a node that means `content` and looks like `presentation`."""
    return Node(DUAL, role, children=(content, presentation))


def row(children: Sequence[Node], role: str = "") -> Node:
    """Return nodes side by side that no grammar has joined."""
    return Node(ROW, role, children=children)


def operator(meaning: str, text: str = "", role: str = "") -> Node:
    """Make a symbol that the formula does not show, or that the grammar makes from several."""
    return Node(TOKEN, role, text, meaning)


ABSENT = operator("absent")
INVISIBLE_TIMES = operator("times", "\u2062", "MULOP")
INVISIBLE_PLUS = operator("plus", "\u2064", "ADDOP")
INVISIBLE_COMMA = Node(TOKEN, "PUNCT", "\u2063")
