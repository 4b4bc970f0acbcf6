"""`FactorReader`: factors side by side: symbols with scripts, functions with arguments, groups, operators with operands."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import script_operator
from mathamr.formulas.latex.node import ABSENT, APPLY, SCRIPT, TEXT, TOKEN, Node, apply, operator
from mathamr.formulas.meaning.items import (
    NAMED,
    Group,
    Item,
    differential_end,
    find_item,
    is_colon,
    is_letter,
    is_middle,
    is_plain,
    is_relation,
    is_sign,
    item_role,
    letter_name,
    letters_in,
    list_parts,
    names_set,
    scripts_end,
)
from mathamr.formulas.meaning.reading import (
    Reading,
    apply_function,
    apply_named,
    make_number,
    make_qualifier,
    multiply,
)

_FUNCTIONS = frozenset("fghFGHΦΨφϕψΓζηχρOoΘℙ𝔼𝒪")
"""Letters that are functions whenever parentheses follow them."""
_CAPITALS = frozenset("ABCDEIJKLMNPQRSTUVWXYZ")
"""Capital letters are functions of anything but capitals: `P(x+1)` is, `A(B+C)` is a product."""
_CURVES, _ARGUMENTS = frozenset("uvwq"), frozenset("xyztsτθωnkm")
"""Small letters that are often functions, and their usual variables."""
DIFFERENTIABLE = frozenset("fghFφϕψΦΨΓζyuvwpqr")
"""Letters whose prime is a derivative."""
_DIFFERENTIALS = frozenset("xyztuvwsrθφϕμνλτωξσρVSWAP")
"""Letters that follow a differential `d`."""
_MARKS = {
    "*": "star", "∗": "star", "⋆": "star", "†": "dagger", "⟂": "perp", "⊥": "perp", "⊤": "transpose", "×": "units",
}  # fmt: skip
_INVERSES = {
    name: f"inverse-{name}"
    for name in ("sine", "cosine", "tangent", "hyperbolic-sine", "hyperbolic-cosine", "hyperbolic-tangent")
}
_AROUND = {"||": "absolute-value", "∥∥": "norm", "‖‖": "norm", "⌊⌋": "floor", "⌈⌉": "ceiling"}
_INTERVALS = {"[]": "closed-interval", "(]": "open-closed-interval", "[)": "closed-open-interval"}
_INDEX, _POWER = script_operator("SUBSCRIPTOP", "post", 0), script_operator("SUPERSCRIPTOP", "post", 0)
PARTIAL = "partial-differential"


class FactorReader:
    """FactorReader side by side, read from the left: symbols with scripts, functions with arguments, operators with operands."""

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
        reading = self._reading
        if isinstance(item, Group) or kind in ("UNKNOWN", "ID", "NUMBER", "ATOM"):
            end = differential_end(self._items, self._i)
            following = self._items[self._i + 1] if end > self._i else None
            if (
                isinstance(following, Node)
                and is_letter(following)
                and letter_name(following) in _DIFFERENTIALS
            ):
                inner = reading.product(self._items[self._i + 1 : end])
                self._i = end
                return apply_named("differential-d", inner)
            return self._symbol(item)
        self._i += 1
        if kind in ("FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"):
            self._i -= 1
            scripts = self._scripts()
            base = self._factor() if self._next() is not None else ABSENT
            for script in scripts:
                sign = _POWER if script.role.endswith("SUPERSCRIPT") else _INDEX
                base = apply(sign, base, reading.node(script.children[0]))
            return base
        if kind in NAMED or (kind == "LIMITOP" and item.meaning in ("determinant", "dimension")):
            return self._function(item)
        if kind == "ADDOP":
            return apply(item, self._factor()) if self._next() is not None else item
        if kind in ("DIFFOP", "OPERATOR"):
            return self._operated(item, kind)
        self._i -= 1
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
        reading = self._reading
        base = self._fence(item) if isinstance(item, Group) else reading.node(item)
        node = self._scripted(item, base, self._scripts())
        if (
            node.kind == APPLY
            and len(node.children) > 2
            and node.children[1] is ABSENT
            and self._next() is not None
            and node.children[0].meaning in ("differential", PARTIAL)
        ):  # the function follows
            rest = reading.product(self._items[self._i :])
            self._i = len(self._items)
            return apply(node.children[0], rest, *node.children[2:])
        group = self._next()
        if isinstance(group, Group) and self._is_applied(item, node, group):
            self._i += 1
            operands = self._arguments(group)
            if isinstance(item, Node):
                name = letter_name(item)
                if name in "ℝℕℤℂℚ" or (group.opening == "[" and name not in "EPℙ𝔼"):
                    return self._postfixed(apply_named("adjoin", node, *operands))
                if not names_set(item):
                    reading.functions.add(name)
            node = apply_function(node, operands)
        return self._postfixed(node)

    def _is_applied(self, item: Item, node: Node, group: Group) -> bool:
        if isinstance(item, Node):
            return is_letter(item) and self._applies(item, node, group)
        known = _FUNCTIONS | self._reading.functions
        letters = [each for each in item.items if isinstance(each, Node) and item_role(each) != "ADDOP"]
        composed = any(is_sign(each, "compose", "∘") for each in item.items)
        functions = bool(letters) and all(is_letter(each) and letter_name(each) in known for each in letters)
        return item.opening == group.opening == "(" and (composed or functions)

    def _function(self, head: Node) -> Node:
        """Read a named function with its scripts and its argument: a group, or what follows up to the next function."""
        reading = self._reading
        name, powers, below = head, [], []
        for script in self._scripts():
            inner = script.children[0]
            items = reading.items(inner)
            if not script.role.endswith("SUPERSCRIPT"):
                below.append(reading.node(inner))
            elif head.meaning in _INVERSES and len(items) == 2 and is_sign(items[0], "minus"):
                name = operator(_INVERSES[head.meaning])
            else:
                powers.append(reading.node(inner))
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
            is_set = item.opening == "{" and any(is_colon(each) or is_middle(each) for each in item.items)
            return [self._fence(item)] if is_set else self._arguments(item)
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
            if end > start and differential_end(self._items, end) > end:
                break
            end = scripts_end(self._items, end + 1)
        self._i = end
        return [self._reading.product(self._items[start:end])] if end > start else []

    def _operated(self, head: Node, kind: str) -> Node:
        """Apply an operator to the next factor: `\\nabla f`, `\\partial_x f`."""
        reading = self._reading
        scripts = self._scripts()
        below = next((each for each in scripts if each.role.endswith("SUBSCRIPT")), None)
        operand = self._factor() if self._next() is not None else None
        if kind == "DIFFOP" and below is not None:
            orders = [reading.node(each.children[0]) for each in scripts if each.role.endswith("SUPERSCRIPT")]
            variable = make_qualifier("bvar", reading.node(below.children[0]), *orders)
            return apply(head, operand or ABSENT, variable)
        node = self._scripted(head, head, scripts)
        return node if operand is None else apply_function(node, [operand])

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
                parts = (
                    self._reading.formula(group.items[:bar]),
                    self._reading.formula(group.items[bar + 1 :]),
                )
                return apply_named("conditional-set", *parts)
            return apply_named("set", *map(self._item, pieces))
        if around == "⟨⟩":
            name = {1: "generated", 2: "inner-product"}.get(len(pieces), "list")
            return apply_named(name, *map(self._reading.formula, pieces))
        if len(pieces) == 1:
            colon = find_item(group.items, is_colon)
            if around == "[]" and 0 < colon < len(group.items) - 1:
                return apply_named(
                    "index",
                    self._reading.sum(group.items[:colon]),
                    self._reading.sum(group.items[colon + 1 :]),
                )
            return self._reading.formula(group.items)
        nodes = list(map(self._item, pieces))
        if len(pieces) == 2 and around in _INTERVALS:
            return apply_named(_INTERVALS[around], *nodes)
        is_interval = group.is_set or any(is_sign(piece[-1], "infinity") for piece in pieces)
        if len(pieces) == 2 and around == "()" and is_interval:
            return apply_named("open-interval", *nodes)
        return apply_named("vector" if group.opening == "(" else "list", *nodes)

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
            return [
                apply_named(
                    "conditional",
                    self._reading.formula(group.items[:bar]),
                    self._reading.formula(group.items[bar + 1 :]),
                )
            ]
        pieces = list_parts(group.items)
        return list(map(self._item, pieces)) if pieces else [ABSENT]

    # -- scripts of a base

    def _scripted(self, base: Item, node: Node, scripts: Sequence[Node]) -> Node:
        """Return a base with its scripts, indices first: `x^2_i` is the square of `x_i`."""
        for script in scripts:
            if script.role.endswith("SUBSCRIPT"):
                node = self._below(node, script.children[0])
        for script in scripts:
            if script.role.endswith("SUPERSCRIPT"):
                node = self._above(base, node, script.children[0])
        return node

    def _below(self, node: Node, index: Node) -> Node:
        """Read an index; adjacent letters are several."""
        items = self._reading.items(index)
        letters = [item for item in items if isinstance(item, Node) and is_plain(item)]
        if 1 < len(items) <= 4 and len(letters) == len(items):
            return apply(_INDEX, node, *letters)
        pieces = list_parts(items)
        if len(pieces) > 1 and not any(map(is_relation, items)):
            return apply(_INDEX, node, *map(self._reading.sum, pieces))
        return apply(_INDEX, node, self._reading.node(index))

    def _above(self, base: Item, node: Node, exponent: Node) -> Node:
        """Read a superscript: primes, a mark with a meaning, or a power."""
        items = self._reading.items(exponent)
        name = letter_name(base) if isinstance(base, Node) and is_letter(base) else ""
        primes = 0
        while primes < len(items) and item_role(items[primes]) == "SUPOP":
            primes += 1
        if primes:
            count = sum(len(item.text) for item in items[:primes] if isinstance(item, Node))
            orders = [make_number(count)] if count > 1 else []
            is_function = isinstance(base, Group) or name in DIFFERENTIABLE or name in self._reading.functions
            if is_function and name:
                self._reading.functions.add(name)
            node = apply_named("derivative" if is_function else "prime", node, *orders)
            return apply(_POWER, node, self._reading.sum(items[primes:])) if primes < len(items) else node
        only = items[0] if len(items) == 1 else None
        is_function = name in _FUNCTIONS or name in self._reading.functions
        if isinstance(only, Node):
            if only.text in _MARKS and not only.children and only.kind not in (SCRIPT, TEXT):
                return apply_named(_MARKS[only.text], node)
            if is_sign(only, "compose", "∘", "°"):
                return apply_named(
                    "degrees" if item_role(base) == "NUMBER" or name in "αβγθφϕψxyn" else "interior", node
                )
            if is_letter(only) and letter_name(only) == "T" and item_role(base) != "NUMBER" and name != "e":
                return apply_named("transpose", node)
        if (
            isinstance(only, Group)
            and only.opening == "("
            and (is_function or name in DIFFERENTIABLE)
            and name
        ):
            return apply_named("derivative", node, self._fence(only))
        if len(items) == 2 and is_sign(items[0], "minus") and is_sign(items[1], "1") and is_function:
            return apply_named("inverse", node)
        return apply(_POWER, node, self._reading.node(exponent))

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
