"""Factors side by side: symbols with their scripts, functions with their arguments, operators with their operands."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.node import ABSENT, APPLY, TOKEN, Node, apply, operator
from mathamr.formulas.semantics.application import is_applied
from mathamr.formulas.semantics.bigoperators import sequence
from mathamr.formulas.semantics.bracketed import arguments
from mathamr.formulas.semantics.derivatives import (
    awaits_function,
    completed,
    differential_end,
    is_usual_differential,
)
from mathamr.formulas.semantics.items import (
    Group,
    Item,
    is_group,
    is_middle,
    is_sign,
    is_words,
    role,
    scripts_end,
)
from mathamr.formulas.semantics.letters import is_letter, is_structure, letter
from mathamr.formulas.semantics.nodes import applied, bound, indexed, named, power, product
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.scripts import scripted
from mathamr.formulas.semantics.sums import is_negative_one, is_sum_sign
from mathamr.formulas.semantics.traits import GROUP, POSTFIX, SCRIPTED, SCRIPTS, SYMBOL, item_traits

_BEHIND = frozenset(["POSTFIX", "POSTSUPERSCRIPT", "POSTSUBSCRIPT"])
_NAMED = frozenset(["FUNCTION", "OPFUNCTION", "TRIGFUNCTION"])
_INVERSES = {
    "sine": "inverse-sine", "cosine": "inverse-cosine", "tangent": "inverse-tangent", "cotangent": "inverse-cotangent",
    "secant": "inverse-secant", "cosecant": "inverse-cosecant", "hyperbolic-sine": "inverse-hyperbolic-sine",
    "hyperbolic-cosine": "inverse-hyperbolic-cosine", "hyperbolic-tangent": "inverse-hyperbolic-tangent",
}  # fmt: skip


class FactorRun:
    """Factors side by side, read from the left."""

    def __init__(self, items: Sequence[Item], grammar: MeaningGrammar) -> None:
        self.items = items
        self.grammar = grammar
        self.i = 0

    def node(self) -> Node:
        """Returns all factors as a product."""
        factors: list[Node] = []
        while self.i < len(self.items):
            factors.append(self._factor())
        return product(factors) if factors else ABSENT

    def _rest(self) -> Node | None:
        """Returns the product of everything that follows."""
        if self.i >= len(self.items):
            return None
        rest = self.grammar.product(self.items[self.i :])
        self.i = len(self.items)
        return rest

    def _factor(self) -> Node:
        item = self.items[self.i]
        if item_traits(item) & (SYMBOL | GROUP):
            return self._symbol(item)
        kind = role(item)
        if kind in ("FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"):
            return self._prescripted()
        if isinstance(item, Node) and (kind in _NAMED or self._is_named_operator(item)):
            return self._function(item)
        if isinstance(item, Node) and is_sum_sign(item):
            self.i += 1
            return apply(item, self._factor()) if self.i < len(self.items) else item
        if isinstance(item, Node) and kind == "DIFFOP":
            return self._partial(item)
        if isinstance(item, Node) and kind == "OPERATOR":
            return self._operated(item)
        if isinstance(item, Node) and self._is_word(item):
            return self._function(Node(TOKEN, "OPFUNCTION", item.text.strip()))
        if is_usual_differential(self.items, self.i):
            end = differential_end(self.items, self.i)
            inner = self.grammar.product(self.items[self.i + 1 : end])
            self.i = end
            return named("differential-d", inner)
        return self._symbol(item)

    def _is_word(self, item: Node) -> bool:
        """True if text names a function: one word before a group, `\\text{Re}(z)`."""
        following = self.items[self.i + 1] if self.i + 1 < len(self.items) else None
        return (
            is_words(item)
            and item.text.strip().isalpha()
            and following is not None
            and is_group(following, "([{")
        )

    def _is_named_operator(self, item: Node) -> bool:
        return item.meaning in ("determinant", "dimension", "supremum", "infimum") and role(item) == "LIMITOP"

    def _scripts(self) -> list[Node]:
        """Reads the scripts that follow."""
        end = scripts_end(self.items, self.i)
        if end == self.i:
            return []
        found = [item for item in self.items[self.i : end] if isinstance(item, Node)]
        self.i = end
        return found

    def _prescripted(self) -> Node:
        """Reads scripts before their base: `{}^nC_k`."""
        before = self._scripts()
        node = ABSENT if self.i >= len(self.items) else self._factor()
        for script in before:
            inner = self.grammar.node(script.children[0])
            node = power(node, inner) if script.role.endswith("SUPERSCRIPT") else indexed(node, inner)
        return node

    def _postfixed(self, node: Node) -> Node:
        """Returns the node with what directly follows it: factorials, and scripts on them."""
        while self.i < len(self.items):
            item = self.items[self.i]
            if not item_traits(item) & (POSTFIX | SCRIPTED) or role(item) not in _BEHIND:
                break
            if role(item) == "POSTFIX" and isinstance(item, Node):
                node = apply(item, node)
                self.i += 1
            else:
                node = scripted(item, node, self._scripts(), self.grammar)
        return node

    def _symbol(self, item: Item) -> Node:
        """Reads one symbol or group with its scripts, applied to the next group if it is a function."""
        self.i += 1
        grammar = self.grammar
        base = grammar.fence(item) if isinstance(item, Group) else grammar.node(item)
        scripts = self._scripts()
        if isinstance(item, Group) and scripts and item.opening in "({":
            found = sequence(_inside(item, base), scripts, grammar)
            if found is not None:
                return self._postfixed(found)
        meaning = scripted(item, base, scripts, grammar) if scripts else base
        if isinstance(item, Node) and awaits_function(meaning):
            rest = self._rest()
            return meaning if rest is None else completed(meaning, rest)
        group = self.items[self.i] if self.i < len(self.items) else None
        if isinstance(group, Group) and self._applies(item, meaning, group):
            self.i += 1
            meaning = self._argued(item, meaning, group)
        return self._postfixed(meaning)

    def _applies(self, item: Item, meaning: Node, group: Group) -> bool:
        """True if what was read is applied to the group."""
        if isinstance(item, Group):
            return item.opening == "(" and group.opening == "(" and self._is_function_group(item)
        if group.opening == "[":
            return is_letter(item) and (
                is_structure(item) or letter(item) in "EPℙ𝔼CLkRFKAQ" or len(item.text) > 1
            )
        if group.opening != "(" or not is_letter(item):
            return False
        return is_structure(item) or is_applied(item, meaning, group, self.grammar)

    def _is_function_group(self, item: Group) -> bool:
        """True for `(f\\circ g)(x)`, `(f+g)(x)`: a group of functions is a function."""
        if any(is_sign(each, "compose", "∘") for each in item.items):
            return True
        notes = self.grammar.notes
        letters = [each for each in item.items if isinstance(each, Node) and not is_sum_sign(each)]
        known = notes.functions | notes.context.functions | set("fghFG")
        return bool(letters) and all(is_letter(each) and letter(each) in known for each in letters)

    def _argued(self, item: Item, meaning: Node, group: Group) -> Node:
        operands = arguments(group, self.grammar)
        if (
            isinstance(item, Node)
            and is_letter(item)
            and (_is_ring(item) or (group.opening == "[" and letter(item) in "kRFKAQ" and _is_small(group)))
        ):
            return named("adjoin", meaning, *operands)
        if group.opening == "[" and isinstance(item, Node) and item.text in ("C", "L") and len(operands) > 1:
            return applied(meaning, [self.grammar.fence(group)])
        return applied(meaning, operands)

    def _function(self, head: Node) -> Node:
        """Reads a named function with its scripts and its argument: a group, or what follows up to the next function."""
        self.i += 1
        scripts = self._scripts()
        grammar = self.grammar
        name, powers, below = head, [], []
        for script in scripts:
            if script.role.endswith("SUPERSCRIPT"):
                if is_negative_one(grammar.items(script.children[0])) and head.meaning in _INVERSES:
                    name = operator(_INVERSES[head.meaning])
                    grammar.notes.decide(
                        f"{head.text}^{{-1}}", "the inverse function", "a function is not divided by"
                    )
                else:
                    powers.append(script)
            else:
                below.append(grammar.node(script.children[0]))
        operands = self._operands(head)
        if not operands:
            bare = name
            for each in below:
                bare = indexed(bare, each)
            return scripted(head, bare, powers, grammar) if powers else bare
        if below and head.meaning in ("logarithm",):
            node = apply(name, *operands, *below)
        elif below:
            node = applied(indexed(name, *below), operands)
        else:
            node = applied(name, operands)
        for script in powers:
            node = power(node, grammar.node(script.children[0]))
        return self._postfixed(node)

    def _operands(self, head: Node) -> list[Node]:
        """Reads the arguments that follow a named function."""
        if self.i >= len(self.items):
            return []
        item = self.items[self.i]
        if isinstance(item, Group) and item.opening in "([{" and item.closing in ")]}":
            self.i += 1
            if item.opening == "{" and any(
                is_middle(each) or is_sign(each, "colon", ":") for each in item.items
            ):
                return [self.grammar.fence(item)]
            return arguments(item, self.grammar)
        start = self.i
        end = self._argument_end()
        if end == start:
            return []
        self.i = end
        return [self.grammar.product(self.items[start:end])]

    def _argument_end(self) -> int:
        """Returns the position after a bare argument: factors up to the next function or group that is not applied."""
        position = self.i
        first = True
        while position < len(self.items):
            item = self.items[position]
            kind = role(item)
            if kind in _NAMED:
                return len(self.items) if first else position
            if isinstance(item, Group):
                if item.opening in "|‖∥⌊⌈":
                    if not first:
                        return position
                elif not self._follows_function(position):
                    return position
            if not first and is_usual_differential(self.items, position):
                return position
            position += 1
            position = scripts_end(self.items, position)
            while position < len(self.items) and role(self.items[position]) == "POSTFIX":
                position += 1
            first = False
        return position

    def _follows_function(self, position: int) -> bool:
        """True if the group at a place is the argument of the letter before it."""
        before = position - 1
        while before > self.i and role(self.items[before]) in SCRIPTS:
            before -= 1
        head = self.items[before]
        group = self.items[position]
        if (
            before < self.i
            or not isinstance(head, Node)
            or not is_letter(head)
            or not isinstance(group, Group)
        ):
            return False
        return self._applies(head, head, group)

    def _partial(self, head: Node) -> Node:
        """Reads `\\partial_x f`: the derivative of the next factor."""
        self.i += 1
        scripts = self._scripts()
        below = [script for script in scripts if script.role.endswith("SUBSCRIPT")]
        operand = self._factor() if self.i < len(self.items) else ABSENT
        if not below:
            node = apply(head, operand) if operand is not ABSENT else head
            return node
        variables = _variables_of(below[0], scripts, self.grammar)
        return apply(head, operand, *variables)

    def _operated(self, head: Node) -> Node:
        """Applies an operator to the next factor: `\\nabla f`."""
        self.i += 1
        scripts = self._scripts()
        node = scripted(head, head, scripts, self.grammar) if scripts else head
        if self.i >= len(self.items):
            return node
        item = self.items[self.i]
        if isinstance(item, Group) and item.opening == "(":
            self.i += 1
            return applied(node, arguments(item, self.grammar))
        return applied(node, [self._factor()])


def _variables_of(below: Node, scripts: Sequence[Node], grammar: MeaningGrammar) -> list[Node]:
    """Returns the variables in the index of a partial derivative: `\\partial_{xy}`, `\\partial_x^2`."""
    orders = [grammar.node(script.children[0]) for script in scripts if script.role.endswith("SUPERSCRIPT")]
    items = grammar.items(below.children[0])
    if len(items) > 1 and all(isinstance(item, Node) and is_letter(item) for item in items):
        return [bound(grammar.product([item])) for item in items]
    return [bound(grammar.node(below.children[0]), *orders)]


def _inside(group: Group, base: Node) -> Node:
    """Returns the item of a sequence, without the braces of a set."""
    if (
        group.opening == "{"
        and base.kind == APPLY
        and base.children[0].meaning == "set"
        and len(base.children) == 2
    ):
        return base.children[1]
    return base


def _is_ring(node: Node) -> bool:
    """True if something can be adjoined to a letter: a blackboard one."""
    return is_structure(node) and (node.font.family == "blackboard" or node.text in "ℝℕℤℂℚ")


def _is_small(group: Group) -> bool:
    """True if brackets hold what is adjoined to a ring: letters and roots."""
    return all(
        role(item) in ("UNKNOWN", "ID", "PUNCT", "ATOM") or role(item) in SCRIPTS for item in group.items
    )
