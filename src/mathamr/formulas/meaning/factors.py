"""`FactorReader`: factors side by side: symbols with scripts, functions with arguments, groups, operators with operands."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import script_operator
from mathamr.formulas.latex.node import ABSENT, APPLY, TOKEN, Node, apply, operator
from mathamr.formulas.meaning.items import (
    NAMED,
    PARTIAL,
    Group,
    Item,
    find_item,
    is_colon,
    is_letter,
    is_middle,
    is_sign,
    item_role,
    letter_name,
    letters_in,
    list_parts,
    names_set,
    scripts_end,
)
from mathamr.formulas.meaning.reading import Reading, apply_function, apply_named, make_number, multiply

_FUNCTIONS = frozenset("fghFGHΦΨφϕψΓζηχρOoΘℙ𝔼𝒪")
"""Letters that are functions whenever parentheses follow them."""
_CAPITALS = frozenset("ABCDEIJKLMNPQRSTUVWXYZ")
"""Capital letters are functions of anything but capitals: `P(x+1)` is, `A(B+C)` is a product."""
_CURVES, _ARGUMENTS = frozenset("uvwq"), frozenset("xyztsτθωnkm")
"""Small letters that are often functions, and their usual variables."""
_DIFFERENTIABLE = frozenset("fghFφϕψΦΨΓζyuvwpqr")
"""Letters whose prime is a derivative."""
_AROUND = {"||": "absolute-value", "∥∥": "norm", "‖‖": "norm", "⌊⌋": "floor", "⌈⌉": "ceiling"}
_INTERVALS = {"[]": "closed-interval", "(]": "open-closed-interval", "[)": "closed-open-interval"}
_INDEX, _POWER = script_operator("SUBSCRIPTOP", "post", 0), script_operator("SUPERSCRIPTOP", "post", 0)


class FactorReader:
    """Factors side by side, read from the left."""

    def __init__(self, items: Sequence[Item], reading: Reading) -> None:
        self._items, self._reading, self._i = items, reading, 0

    def node(self) -> Node:
        """Return all factors as a product."""
        factors: list[Node] = []
        while self._i < len(self._items):
            factors.append(self._factor())
        return multiply(factors) if factors else ABSENT

    def _next(self) -> Item | None:
        return self._items[self._i] if self._i < len(self._items) else None

    def _factor(self) -> Node:
        item = self._items[self._i]
        kind = item_role(item)
        if isinstance(item, Group) or kind in ("UNKNOWN", "ID", "NUMBER", "ATOM"):
            return self._symbol(item)
        if kind in ("FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"):
            scripts = self._scripts()
            base = self._factor() if self._next() is not None else ABSENT
            return self._scripted(base, base, scripts)
        if kind in NAMED or (kind == "LIMITOP" and item.meaning in ("determinant", "dimension")):
            self._i += 1
            return self._function(item)
        if kind == "ADDOP":
            self._i += 1
            return apply(item, self._factor()) if self._next() is not None else item
        if kind in ("DIFFOP", "OPERATOR"):
            self._i += 1
            node = self._scripted(item, item, self._scripts())
            return node if self._next() is None else apply_function(node, [self._factor()])
        return self._symbol(item)

    def _scripts(self) -> list[Node]:
        end = scripts_end(self._items, self._i)
        found = [item for item in self._items[self._i : end] if isinstance(item, Node)]
        self._i = end
        return found

    def _postfixed(self, node: Node) -> Node:
        """Return the node with factorials that directly follow it, and scripts on them."""
        while isinstance(item := self._next(), Node):
            if item_role(item) == "POSTFIX":
                node = apply(item, node)
                self._i += 1
            elif item_role(item) in ("POSTSUPERSCRIPT", "POSTSUBSCRIPT"):
                node = self._scripted(item, node, self._scripts())
            else:
                break
        return node

    def _symbol(self, item: Item) -> Node:
        """Read one symbol or group with its scripts, applied to the next group if it is a function."""
        self._i += 1
        base = self._fence(item) if isinstance(item, Group) else self._reading.node(item)
        node = self._scripted(item, base, self._scripts())
        if (
            node.kind == APPLY
            and len(node.children) > 2
            and node.children[1] is ABSENT
            and self._next() is not None
            and node.children[0].meaning in ("differential", PARTIAL)
        ):  # the function follows
            rest = self._reading.product(self._items[self._i :])
            self._i = len(self._items)
            return apply(node.children[0], rest, *node.children[2:])
        group = self._next()
        if (
            isinstance(item, Node)
            and isinstance(group, Group)
            and is_letter(item)
            and self._applies(item, node, group)
        ):
            self._i += 1
            node = apply_function(node, self._arguments(group))
            if not names_set(item):
                self._reading.functions.add(letter_name(item))
        return self._postfixed(node)

    def _function(self, head: Node) -> Node:
        """Read a named function with its scripts and its argument: a group, or what follows up to the next function."""
        reading = self._reading
        name = head
        powers: list[Node] = []
        below: list[Node] = []
        for script in self._scripts():
            (powers if script.role.endswith("SUPERSCRIPT") else below).append(
                reading.node(script.children[0])
            )
        operands = self._operands()
        if below and head.meaning == "logarithm" and operands:
            operands += below
        elif below:
            name = apply(_INDEX, name, *below)
        node = apply_function(name, operands) if operands else name
        for power in powers:
            node = apply(_POWER, node, power)
        return self._postfixed(node)

    def _operands(self) -> list[Node]:
        item = self._next()
        if isinstance(item, Group) and item.opening in "([{":
            self._i += 1
            return self._arguments(item)
        start = end = self._i
        while end < len(self._items):
            item = self._items[end]
            if item_role(item) in NAMED:
                end = len(self._items) if end == start else end
                break
            if isinstance(item, Group) and end > start:
                before = self._items[end - 1]
                if not (
                    isinstance(before, Node) and is_letter(before) and self._applies(before, before, item)
                ):
                    break
            end = scripts_end(self._items, end + 1)
        self._i = end
        return [self._reading.product(self._items[start:end])] if end > start else []

    # -- groups

    def _fence(self, group: Group) -> Node:
        """Return the meaning of a group that is not an argument: a pair, an interval, a set, an absolute value."""
        around = group.opening + group.closing
        pieces = list_parts(group.items)
        if not pieces:
            return apply(operator("list"))
        if around in _AROUND:
            return apply_named(_AROUND[around], self._reading.formula(group.items))
        if around == "{}":
            bar = find_item(group.items, is_middle)
            bar = find_item(group.items, is_colon) if bar < 0 else bar
            if 0 < bar < len(group.items) - 1:
                return apply_named("conditional-set", *self._around(group, bar))
            return apply_named("set", *map(self._item, pieces))
        if around == "⟨⟩":
            name = {1: "generated", 2: "inner-product"}.get(len(pieces), "list")
            return apply_named(name, *map(self._reading.formula, pieces))
        if len(pieces) == 1:
            return self._reading.formula(group.items)
        nodes = list(map(self._item, pieces))
        if len(pieces) == 2 and around in _INTERVALS:
            return apply_named(_INTERVALS[around], *nodes)
        if len(pieces) == 2 and around == "()" and any(is_sign(piece[-1], "infinity") for piece in pieces):
            return apply_named("open-interval", *nodes)
        return apply_named("vector" if group.opening == "(" else "list", *nodes)

    def _around(self, group: Group, bar: int) -> tuple[Node, Node]:
        """Read what stands before and after a bar."""
        return self._reading.formula(group.items[:bar]), self._reading.formula(group.items[bar + 1 :])

    def _item(self, piece: Sequence[Item]) -> Node:
        """Read one item of a tuple, which may be a sign alone, as in `(\\mathbb R,+)`."""
        only = piece[0]
        return (
            only
            if len(piece) == 1 and isinstance(only, Node) and only.kind == TOKEN
            else self._reading.formula(piece)
        )

    def _arguments(self, group: Group) -> list[Node]:
        """Read the arguments of a function; a bar is a condition (`P(A|B)`)."""
        bar = find_item(group.items, is_middle)
        if 0 < bar < len(group.items) - 1:
            return [apply_named("conditional", *self._around(group, bar))]
        pieces = list_parts(group.items)
        return list(map(self._item, pieces)) if pieces else [ABSENT]

    # -- scripts of a base

    def _scripted(self, base: Item, node: Node, scripts: Sequence[Node]) -> Node:
        """Return a base with its scripts, indices first: `x^2_i` is the square of `x_i`."""
        for script in scripts:
            if script.role.endswith("SUBSCRIPT"):
                node = apply(_INDEX, node, self._reading.node(script.children[0]))
        for script in scripts:
            if script.role.endswith("SUPERSCRIPT"):
                node = self._raised(base, node, script.children[0])
        return node

    def _raised(self, base: Item, node: Node, exponent: Node) -> Node:
        """Read a superscript: primes, or a power."""
        items = self._reading.items(exponent)
        primes = 0
        while primes < len(items) and item_role(items[primes]) == "SUPOP":
            primes += 1
        if not primes:
            return apply(_POWER, node, self._reading.node(exponent))
        name = letter_name(base) if isinstance(base, Node) and is_letter(base) else ""
        count = sum(len(item.text) for item in items[:primes] if isinstance(item, Node))
        orders = [make_number(count)] if count > 1 else []
        is_function = isinstance(base, Group) or name in _DIFFERENTIABLE or name in self._reading.functions
        if is_function and name:
            self._reading.functions.add(name)
        node = apply_named("derivative" if is_function else "prime", node, *orders)
        return apply(_POWER, node, self._reading.sum(items[primes:])) if primes < len(items) else node

    # -- application

    def _applies(self, head: Node, node: Node, group: Group) -> bool:
        """Return True if a letter (with its scripts: `node`) is applied to the group after it."""
        name, items = letter_name(head), group.items
        if group.opening == "[":
            return name in "EPℙ𝔼" or (names_set(head) and len(items) < 4)
        if group.opening != "(":
            return False
        if (
            names_set(head)
            or not items
            or name in _FUNCTIONS
            or name in self._reading.functions
            or len(head.text) > 1
        ):
            return True
        if len(list_parts(items)) > 1 and not all(
            item_role(item) in ("NUMBER", "PUNCT", "ADDOP") for item in items
        ):
            return True
        if any(
            item_role(item) in ("RELOP", "VERTBAR", "MIDDLE") or is_sign(item, "union", "intersection")
            for item in items
        ):
            return True
        inside = {letter_name(each) for each in letters_in(items)}
        if name in inside:
            return False
        first = items[0]
        if item_role(first) in ("UNKNOWN", "ID", "NUMBER") and scripts_end(items, 1) == len(items):
            return item_role(first) != "NUMBER" or node is head
        if node.kind == APPLY and node.children[0].role == "SUPERSCRIPTOP":
            return False
        if name in _CAPITALS:
            return not any(each.isupper() for each in inside) or name in "PE"
        return name in _CURVES and not inside.isdisjoint(_ARGUMENTS)
