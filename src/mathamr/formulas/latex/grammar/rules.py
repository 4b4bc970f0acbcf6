"""The state of one parse, and the rules that all others use: operators, scripts, the ends of groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.assembly import decorated, is_matching, joined_relation, scripted
from mathamr.formulas.latex.node import ABSENT, DUAL, Node, apply

END = "END"
"""The role of the position after the last node."""

MAX_DEPTH = 40
"""The maximum nesting of parentheses and bars; a deeper list is left as a row."""

_ROLES_BY_KIND = ("UNKNOWN", "ATOM", "ATOM", "ATOM", "ATOM", "ATOM", "", "PUNCT", "ATOM", "UNKNOWN")
SCRIPTS = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])
POST = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT"])
AFTER = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "POSTFIX"])
BIG = frozenset(["BIGOP", "SUMOP", "INTOP", "LIMITOP", "DIFFOP"])
NAMES = frozenset(["ATOM", "ID", "ARRAY", "UNKNOWN"])
ADDING = frozenset(["ADDOP", "BINOP"])
MULTIPLYING = frozenset(["MULOP", "BINOP"])

# What an alternative may not use: bars as delimiters, bars as bounds, angles as relations; and how deep bars may nest.
NO_BARS, NO_BOUNDS, NO_ANGLES, DEPTH = 1, 2, 4, 8


def role_of(node: Node) -> str:
    """Return the role of a node in the grammar."""
    if node.role:
        return node.role
    if node.kind == DUAL:
        return node.children[0].role or node.children[1].role or "ATOM"
    return _ROLES_BY_KIND[node.kind]


class TooDeepError(Exception):
    """The nesting exceeds the limit of the grammar; the list stays a row."""


class Rules(ABC):
    """A cursor on nodes with roles; rules move it if they succeed and leave it if they fail."""

    __slots__ = (
        "bars_too_deep",
        "budget",
        "depth",
        "flags",
        "i",
        "kets_allowed",
        "known",
        "nodes",
        "roles",
        "saw_kets",
    )

    def __init__(self, nodes: Sequence[Node], budget: Budget) -> None:
        self.nodes = nodes
        self.budget = budget
        self.roles = [node.role or role_of(node) for node in nodes]
        self.roles.append(END)
        self.kets_allowed = True
        self.saw_kets = False
        self.bars_too_deep = False
        self.known: dict[tuple[int, int], tuple[Node | None, int]] = {}
        self.i = 0
        self.depth = 0
        self.flags = 0

    @abstractmethod
    def factor(self) -> Node | None:
        """Return one factor of a product."""

    @abstractmethod
    def expression(self) -> Node | None:
        """Return a sum."""

    @abstractmethod
    def formula(self) -> Node | None:
        """Parse relations between expressions or lists of them."""

    @abstractmethod
    def formulae(self) -> Node | None:
        """Return formulas with punctuation between them."""

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError

    def closing(self, opening: Node) -> Node | None:
        """Return the closing delimiter here, if it matches the opening one."""
        if self.roles[self.i] == "CLOSE" and is_matching(opening, self.nodes[self.i]):
            self.i += 1
            return self.nodes[self.i - 1]
        return None

    def scripts(self, node: Node) -> Node:
        """Return the node with the scripts and postfix operators that follow it."""
        while True:
            role = self.roles[self.i]
            if role in POST:
                node = scripted(node, self.nodes[self.i])
            elif role == "POSTFIX":
                node = apply(self.nodes[self.i], node)
            else:
                return node
            self.i += 1

    def _symbol(self) -> Node:
        """Return the node here with its scripts."""
        node = self.nodes[self.i]
        self.i += 1
        return self.scripts(node)

    def _punctuated(self, parts: list[Node]) -> None:
        """Append what follows as (punctuation, expression)."""
        while self.roles[self.i] == "PUNCT":
            before = self.i
            self.i += 1
            following = self.expression()
            if following is None:
                self.i = before
                return
            parts += (self.nodes[before], following)

    def _relations(self, sides: list[Node]) -> None:
        """Append what follows as (relation, expression)."""
        while True:
            before = self.i
            sign = self.relation_sign()
            if sign is None:
                return
            right = self.expression()
            if right is None:
                if self.roles[self.i] != END:
                    self.i = before
                    return
                right = ABSENT
            sides += (sign, right)

    def _decorated(self, node: Node) -> Node:
        while self.roles[self.i] in POST:
            node = decorated(node, self.nodes[self.i])
            self.i += 1
        return node

    def add_operator(self) -> Node | None:
        """Return a sign between terms, perhaps with scripts."""
        if self.roles[self.i] not in ADDING:
            return None
        self.i += 1
        return self._decorated(self.nodes[self.i - 1])

    def multiply_operator(self) -> Node | None:
        """Return a sign between factors, perhaps with scripts."""
        if self.roles[self.i] not in MULTIPLYING:
            return None
        self.i += 1
        return self._decorated(self.nodes[self.i - 1])

    def relation_sign(self) -> Node | None:
        """Return a relation or an arrow; `<<`, `>=` and the like are one sign."""
        i = self.i
        role = self.roles[i]
        if role == "RELOP":
            sign = self.nodes[i]
            key = sign.key
            if key == "less-than" or key == "greater-than":
                if self.flags & NO_ANGLES:
                    return None
                if self.roles[i + 1] == "RELOP" and self.nodes[i + 1].key in (key, "equals"):
                    self.i += 2
                    return joined_relation(sign, self.nodes[i + 1])
        elif role == "ARROW":
            sign = self.nodes[i]
        else:
            return None
        self.i += 1
        return self._decorated(sign) if self.roles[self.i] in POST else sign

    def _big_symbol(self) -> Node | None:
        role = self.roles[self.i]
        if role in BIG:
            return self._symbol()
        if role == "FLOATSUPERSCRIPT" or role == "FLOATSUBSCRIPT":
            start = self.i
            while self.roles[self.i] in SCRIPTS:
                self.i += 1
            if self.roles[self.i] in BIG:
                base = self.i
                node = self._symbol()
                for position in range(base - 1, start - 1, -1):
                    node = scripted(node, self.nodes[position], "pre")
                return node
            self.i = start
        return None

    def any_operator(self) -> Node | None:
        """Parse a single operator of any kind."""
        sign = self.relation_sign()
        if sign is not None:
            return sign
        role = self.roles[self.i]
        if role == "METARELOP" or role == "MODIFIEROP":
            self.i += 1
            return self.nodes[self.i - 1]
        if role == "OPERATOR":
            return self._symbol()
        return self.add_operator() or self.multiply_operator() or self._big_symbol()
