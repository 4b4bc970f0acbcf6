"""Products: factors side by side, functions with their arguments, big operators with what they range over."""

from __future__ import annotations

from collections.abc import Callable

from mathamr.formulas.latex.assembly import (
    Product,
    delimited_application,
    evaluated,
    interpreted,
    listed,
    morphed_bar,
    relation,
    scripted,
)
from mathamr.formulas.latex.grammar.groups import Groups
from mathamr.formulas.latex.grammar.rules import AFTER, END, MULTIPLYING, NAMES, NO_BARS, NO_BOUNDS, SCRIPTS
from mathamr.formulas.latex.node import ABSENT, INVISIBLE_TIMES, TOKEN, Node, apply, operator

ENDS_OF_TERMS = frozenset(
    [END, "ADDOP", "PUNCT", "PERIOD", "METARELOP", "ARROW", "MODIFIEROP", "MODIFIER", "SUPOP", "POSTFIX"]
)
"""Roles that never continue a product."""


class Factors(Groups):
    """Rules for terms and factors."""

    __slots__ = ()

    def term(self) -> Node | None:
        """Parse a product, also by juxtaposition; bars after it are bounds or conditions."""
        first = self.factor()
        if first is None or self.roles[self.i] in ENDS_OF_TERMS:
            return first
        product = Product(first)
        while True:
            role = self.roles[self.i]
            if role in ENDS_OF_TERMS:
                return product.node()
            if role in MULTIPLYING:
                before = self.i
                sign = self.multiply_operator()
                following = self.factor() if sign is not None else None
                if sign is not None and following is not None:
                    product.join(sign, following)
                    continue
                self.i = before
            following = self.factor()
            if following is not None:
                product.join(INVISIBLE_TIMES, following)
                continue
            if not self.flags & (NO_BARS | NO_BOUNDS) and (
                role == "VERTBAR" or (role == "CLOSE" and self.nodes[self.i].key == "|")
            ):
                bounded = self._bounded(product)
                if bounded is not None:
                    product = Product(bounded)
                    continue
                conditional = self._conditional(product)
                if conditional is not None:
                    return conditional
            return product.node()

    def _bounded(self, product: Product) -> Node | None:
        """Parse bounds after a bar, `f|_a^b`; None if there are none."""
        start = self.i
        bar = self.nodes[start]
        first, second = self.roles[start + 1], self.roles[min(start + 2, len(self.roles) - 1)]
        if first == "POSTSUBSCRIPT":
            scripts = [self.nodes[start + 1]]
            if second == "POSTSUPERSCRIPT":
                scripts.append(self.nodes[start + 2])
        elif first == "POSTSUPERSCRIPT" and second == "POSTSUBSCRIPT":
            scripts = [self.nodes[start + 2], self.nodes[start + 1]]
        else:
            return None
        self.i = start + 1 + len(scripts)
        return evaluated(product.node(), bar, scripts)

    def _conditional(self, product: Product) -> Node | None:
        """Parse a conditional, `A | B` or `A || B`; None if nothing follows the bar."""
        start, flags = self.i, self.flags
        bar = self.nodes[start]
        self.i += 1
        if self.roles[start] == self.roles[self.i] == "VERTBAR" and bar.key == self.nodes[self.i].key == "|":
            bar = Node(TOKEN, "VERTBAR", "∥")
            self.i += 1
        self.flags |= NO_BARS
        first = self.expression()
        right = None
        if first is not None:
            parts = [first]
            self._punctuated(parts)
            right = listed(parts)
        self.flags = flags
        if right is None:
            self.i = start
            return None
        return apply(bar.with_role("MODIFIEROP", meaning="conditional"), product.node(), right)

    def factor(self) -> Node | None:
        """Parse one factor: a symbol with its scripts, a function with its argument, a group, a big operator."""
        self.budget.spend()
        role = self.roles[self.i]
        if role == "UNKNOWN" or role == "NUMBER":
            node = self.nodes[self.i]
            self.i += 1
            return self.scripts(node) if self.roles[self.i] in AFTER else node
        reader = READ_AS_FACTORS.get(role)
        if reader is None:
            return None
        if role not in _REMEMBERED:
            return reader(self)
        key = (~self.i, self.flags)
        known = self.known.get(key)
        if known is not None:
            node_or_none, self.i = known
            return node_or_none
        found = reader(self)
        self.known[key] = (found, self.i)
        return found

    def _name(self) -> Node:
        if (
            self.roles[self.i] == "ARRAY"
            and self.roles[self.i + 1] == "CLOSE"
            and self.nodes[self.i + 1].key == "}"
        ):
            self.i += 2
            return interpreted(operator("cases"), (ABSENT, self.nodes[self.i - 2], self.nodes[self.i - 1]))
        return self._symbol()

    def _prescripted(self) -> Node | None:
        """Parse scripts before their base, then the base."""
        start = self.i
        while self.roles[self.i] in SCRIPTS:
            self.i += 1
        base = self.i
        role = self.roles[base]
        follow = _FOLLOWING.get(role)
        if follow is None and role not in NAMES:
            self.i = start
            return None
        node = self._symbol()
        for position in range(base - 1, start - 1, -1):
            node = scripted(node, self.nodes[position], "pre")
        return node if follow is None else follow(self, node)

    def _function(self) -> Node:
        return self.fenced_arguments(self._symbol())

    def _operator_function(self) -> Node:
        return self.bare_arguments(self._symbol(), trigonometric=True)

    def _trigonometric(self) -> Node:
        return self.bare_arguments(self._symbol(), trigonometric=False)

    def _big_operator(self) -> Node:
        return self.operator_arguments(self._symbol())

    def _integral(self) -> Node:
        return self.integral_arguments(self._symbol())

    def _operator(self) -> Node:
        r"""Parse an operator with its operand; operators nest, as in `\nabla\nabla f`."""
        heads = [self._symbol()]
        while True:
            role = self.roles[self.i]
            if role == "OPERATOR":
                heads.append(self._symbol())
                continue
            if role in ("FUNCTION", "OPFUNCTION", "TRIGFUNCTION"):
                heads.append(self._symbol())
            elif role == "OPEN":
                start = self.i
                opening = self.nodes[start]
                self.i += 1
                self._descend()
                inner = self.expression()
                self.depth -= 1
                closing = self.closing(opening) if inner is not None else None
                if inner is None or closing is None:
                    self.i = start
                else:
                    heads[-1] = delimited_application(heads[-1], (opening, inner, closing))
            break
        node = heads.pop()
        while heads:
            node = apply(heads.pop(), node)
        return self.bare_arguments(node, trigonometric=True)

    def fenced_arguments(self, function: Node) -> Node:
        """Return the function with arguments in parentheses, if they follow."""
        start = self.i
        if self.roles[start] != "OPEN":
            return function
        opening = self.nodes[start]
        self._descend()
        parts = [opening]
        self.i += 1
        item = self.argument()
        while item is not None:
            parts.append(item)
            role = self.roles[self.i]
            if role not in ("PUNCT", "MIDDLE", "VERTBAR"):
                break
            before = self.i
            self.i += 1
            item = self.argument()
            if item is None:
                self.i = before
                break
            separator = self.nodes[before]
            parts.append(morphed_bar(separator, "PUNCT") if role == "VERTBAR" else separator)
        self.depth -= 1
        closing = self.closing(opening) if len(parts) > 1 else None
        if closing is None:
            self.i = start
            return function
        parts.append(closing)
        return delimited_application(function, parts)

    def argument(self) -> Node | None:
        """Parse an argument, which may be a relation."""
        node = self.expression()
        if node is None:
            return None
        while True:
            before = self.i
            sides = [node]
            self._relations(sides)
            if len(sides) > 1:
                node = relation(sides)
                continue
            if self.roles[self.i] == "METARELOP":
                self.i += 1
                right = self.formula()
                if right is not None:
                    node = apply(self.nodes[before], node, right)
                    continue
                self.i = before
            return node

    def bare_arguments(self, function: Node, *, trigonometric: bool) -> Node:
        """Return the function with its argument, in parentheses or bare: the factors up to the next sum or function."""
        before = self.i
        node = self.fenced_arguments(function)
        if self.i != before:
            return node
        first = self._bare(trigonometric=trigonometric)
        if first is None:
            return function
        product = Product(first)
        while True:
            before = self.i
            sign: Node | None = INVISIBLE_TIMES
            if self.roles[before] in MULTIPLYING:
                sign = self.multiply_operator()
            following = self._bare(trigonometric=trigonometric) if sign is not None else None
            if sign is None or following is None:
                self.i = before
                return apply(function, product.node())
            product.join(sign, following)

    def _bare(self, *, trigonometric: bool) -> Node | None:
        role = self.roles[self.i]
        if role in NAMES or role == "NUMBER":
            return self._symbol()
        if role == "OPFUNCTION" or role == "FUNCTION" or (role == "TRIGFUNCTION" and trigonometric):
            self._descend()
            node = READ_AS_FACTORS[role](self)
            self.depth -= 1
            return node
        if role == "VERTBAR":
            return self._absolute()
        if role == "FLOATSUPERSCRIPT" or role == "FLOATSUBSCRIPT":
            position = self.i
            while self.roles[position] in SCRIPTS:
                position += 1
            base = self.roles[position]
            if (
                base in NAMES
                or base in ("OPFUNCTION", "FUNCTION")
                or (base == "TRIGFUNCTION" and trigonometric)
            ):
                return self._prescripted()
        return None

    def operator_arguments(self, head: Node) -> Node:
        """Return a big operator with the product that follows it."""
        return self._operand_product(head, self.factor)

    def integral_arguments(self, head: Node) -> Node:
        """Return an integral with its integrand, in which `d x` is a differential."""
        return self._operand_product(head, self._integrand_factor)

    def _operand_product(self, head: Node, factor: Callable[[], Node | None]) -> Node:
        self._descend()
        first = factor()
        if first is None:
            self.depth -= 1
            return head
        product = Product(first)
        while True:
            before = self.i
            sign: Node | None = INVISIBLE_TIMES
            if self.roles[before] in MULTIPLYING:
                sign = self.multiply_operator()
            following = factor() if sign is not None else None
            if following is None and self.i != before:
                self.i = before
                sign = INVISIBLE_TIMES
                following = factor()
            if sign is None or following is None:
                self.i = before
                self.depth -= 1
                return apply(head, product.node())
            product.join(sign, following)

    def _integrand_factor(self) -> Node | None:
        i = self.i
        if self.roles[i] in ("UNKNOWN", "ID") and self.nodes[i].key == "d" and self.roles[i + 1] in NAMES:
            self.i += 1
            differential = self.nodes[i].with_role("DIFFOP", meaning="differential-d")
            return apply(differential, self._symbol())
        return self.factor()


