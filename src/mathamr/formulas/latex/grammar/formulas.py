"""The grammar of formulas: a list of nodes with roles becomes one expression.

A deterministic parser with ordered choice, equivalent to the grammar of LaTeXML 0.8.7 (a rule that has
succeeded is never tried again with another alternative), so that trees agree with the published ones. Results
are memoised, so the time is linear in practice where the original's is exponential.
"""

from __future__ import annotations

from collections.abc import Callable

from mathamr.formulas.latex.assembly import (
    ANNOTATED,
    LIMIT_FROM,
    fence,
    formulae,
    left_associated,
    listed,
    relation,
    scripted,
)
from mathamr.formulas.latex.grammar.factors import Factors
from mathamr.formulas.latex.grammar.rules import ADDING, DEPTH, END
from mathamr.formulas.latex.node import ABSENT, INVISIBLE_COMMA, TOKEN, Node, apply


class Grammar(Factors):
    """Parses one list of nodes: formulas, sums, and incomplete formulas."""

    __slots__ = ()

    def parse(self, rule: str) -> Node | None:
        """Parse the complete list as one expression by a rule (`Anything`, `Subscript`, `Superscript`); return None if it does
        not fit.

        Alternatives are tried in turn: with kets and bars one deep, without kets, with bars two and three deep.
        """
        start = _RULES[rule]
        result = self._attempt(start, 1)
        if result is None and self.saw_kets:
            self.kets_allowed = False
            result = self._attempt(start, 1)
        bars = 1
        while result is None and self.bars_too_deep and bars < 3:
            bars += 1
            self.bars_too_deep = False
            result = self._attempt(start, bars)
        return result

    def _attempt(self, start: Callable[[Grammar], Node | None], bars: int) -> Node | None:
        self.i, self.depth, self.flags = 0, 0, bars * DEPTH
        self.known.clear()
        result = start(self)
        return result if self.roles[self.i] == END else None

    def anything(self) -> Node | None:
        """Parse a formula, or an incomplete one: `= b`, `\\leq`, `+,-`, `{}^2`."""
        node = self.formulae()
        if node is not None:
            return node
        role, first = self.roles[0], self.nodes[0]
        if role == "OPEN":
            self.i = 1
            inner = self.formulae()
            if inner is not None and self.roles[self.i] == "CLOSE":
                self.i += 1
                return fence((first, inner, self.nodes[self.i - 1]))
            self.i = 0
        inner = self.modifier_formula()
        if inner is not None:
            return self.more_formulae(inner)
        if role == "OPEN":
            self.i = 1
            inner = self.modifier_formula()
            if inner is not None and self.roles[self.i] == "CLOSE":
                self.i += 1
                return fence((first, inner, self.nodes[self.i - 1]))
            self.i = 0
        if role == "MODIFIER":
            self.i = 1
            return first
        if role == "MODIFIEROP":
            self.i = 1
            inner = self.expression()
            if inner is not None:
                return apply(first, ABSENT, inner)
        if role == "METARELOP":
            self.i = 1
            inner = self.formula()
            if inner is not None:
                return apply(first, ABSENT, inner)
        self.i = 0
        return self.operators() or self.floating_scripts() or self.operator_before_expression()

    def operators(self) -> Node | None:
        """Return two or more operators in a row."""
        parts: list[Node] = []
        sign = self.any_operator()
        while sign is not None:
            parts.append(sign)
            before = self.i
            separator = INVISIBLE_COMMA
            if self.roles[self.i] == "PUNCT":
                separator = self.nodes[self.i]
                self.i += 1
            sign = self.any_operator()
            if sign is None:
                self.i = before
            else:
                parts.append(separator)
        if len(parts) > 1:
            return listed(parts)
        self.i = 0
        return None

    def floating_scripts(self) -> Node | None:
        """Parse scripts without a base."""
        first, second = self.roles[0], self.roles[1] if len(self.nodes) > 1 else END
        if first not in ("FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"):
            return None
        self.i = 1
        node = scripted(ABSENT, self.nodes[0])
        if second == ("POSTSUBSCRIPT" if first == "FLOATSUPERSCRIPT" else "POSTSUPERSCRIPT"):
            self.i = 2
            node = scripted(node, self.nodes[1])
        return node

    def operator_before_expression(self) -> Node | None:
        """Parse `\\leq b`, whose left side is missing."""
        start = self.i
        sign = self.any_operator()
        if sign is not None:
            inner = self.expression()
            if inner is not None:
                return apply(sign, ABSENT, inner)
        self.i = start
        return None

    def subscript(self) -> Node | None:
        """Parse a subscript: formulas, operators, with or without punctuation between them."""
        return self._script_list(self.one_subscript)

    def superscript(self) -> Node | None:
        """Parse a superscript, which may also hold primes."""
        return self._script_list(self.one_superscript)

    def _script_list(self, item: Callable[[], Node | None]) -> Node | None:
        first = item()
        if first is None:
            return None
        parts = [first]
        while True:
            before = self.i
            separator = INVISIBLE_COMMA
            if self.roles[self.i] == "PUNCT":
                separator = self.nodes[self.i]
                self.i += 1
            following = item()
            if following is None:
                self.i = before
                break
            parts += (separator, following)
        if self.roles[self.i] in ("PUNCT", "PERIOD"):
            parts.append(self.nodes[self.i])
            self.i += 1
        return listed(parts)

    def one_subscript(self) -> Node | None:
        """Return one item of a subscript."""
        node = self.formulae()
        if node is not None:
            return node
        return (
            self.operator_before_expression()
            or self.any_operator()
            or self._fenced_script(self.one_subscript)
        )

    def one_superscript(self) -> Node | None:
        """Return one item of a superscript."""
        start = self.i
        while self.roles[self.i] == "SUPOP":
            self.i += 1
        if self.i > start:
            return Node(TOKEN, "SUPOP", "".join(node.text for node in self.nodes[start : self.i]))
        node = self.formulae()
        if node is not None:
            return node
        return (
            self.operator_before_expression()
            or self.any_operator()
            or self._fenced_script(self.one_superscript)
        )

    def _fenced_script(self, item: Callable[[], Node | None]) -> Node | None:
        start = self.i
        if self.roles[start] == "OPEN":
            self._descend()
            self.i += 1
            inner = item()
            self.depth -= 1
            if inner is not None and self.roles[self.i] == "CLOSE":
                self.i += 1
                return fence((self.nodes[start], inner, self.nodes[self.i - 1]))
        self.i = start
        return None

    def formulae(self) -> Node | None:
        """Parse formulas with punctuation between them, or with signs that relate relations (`METARELOP`)."""
        node = self.formula()
        return None if node is None else self.more_formulae(node)

    def more_formulae(self, first: Node) -> Node:
        """Return the formulas that follow the first."""
        roles = self.roles
        parts = [first]
        while roles[self.i] in ("PUNCT", "PERIOD"):
            before = self.i
            self.i += 1
            following = self.formula()
            if following is None:
                self.i = before
                break
            parts += (self.nodes[before], following)
        if len(parts) > 1:
            return formulae(parts)
        while roles[self.i] == "METARELOP":
            before = self.i
            self.i += 1
            if roles[self.i] == END:
                parts += (self.nodes[before], ABSENT)
                break
            following = self.formula()
            if following is None:
                self.i = before
                break
            parts += (self.nodes[before], following)
        return relation(parts)

    def formula(self) -> Node | None:
        """Return an expression, a list of expressions, or relations between them."""
        first = self.expression()
        if first is None:
            return None
        role = self.roles[self.i]
        if role == END:
            return first
        if role == "PUNCT":
            parts = [first]
            self._punctuated(parts)
            if len(parts) > 1:
                sides = [listed(parts)]
                self._relations(sides)
                return relation(sides)
        before = self.i
        sign = self.relation_sign()
        if sign is not None:
            right = self.expression()
            if right is not None:
                return self.more_sides(first, sign, right)
            if self.roles[self.i] == END:
                return relation((first, sign, ABSENT))
            self.i = before
        return first

    def more_sides(self, left: Node, sign: Node, right: Node) -> Node:
        """Parse what follows a first relation: a chain of relations, or a list as the right side.

        In `a = b, c, d = e` the last item of the list begins the next formula.
        """
        done: list[Node] = []
        while True:
            if self.roles[self.i] != "PUNCT":
                sides = [left, sign, right]
                self._relations(sides)
                return self._nested(done, relation(sides))
            items = [right]
            self._punctuated(items)
            if len(items) == 1:
                sides = [left, sign, right]
                self._relations(sides)
                return self._nested(done, relation(sides))
            before = self.i
            next_sign = self.relation_sign()
            following = self.expression() if next_sign is not None else None
            if next_sign is None or following is None:
                self.i = before
                return self._nested(done, relation((left, sign, listed(items))))
            done += (relation((left, sign, listed(items[:-2]))), items[-2])
            left, sign, right = items[-1], next_sign, following

    @staticmethod
    def _nested(done: list[Node], last: Node) -> Node:
        for position in range(len(done) - 2, -1, -2):
            last = formulae((done[position], done[position + 1], last))
        return last

    def modifier_formula(self) -> Node | None:
        """Return a relation whose left side is missing: `= b`."""
        start = self.i
        sign = self.relation_sign()
        if sign is not None:
            right = self.expression()
            if right is not None:
                return self.more_sides(ABSENT, sign, right)
        self.i = start
        return None

    def expression(self) -> Node | None:
        """Return a sum, perhaps with a modifier (`\\pmod p`), or an operator alone between punctuation."""
        key = (self.i, self.flags)
        known = self.known.get(key)
        if known is not None:
            node, self.i = known
            return node
        start = self.i
        node = self._sum()
        if node is not None:
            node = self._modified(node)
        else:
            node = self.any_operator()
            if node is not None and self.roles[self.i] not in (END, "PUNCT", "CLOSE"):
                node, self.i = None, start
        self.known[key] = (node, self.i)
        return node

    def _sum(self) -> Node | None:
        start = self.i
        first: Node | None = None
        if self.roles[start] in ADDING:
            sign = self.add_operator()
            if sign is not None:
                first = self.term()
                if first is None:
                    self.i = start
                else:
                    first = apply(sign, first)
        if first is None:
            first = self.term()
            if first is None:
                return None
        if self.roles[self.i] not in ADDING:
            return first
        terms, signs = [first], []
        while self.roles[self.i] in ADDING:
            sign = self.add_operator()
            if sign is None:
                break
            following = self.term()
            if following is None:
                terms[-1] = apply(LIMIT_FROM, terms[-1], sign)
                break
            signs.append(sign)
            terms.append(following)
        return left_associated(terms, signs)

    def _modified(self, node: Node) -> Node:
        role = self.roles[self.i]
        if role == "OPEN" or (role == "PUNCT" and self.roles[self.i + 1] == "OPEN"):
            return self._annotated(node)
        if role == "MODIFIER":
            self.i += 1
            return apply(ANNOTATED, node, self.nodes[self.i - 1])
        if role == "MODIFIEROP":
            before = self.i
            self.i += 1
            right = self.expression()
            if right is None:
                self.i = before
            else:
                return apply(self.nodes[before], node, right)
        return node

    def _annotated(self, node: Node) -> Node:
        """Parse a condition in parentheses after an expression, `x (> 0)`."""
        start = self.i
        if self.roles[start] == "PUNCT":
            self.i += 1
        opening = self.nodes[self.i]
        self.i += 1
        self._descend()
        if self.roles[self.i] == "MODIFIEROP":
            sign: Node | None = self.nodes[self.i]
            self.i += 1
        else:
            sign = self.relation_sign()
        inner = self.expression() if sign is not None else None
        self.depth -= 1
        if sign is not None and inner is not None:
            closing = self.closing(opening)
            if closing is not None:
                return apply(ANNOTATED, node, fence((opening, apply(sign, ABSENT, inner), closing)))
        self.i = start
        return node


_RULES: dict[str, Callable[[Grammar], Node | None]] = {
    "Anything": Grammar.anything,
    "Subscript": Grammar.subscript,
    "Superscript": Grammar.superscript,
}
