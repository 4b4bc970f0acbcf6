"""The grammar of formulas: a list of nodes with roles becomes one expression.

A deterministic reading with ordered choice, equivalent to the grammar of LaTeXML 0.8.7 (a rule that has
succeeded is never tried again in another way), so that trees agree with the published ones. What can be read
twice is remembered, so the time is linear in practice where the original's is exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mathamr.formulas.latex.construction import (
    ANNOTATED,
    LIMIT_FROM,
    Product,
    decorated,
    delimited_application,
    evaluated,
    fence,
    formulae,
    interpreted,
    is_matching,
    joined_relation,
    left_associated,
    listed,
    morphed_bar,
    relation,
    scripted,
)
from mathamr.formulas.latex.node import ABSENT, INVISIBLE_COMMA, INVISIBLE_TIMES, TOKEN, Node, apply, operator

END = "END"
"""Role of the place behind the last node."""

MAX_DEPTH = 40
"""Parentheses and bars within each other; what is deeper is left as a row."""

_ROLES_BY_KIND = ("UNKNOWN", "ATOM", "ATOM", "ATOM", "ATOM", "ATOM", "", "PUNCT", "ATOM", "UNKNOWN")
_SCRIPTS = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])
_POST = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT"])
_AFTER = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "POSTFIX"])
_BIG = frozenset(["BIGOP", "SUMOP", "INTOP", "LIMITOP", "DIFFOP"])
_NAMES = frozenset(["ATOM", "ID", "ARRAY", "UNKNOWN"])
_ADDING = frozenset(["ADDOP", "BINOP"])
_MULTIPLYING = frozenset(["MULOP", "BINOP"])

# What a reading may not use: bars as delimiters, bars as bounds, angles as relations; and how deep bars may nest.
_NO_BARS, _NO_BOUNDS, _NO_ANGLES, _DEPTH = 1, 2, 4, 8


def role_of(node: Node) -> str:
    """The role by which the grammar reads a node."""
    if node.role:
        return node.role
    if node.kind == 2:  # dual: its content's role, or its presentation's
        return node.children[0].role or node.children[1].role or "ATOM"
    return _ROLES_BY_KIND[node.kind]


class TooDeepError(Exception):
    """More nesting than the grammar follows; the list stays a row."""


class Grammar:
    """One reading of one list of nodes."""

    __slots__ = (
        "bars_too_deep",
        "depth",
        "flags",
        "i",
        "kets_allowed",
        "known",
        "nodes",
        "roles",
        "saw_kets",
    )

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.roles = [node.role or role_of(node) for node in nodes]
        self.roles.append(END)
        self.kets_allowed = True
        self.saw_kets = False
        self.bars_too_deep = False
        self.known: dict[tuple[int, int], tuple[Node | None, int]] = {}
        self.i = 0
        self.depth = 0
        self.flags = 0

    def parse(self, rule: str) -> Node | None:
        """The whole list as one expression by a rule (`Anything`, `Subscript`, `Superscript`), or None.

        Readings are tried in turn: with kets and bars one deep, without kets, with bars two and three deep.
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
        self.i, self.depth, self.flags = 0, 0, bars * _DEPTH
        self.known.clear()
        result = start(self)
        return result if self.roles[self.i] == END else None

    # -- whole lists

    def anything(self) -> Node | None:
        """A formula, or the pieces of one that stand alone: `= b`, `\\leq`, `+,-`, `{}^2`."""
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
        """Two or more operators in a row."""
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
        """Scripts without a base."""
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
        """`\\leq b`: something is missing at the left."""
        start = self.i
        sign = self.any_operator()
        if sign is not None:
            inner = self.expression()
            if inner is not None:
                return apply(sign, ABSENT, inner)
        self.i = start
        return None

    def subscript(self) -> Node | None:
        """What stands in a subscript: formulas, operators, with or without punctuation between."""
        return self._script_list(self.one_subscript)

    def superscript(self) -> Node | None:
        """What stands in a superscript: also primes."""
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
        """One item of a subscript."""
        node = self.formulae()
        if node is not None:
            return node
        return (
            self.operator_before_expression()
            or self.any_operator()
            or self._fenced_script(self.one_subscript)
        )

    def one_superscript(self) -> Node | None:
        """One item of a superscript."""
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

    # -- formulas: relations and lists of expressions

    def formulae(self) -> Node | None:
        """Formulas with punctuation or a relation of relations between them."""
        node = self.formula()
        return None if node is None else self.more_formulae(node)

    def more_formulae(self, first: Node) -> Node:
        """The formulas that follow the first."""
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
        """An expression, a list of expressions, or relations between them."""
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

    def _punctuated(self, parts: list[Node]) -> None:
        """Adds what follows as (punctuation, expression)."""
        while self.roles[self.i] == "PUNCT":
            before = self.i
            self.i += 1
            following = self.expression()
            if following is None:
                self.i = before
                return
            parts += (self.nodes[before], following)

    def _relations(self, sides: list[Node]) -> None:
        """Adds what follows as (relation, expression)."""
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

    def more_sides(self, left: Node, sign: Node, right: Node) -> Node:
        """What follows a first relation: a chain of relations, or a list as the right side.

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
        """A relation whose left side is missing: `= b`."""
        start = self.i
        sign = self.relation_sign()
        if sign is not None:
            right = self.expression()
            if right is not None:
                return self.more_sides(ABSENT, sign, right)
        self.i = start
        return None

    # -- expressions: sums of terms

    def expression(self) -> Node | None:
        """A sum, perhaps with a modifier (`\\pmod p`), or an operator alone between punctuation."""
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
        if self.roles[start] in _ADDING:
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
        if self.roles[self.i] not in _ADDING:
            return first
        terms, signs = [first], []
        while self.roles[self.i] in _ADDING:
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
        """`x (> 0)`: a condition in parentheses."""
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

    # -- terms: products of factors

    def term(self) -> Node | None:
        """A product, also by juxtaposition; bars behind it are bounds or conditions."""
        first = self.factor()
        if first is None:
            return None
        role = self.roles[self.i]
        if role == END:
            return first
        product = Product(first)
        while True:
            role = self.roles[self.i]
            if role in _MULTIPLYING:
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
            if not self.flags & (_NO_BARS | _NO_BOUNDS) and (
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
        """`f|_a^b`."""
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
        """`A | B`."""
        start, flags = self.i, self.flags
        self.i += 1
        self.flags |= _NO_BARS
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
        bar = self.nodes[start].with_role("MODIFIEROP", meaning="conditional")
        return apply(bar, product.node(), right)

    # -- factors

    def factor(self) -> Node | None:
        """One factor: a symbol with its scripts, a function with its argument, a group, a big operator."""
        role = self.roles[self.i]
        if role == "UNKNOWN" or role == "NUMBER":
            node = self.nodes[self.i]
            self.i += 1
            return self.scripts(node) if self.roles[self.i] in _AFTER else node
        reader = _FACTORS.get(role)
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

    def scripts(self, node: Node) -> Node:
        """The node with the scripts and postfix operators that follow it."""
        while True:
            role = self.roles[self.i]
            if role in _POST:
                node = scripted(node, self.nodes[self.i])
            elif role == "POSTFIX":
                node = apply(self.nodes[self.i], node)
            else:
                return node
            self.i += 1

    def _symbol(self) -> Node:
        """The node here with its scripts."""
        node = self.nodes[self.i]
        self.i += 1
        return self.scripts(node)

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
        """Scripts before their base, then whatever the base begins."""
        start = self.i
        while self.roles[self.i] in _SCRIPTS:
            self.i += 1
        base = self.i
        role = self.roles[base]
        follow = _FOLLOWING.get(role)
        if follow is None and role not in _NAMES:
            self.i = start
            return None
        node = self._symbol()
        for position in range(base - 1, start - 1, -1):
            node = scripted(node, self.nodes[position], "pre")
        return node if follow is None else follow(self, node)

    def _function(self) -> Node:
        return self.fenced_arguments(self._symbol())

    def _operator_function(self) -> Node:
        return self.bare_arguments(self._symbol(), True)

    def _trigonometric(self) -> Node:
        return self.bare_arguments(self._symbol(), False)

    def _big_operator(self) -> Node:
        return self.operator_arguments(self._symbol())

    def _integral(self) -> Node:
        return self.integral_arguments(self._symbol())

    def _operator(self) -> Node:
        """Operators nest: `\\nabla\\nabla f`."""
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
        return self.bare_arguments(node, True)

    def fenced_arguments(self, function: Node) -> Node:
        """The function with arguments in parentheses, if they follow."""
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
        """An argument may be a relation."""
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

    def bare_arguments(self, function: Node, trigonometric: bool) -> Node:
        """The function with its argument, in parentheses or bare: the factors up to the next sum or function."""
        before = self.i
        node = self.fenced_arguments(function)
        if self.i != before:
            return node
        first = self._bare(trigonometric)
        if first is None:
            return function
        product = Product(first)
        while True:
            before = self.i
            sign: Node | None = INVISIBLE_TIMES
            if self.roles[before] in _MULTIPLYING:
                sign = self.multiply_operator()
            following = self._bare(trigonometric) if sign is not None else None
            if sign is None or following is None:
                self.i = before
                return apply(function, product.node())
            product.join(sign, following)

    def _bare(self, trigonometric: bool) -> Node | None:
        role = self.roles[self.i]
        if role in _NAMES or role == "NUMBER":
            return self._symbol()
        if role == "OPFUNCTION" or role == "FUNCTION" or (role == "TRIGFUNCTION" and trigonometric):
            self._descend()
            node = _FACTORS[role](self)
            self.depth -= 1
            return node
        if role == "VERTBAR":
            return self._absolute()
        if role == "FLOATSUPERSCRIPT" or role == "FLOATSUBSCRIPT":
            position = self.i
            while self.roles[position] in _SCRIPTS:
                position += 1
            base = self.roles[position]
            if (
                base in _NAMES
                or base in ("OPFUNCTION", "FUNCTION")
                or (base == "TRIGFUNCTION" and trigonometric)
            ):
                return self._prescripted()
        return None

    def operator_arguments(self, head: Node) -> Node:
        """A big operator with the product that follows it."""
        return self._operand_product(head, self.factor)

    def integral_arguments(self, head: Node) -> Node:
        """An integral with its integrand, in which `d x` is a differential."""
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
            if self.roles[before] in _MULTIPLYING:
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
        if self.roles[i] in ("UNKNOWN", "ID") and self.nodes[i].key == "d" and self.roles[i + 1] in _NAMES:
            self.i += 1
            differential = self.nodes[i].with_role("DIFFOP", meaning="differential-d")
            return apply(differential, self._symbol())
        return self.factor()

    # -- groups

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError

    def closing(self, opening: Node) -> Node | None:
        """The closing delimiter here, if it answers the opening one."""
        if self.roles[self.i] == "CLOSE" and is_matching(opening, self.nodes[self.i]):
            self.i += 1
            return self.nodes[self.i - 1]
        return None

    def _group(self) -> Node | None:
        """What begins with an opening delimiter."""
        start = self.i
        opening = self.nodes[start]
        if self.roles[start + 1] == "ARRAY":
            if self.roles[start + 2] == "CLOSE":
                self.i += 3
                return self.scripts(fence(self.nodes[start : self.i]))
            if opening.key == "{":
                self.i += 2
                return interpreted(operator("cases"), (opening, self.nodes[start + 1], ABSENT))
        self._descend()
        node = self._conditional_set(opening) if opening.key == "{" else None
        if node is None:
            node = self._plain_group(opening)
        self.depth -= 1
        if node is None and opening.key == "langle":
            node = self._angled()
        return node

    def _conditional_set(self, opening: Node) -> Node | None:
        """`{x | x > 0}`."""
        start, flags = self.i, self.flags
        self.i += 1
        self.flags |= _NO_BARS
        left = self.formula()
        self.flags = flags
        role = self.roles[self.i]
        if left is not None and (role in ("MIDDLE", "VERTBAR") or self._is_colon()):
            such_that = self.nodes[self.i]
            if role == "VERTBAR":
                such_that = morphed_bar(such_that, "MIDDLE")
            self.i += 1
            right = self.formulae()
            closing = self.closing(opening) if right is not None else None
            if right is not None and closing is not None:
                parts = (opening, left, such_that, right, closing)
                return self.scripts(interpreted(operator("conditional-set"), parts))
        self.i = start
        return None

    def _is_colon(self) -> bool:
        return self.roles[self.i] == "METARELOP" and self.nodes[self.i].key == "colon"

    def _plain_group(self, opening: Node) -> Node | None:
        start = self.i
        inside = start + 1
        role = self.roles[inside]
        self.i = inside
        if role in _ADDING:
            sign = self.add_operator()
            closing = self.closing(opening) if sign is not None else None
            if sign is not None and closing is not None:
                return self.scripts(fence((opening, sign, closing)))
            self.i = inside
        node = self._operator_in_parentheses(opening)
        if node is not None:
            return node
        self.i = inside
        first = self.expression()
        if first is not None:
            node = self._group_of(opening, first)
            if node is not None:
                return node
        self.i = inside
        closing = self.closing(opening)
        if closing is not None:
            return self.scripts(fence((opening, closing)))
        sign = self.any_operator()
        if sign is not None:
            node = self._group_of(opening, sign)
            if node is not None:
                return node
        self.i = inside
        formula = self.formula()
        closing = self.closing(opening) if formula is not None else None
        if formula is not None and closing is not None:
            return self.scripts(fence((opening, formula, closing)))
        self.i = start
        return None

    def _operator_in_parentheses(self, opening: Node) -> Node | None:
        """`(\\partial_x) f`, `(a \\partial_x) f`."""
        inside = self.i
        factor: Node | None = None
        big = self._big_symbol()
        if big is None:
            factor = self.factor()
            big = self._big_symbol() if factor is not None else None
        closing = self.closing(opening) if big is not None else None
        if big is not None and closing is not None:
            inner = big if factor is None else apply(INVISIBLE_TIMES, factor, big)
            head = self.scripts(fence((opening, inner, closing)))
            operand = self.factor()
            if operand is not None:
                return apply(head, operand)
        self.i = inside
        return None

    def _big_symbol(self) -> Node | None:
        role = self.roles[self.i]
        if role in _BIG:
            return self._symbol()
        if role == "FLOATSUPERSCRIPT" or role == "FLOATSUBSCRIPT":
            start = self.i
            while self.roles[self.i] in _SCRIPTS:
                self.i += 1
            if self.roles[self.i] in _BIG:
                base = self.i
                node = self._symbol()
                for position in range(base - 1, start - 1, -1):
                    node = scripted(node, self.nodes[position], "pre")
                return node
            self.i = start
        return None

    def _group_of(self, opening: Node, first: Node) -> Node | None:
        """The rest of a group whose first item has been read."""
        after_first = self.i
        parts = [opening, first]
        self._punctuated(parts)
        if len(parts) > 2 and self.roles[self.i] == "CLOSE":
            parts.append(self.nodes[self.i])
            self.i += 1
            return self.scripts(fence(parts))
        self.i = after_first
        if self.roles[self.i] == "PUNCT":
            separator = self.nodes[self.i]
            self.i += 1
            sign = self.any_operator()
            closing = self.closing(opening) if sign is not None else None
            if sign is not None and closing is not None:
                return self.scripts(
                    interpreted(operator("group"), (opening, first, separator, sign, closing))
                )
            self.i = after_first
        closing = self.closing(opening)
        if closing is not None:
            return self.scripts(fence((opening, first, closing)))
        return None

    # -- bars and angles

    def _bar(self) -> Node | None:
        """What begins with a vertical bar: a norm, an absolute value, a ket."""
        if self.flags & _NO_BARS:
            return None
        node = self._double_bars()
        if node is None:
            node = self._absolute()
        if node is None and self.kets_allowed:
            node = self._ket()
        return node

    def _middle(self) -> Node | None:
        if (
            self.flags & _NO_BARS
            or not self.kets_allowed
            or self.nodes[self.i].key not in ("|", "parallel-to")
        ):
            return None
        return self._ket()

    def _is_single_bar(self, position: int) -> bool:
        return self.roles[position] == "VERTBAR" and self.nodes[position].key == "|"

    def _inside_bars(self) -> Node | None:
        flags = self.flags
        if flags < _DEPTH:
            self.bars_too_deep = True
            return None
        self.flags = (flags | _NO_BOUNDS) - _DEPTH
        self._descend()
        inner = self.expression()
        self.depth -= 1
        self.flags = flags
        return inner

    def _double_bars(self) -> Node | None:
        start = self.i
        if not (self._is_single_bar(start) and self._is_single_bar(start + 1)):
            return None
        self.i += 2
        inner = self._inside_bars()
        if inner is not None and self._is_single_bar(self.i) and self._is_single_bar(self.i + 1):
            self.i += 2
            opening, closing = Node(TOKEN, "OPEN", "‖"), Node(TOKEN, "CLOSE", "‖")
            return self.scripts(fence((opening, inner, closing)))
        self.i = start
        return None

    def _absolute(self) -> Node | None:
        start = self.i
        self.i += 1
        inner = self._inside_bars()
        if inner is not None and self.roles[self.i] == "VERTBAR":
            opening, closing = (
                morphed_bar(self.nodes[start], "OPEN"),
                morphed_bar(self.nodes[self.i], "CLOSE"),
            )
            self.i += 1
            return self.scripts(fence((opening, inner, closing)))
        self.i = start
        return None

    def _inside_ket(self) -> Node | None:
        flags = self.flags
        self.flags |= _NO_BARS | _NO_ANGLES
        self._descend()
        start = self.i
        inner = self.formulae()
        if inner is None and self.roles[start] in ("METARELOP", "MODIFIEROP"):
            inner = self.nodes[start]
            self.i = start + 1
        self.depth -= 1
        self.flags = flags
        return inner

    def _is_right_angle(self) -> bool:
        role, key = self.roles[self.i], self.nodes[self.i].key if self.i < len(self.nodes) else ""
        return (role == "RELOP" and key == "greater-than") or (role == "CLOSE" and key == "rangle")

    def _is_middle_bar(self) -> bool:
        role = self.roles[self.i]
        return role == "VERTBAR" or (role == "MIDDLE" and self.nodes[self.i].key in ("|", "parallel-to"))

    def _ket(self) -> Node | None:
        """`|a>`."""
        start = self.i
        self.i += 1
        inner = self._inside_ket()
        if inner is not None and self._is_right_angle():
            opening, closing = self.nodes[start].with_role("OPEN"), self.nodes[self.i].with_role("CLOSE")
            self.i += 1
            self.saw_kets = True
            return self.scripts(interpreted(operator("ket"), (opening, inner, closing)))
        self.i = start
        return None

    def _left_angle_relation(self) -> Node | None:
        return self._angled() if self.nodes[self.i].key == "less-than" else None

    def _angled(self) -> Node | None:
        """`<a|`, `<a|b>`, `<a|H|b>`, `<a>`."""
        if not self.kets_allowed:
            return None
        start = self.i
        opening = self.nodes[start].with_role("OPEN")
        self.i += 1
        left = self._inside_ket()
        if left is not None and self._is_middle_bar():
            bar = self.nodes[self.i]
            self.i += 1
            return self._after_bra(opening, left, bar)
        self.i = start + 1
        inner = self._inside_bars()
        if inner is not None and self._is_right_angle():
            closing = self.nodes[self.i].with_role("CLOSE")
            self.i += 1
            return self.scripts(fence((opening, inner, closing)))
        self.i = start
        return None

    def _after_bra(self, opening: Node, left: Node, bar: Node) -> Node:
        after_bar, flags = self.i, self.flags
        self.flags |= _NO_BARS
        self.saw_kets = True
        right = self._inside_ket()
        node: Node | None = None
        if right is not None and self._is_right_angle():
            closing = self.nodes[self.i].with_role("CLOSE")
            self.i += 1
            parts: Sequence[Node] = (opening, left, bar.with_role("MIDDLE"), right, closing)
            node = self.scripts(interpreted(operator("inner-product", role="MIDDLE"), parts))
        elif right is not None and self._is_middle_bar():
            second = self.nodes[self.i].with_role("OPEN")
            self.i += 1
            last = self._inside_ket()
            if last is not None and self._is_right_angle():
                closing = self.nodes[self.i].with_role("CLOSE")
                self.i += 1
                head = operator("quantum-operator-product")
                parts = (opening, left, bar.with_role("CLOSE"), right, second, last, closing)
                node = self.scripts(interpreted(head, parts))
        self.flags = flags
        if node is None:
            self.i = after_bar
            node = self.scripts(interpreted(operator("bra"), (opening, left, bar.with_role("CLOSE"))))
        return node

    # -- operators

    def _decorated(self, node: Node) -> Node:
        while self.roles[self.i] in _POST:
            node = decorated(node, self.nodes[self.i])
            self.i += 1
        return node

    def add_operator(self) -> Node | None:
        """A sign between terms, perhaps with scripts."""
        if self.roles[self.i] not in _ADDING:
            return None
        self.i += 1
        return self._decorated(self.nodes[self.i - 1])

    def multiply_operator(self) -> Node | None:
        """A sign between factors, perhaps with scripts."""
        if self.roles[self.i] not in _MULTIPLYING:
            return None
        self.i += 1
        return self._decorated(self.nodes[self.i - 1])

    def relation_sign(self) -> Node | None:
        """A relation or an arrow; `<<`, `>=` and the like are one sign."""
        i = self.i
        role = self.roles[i]
        if role == "RELOP":
            sign = self.nodes[i]
            key = sign.key
            if key == "less-than" or key == "greater-than":
                if self.flags & _NO_ANGLES:
                    return None
                if self.roles[i + 1] == "RELOP" and self.nodes[i + 1].key in (key, "equals"):
                    self.i += 2
                    return joined_relation(sign, self.nodes[i + 1])
        elif role == "ARROW":
            sign = self.nodes[i]
        else:
            return None
        self.i += 1
        return self._decorated(sign) if self.roles[self.i] in _POST else sign

    def any_operator(self) -> Node | None:
        """Any operator alone."""
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


_RULES: dict[str, Callable[[Grammar], Node | None]] = {
    "Anything": Grammar.anything,
    "Subscript": Grammar.subscript,
    "Superscript": Grammar.superscript,
}
_FACTORS: dict[str, Callable[[Grammar], Node | None]] = {
    "ATOM": Grammar._symbol,
    "ID": Grammar._symbol,
    "ARRAY": Grammar._name,
    "FUNCTION": Grammar._function,
    "OPFUNCTION": Grammar._operator_function,
    "TRIGFUNCTION": Grammar._trigonometric,
    "OPEN": Grammar._group,
    "INTOP": Grammar._integral,
    "BIGOP": Grammar._big_operator,
    "SUMOP": Grammar._big_operator,
    "LIMITOP": Grammar._big_operator,
    "DIFFOP": Grammar._big_operator,
    "VERTBAR": Grammar._bar,
    "MIDDLE": Grammar._middle,
    "RELOP": Grammar._left_angle_relation,
    "OPERATOR": Grammar._operator,
    "FLOATSUPERSCRIPT": Grammar._prescripted,
    "FLOATSUBSCRIPT": Grammar._prescripted,
}
_REMEMBERED = frozenset(_FACTORS) - {"ATOM", "ID", "ARRAY"}
_FOLLOWING: dict[str, Callable[[Grammar, Node], Node]] = {
    "FUNCTION": Grammar.fenced_arguments,
    "OPFUNCTION": lambda grammar, node: grammar.bare_arguments(node, True),
    "TRIGFUNCTION": lambda grammar, node: grammar.bare_arguments(node, False),
    "INTOP": Grammar.integral_arguments,
    "BIGOP": Grammar.operator_arguments,
    "SUMOP": Grammar.operator_arguments,
    "LIMITOP": Grammar.operator_arguments,
    "DIFFOP": Grammar.operator_arguments,
}