READ_AS_FACTORS: dict[str, Callable[[Factors], Node | None]] = {
    "ATOM": Factors._symbol,
    "ID": Factors._symbol,
    "ARRAY": Factors._name,
    "FUNCTION": Factors._function,
    "OPFUNCTION": Factors._operator_function,
    "TRIGFUNCTION": Factors._trigonometric,
    "OPEN": Factors._group,
    "INTOP": Factors._integral,
    "BIGOP": Factors._big_operator,
    "SUMOP": Factors._big_operator,
    "LIMITOP": Factors._big_operator,
    "DIFFOP": Factors._big_operator,
    "VERTBAR": Factors._bar,
    "MIDDLE": Factors._middle,
    "RELOP": Factors._left_angle_relation,
    "OPERATOR": Factors._operator,
    "FLOATSUPERSCRIPT": Factors._prescripted,
    "FLOATSUBSCRIPT": Factors._prescripted,
}
_REMEMBERED = frozenset(READ_AS_FACTORS) - {"ATOM", "ID", "ARRAY"}
_FOLLOWING: dict[str, Callable[[Factors, Node], Node]] = {
    "FUNCTION": Factors.fenced_arguments,
    "OPFUNCTION": lambda grammar, node: grammar.bare_arguments(node, trigonometric=True),
    "TRIGFUNCTION": lambda grammar, node: grammar.bare_arguments(node, trigonometric=False),
    "INTOP": Factors.integral_arguments,
    "BIGOP": Factors.operator_arguments,
    "SUMOP": Factors.operator_arguments,
    "LIMITOP": Factors.operator_arguments,
    "DIFFOP": Factors.operator_arguments,
}
