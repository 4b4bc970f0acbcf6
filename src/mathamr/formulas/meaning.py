"""`Mathematician`: what a formula means, read from the same nodes as the published trees.

The published operator trees group a formula as LaTeXML does. This reading knows application (`f(x)`), bound variables, integrals,
derivatives, indices, maps and quantifiers; lexical search takes its terms from it. Precedence falls from `formula` (words,
implications, lists) over `relation`, `sum` and `product` to `_Factors`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.latex.assembly import (
    LIMIT_FROM,
    decorated,
    formulae,
    joined_relation,
    left_associated,
    listed,
    relation,
    same_operator,
    script_operator,
)
from mathamr.formulas.latex.content import identifier, mean
from mathamr.formulas.latex.fonts import PLAIN, variant
from mathamr.formulas.latex.grammar.rules import TooDeepError, role_of
from mathamr.formulas.latex.node import (
    ABSENT,
    APPLY,
    ARRAY,
    DUAL,
    HINT,
    INVISIBLE_COMMA,
    INVISIBLE_TIMES,
    ROW,
    SCRIPT,
    TEXT,
    TOKEN,
    Node,
    apply,
    operator,
    row,
)
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.mathml.element import Element

VERSION = 2
"""The version of this reading; when it rises, the next `mathamr index` makes the terms of formulas anew."""
MAX_DEPTH = 60
"""The maximum nesting of lists; a formula nested deeper keeps its published tree."""

_FUNCTIONS = frozenset("fghFGHΦΨφϕψΓζηχρOoΘℙ𝔼𝒪")
"""Letters that are functions whenever parentheses follow them."""
_CAPITALS = frozenset("ABCDEIJKLMNPQRSTUVWXYZ")
"""Capital letters are functions of anything but capitals: `P(x+1)` is, `A(B+C)` is a product."""
_CURVES, _ARGUMENTS = frozenset("uvwq"), frozenset("xyztsτθωnkm")
"""Small letters that are often functions, and their usual variables."""
_DIFFERENTIABLE = frozenset("fghFφϕψΦΨΓζyuvwpqr")
"""Letters whose prime is a derivative."""
_DIFFERENTIALS = frozenset("xyztuvwsrθφϕμνλτωξσρVSWAP")
"""Letters that follow a differential `d`."""
_SPELLED = re.compile(
    "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln|exp|det|gcd|max|min|lim|dim|ker|deg|arg"
)
"""Functions whose backslash is often forgotten."""
_ACCENTS = {
    "^": "hat",
    "¯": "bar",
    "~": "tilde",
    "→": "vec",
    "˙": "dot",
    "¨": "ddot",
    "ˇ": "check",
    "˘": "breve",
}
_MARKS = {
    "*": "star", "∗": "star", "⋆": "star", "†": "dagger", "⟂": "perp", "⊥": "perp", "⊤": "transpose", "×": "units",
}  # fmt: skip
_INVERSES = {
    name: f"inverse-{name}"
    for name in ("sine", "cosine", "tangent", "hyperbolic-sine", "hyperbolic-cosine", "hyperbolic-tangent")
}
_IMPLICATIONS = {"⇔": "iff", "⟺": "iff", "⇒": "implies", "⟹": "implies", "⇐": "implied-by", "⟸": "implied-by"}
_CONNECTIVES = {
    "and": "and",
    "or": "or",
    "iff": "iff",
    "implies": "implies",
    "then": "implies",
    "if": "implied-by",
}
_SEPARATING = frozenset(
    ["where", "for", "with", "such that", "for all", "for every", "for each", "for some", "as"]
)
_APPROACHES = {"→": "", "⟶": "", "↑": "from-below", "↗": "from-below", "↓": "from-above", "↘": "from-above"}
_MAPS = {"→": "map", "⟶": "map", "↪": "injective-map", "↠": "surjective-map"}
_SETS = frozenset(
    ["element-of", "not-element-of", "subset-of", "subset-of-or-equals", "union", "intersection", "set-minus"]
)
_AROUND = {"||": "absolute-value", "∥∥": "norm", "‖‖": "norm", "⌊⌋": "floor", "⌈⌉": "ceiling"}
_INTERVALS = {"[]": "closed-interval", "(]": "open-closed-interval", "[)": "closed-open-interval"}
_LOOSENESS = {"or": 0, "and": 1, "union": 2, "intersection": 2, "set-minus": 2}
_CLOSING = {"(": ")]", "[": ")]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "|": "|", "∥": "∥", "‖": "‖"}
_SCRIPTS = frozenset(["POSTSUPERSCRIPT", "POSTSUBSCRIPT", "FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"])
_RELATIONS = frozenset(["RELOP", "ARROW", "METARELOP", "VERTBAR", "MIDDLE"])
_PUNCTUATION = frozenset(["PUNCT", "PERIOD"])
_NAMED = frozenset(["FUNCTION", "OPFUNCTION", "TRIGFUNCTION"])
_BEFORE_OPERANDS = _RELATIONS - {"VERTBAR", "MIDDLE"} | _PUNCTUATION | _NAMED | {
    "ADDOP", "MULOP", "BINOP", "MODIFIEROP", "LIMITOP", "SUMOP", "INTOP", "BIGOP", "OPERATOR", "DIFFOP",
}  # fmt: skip
_RELATING = _RELATIONS | {"MODIFIER", "MODIFIEROP", "GROUP"}
_SYMBOLS = frozenset(["UNKNOWN", "NUMBER"])
_NOT_JUST_FACTORS = frozenset(
    [
        "MULOP",
        "BINOP",
        "SUMOP",
        "INTOP",
        "LIMITOP",
        "OPERATOR",
        "OPFUNCTION",
        "VERTBAR",
        "MIDDLE",
        "ID",
        "ADDOP",
    ]
)
"""Roles without which a list is only factors side by side; `\\max` is among the functions."""
_SUBGROUPS = frozenset("⊴⊵⊲⊳◁▷")
_DOTS = Node(TOKEN, "ID", "…")
_APPLIED = operator("apply")
_INDEX, _POWER = script_operator("SUBSCRIPTOP", "post", 0), script_operator("SUPERSCRIPTOP", "post", 0)
_INTEGRAL = operator("integral")
_INTEGRAL.content = Element("csymbol", "integral", (), {"cd": "latexml"})
_CARTESIAN = operator("cartesian-product")
_CARTESIAN.content = Element("csymbol", "cartesian-product", (), {"cd": "latexml"})
_PARTIAL = "partial-differential"


class _UnreadableError(Exception):
    """A list that this reading cannot follow; it keeps its published tree."""


class Group:
    """The content between two delimiters; among sets a pair in parentheses is an interval."""

    __slots__ = ("closing", "is_set", "items", "opening")
    role: ClassVar[str] = "GROUP"
    text: ClassVar[str] = ""

    def __init__(self, opening: str, items: list[Item] | None = None) -> None:
        self.opening, self.closing, self.is_set = opening, "", False
        self.items: list[Item] = items or []


Item = Node | Group


def meaning(node: Node, budget: Budget) -> Node:
    """Return the node of a formula's meaning; one that exceeds its budget or the depth keeps its own."""
    try:
        return Mathematician(budget).node(node)
    except (SpentError, TooDeepError, RecursionError):
        return node


# -- items


def _role(item: Item) -> str:
    role = item.role
    if role:
        return "RELOP" if item.text in _SUBGROUPS else role
    return role_of(item)  # type: ignore[arg-type]


def _is_sign(item: Item | None, *keys: str) -> bool:
    return isinstance(item, Node) and item.kind == TOKEN and (item.key in keys or item.text in keys)


def _is_letter(item: Item | None) -> bool:
    return (
        isinstance(item, Node) and item.kind == TOKEN and item.role in ("UNKNOWN", "ID") and bool(item.text)
    )


def _is_plain(item: Item) -> bool:
    return isinstance(item, Node) and _is_letter(item) and len(item.text) == 1 and item.font.family == "math"


def _letter(node: Node) -> str:
    """Return the name of a letter: itself, or in another alphabet its Unicode character."""
    return node.text if variant(node.font) in ("italic", "") else identifier(node)


def _names_set(item: Item | None) -> bool:
    """Return True for a letter that always names a set: blackboard, Fraktur, script."""
    if not isinstance(item, Node) or not _is_letter(item):
        return False
    family, text = item.font.family, item.text
    return (
        text in "ℝℕℤℂℚ"
        or (family == "blackboard" and text not in "PE1")
        or (family in ("fraktur", "caligraphic", "script") and text.isupper() and text not in "OL")
    )


def _is_capital(items: Sequence[Item]) -> bool:
    first = items[0] if items else None
    return isinstance(first, Node) and _is_letter(first) and (_names_set(first) or _letter(first).isupper())


def _is_relation(item: Item) -> bool:
    return _role(item) in _RELATIONS


def _is_middle(item: Item) -> bool:
    return _role(item) in ("VERTBAR", "MIDDLE")


def _is_colon(item: Item) -> bool:
    return _is_sign(item, "colon", ":")


def _is_differential(item: Item) -> bool:
    return isinstance(item, Node) and item.text == "d" and item.role in ("UNKNOWN", "ID", "DIFFOP")


def _find(items: Sequence[Item], wanted: Callable[[Item], bool], start: int = 0) -> int:
    return next((place for place in range(start, len(items)) if wanted(items[place])), -1)


def _split(items: Sequence[Item], is_separator: Callable[[Item], bool]) -> list[list[Item]]:
    pieces: list[list[Item]] = [[]]
    for item in items:
        if is_separator(item):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return pieces


def _parts(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items between commas and semicolons."""
    return [piece for piece in _split(items, lambda item: _role(item) == "PUNCT") if piece]


def _scripts_end(items: Sequence[Item], start: int) -> int:
    while start < len(items) and _role(items[start]) in _SCRIPTS:
        start += 1
    return start


def _letters(items: Sequence[Item]) -> Iterator[Node]:
    stack = list(items)
    while stack:
        item = stack.pop()
        if isinstance(item, Group):
            stack.extend(item.items)
        elif _is_letter(item):
            yield item
        elif item.kind == APPLY or item.source:
            stack.extend(item.source or item.children[1:])


def _grouped(nodes: Sequence[Node]) -> list[Item]:
    """Return a list with everything between two delimiters as one item; raise if they do not match."""
    stack = [Group("")]
    for node in nodes:
        kind = role_of(node)
        if kind == "OPEN":
            stack.append(Group(node.text))
        elif kind == "CLOSE":
            group = stack.pop()
            if not stack or node.text not in _CLOSING.get(group.opening, ""):
                raise _UnreadableError
            group.closing, group.items = node.text, _barred(group.items)
            stack[-1].items.append(group)
        else:
            stack[-1].items.append(node)
    while len(stack) > 1 and stack[-1].opening == "{" and stack[-1].items and _is_table(stack[-1].items[0]):
        table, *rest = stack.pop().items
        stack[-1].items += [_named("cases", table) if isinstance(table, Node) else table, *rest]
    if len(stack) > 1:
        raise _UnreadableError
    return _barred(stack[0].items)


def _is_table(item: Item) -> bool:
    return isinstance(item, Node) and (item.kind == DUAL or role_of(item) == "ARRAY")


def _barred(items: list[Item]) -> list[Item]:
    """Return the list with absolute values and norms as groups; a bar after an operand closes an open one."""
    left = sum(_role(item) == "VERTBAR" for item in items)
    if not left:
        return items
    stack = [Group("")]
    for place, item in enumerate(items):
        if not isinstance(item, Node) or _role(item) != "VERTBAR" or item.text not in "|∥‖":
            stack[-1].items.append(item)
            continue
        inner = stack[-1].items
        behind_operand = bool(inner) and _role(inner[-1]) not in _BEFORE_OPERANDS
        followed = place + 1 < len(items) and _role(items[place + 1]) in _SCRIPTS
        if behind_operand and stack[-1].opening == item.text:
            group = stack.pop()
            group.closing = item.text
            only = group.items[0] if len(group.items) == 1 else None
            if isinstance(only, Group) and only.opening == group.opening == "|":
                only.opening = only.closing = "‖"
                group = only
            stack[-1].items.append(group)
        elif not behind_operand or (left % 2 == 0 and not followed):
            stack.append(Group(item.text))
        else:
            inner.append(item)
        left -= 1
    if len(stack) > 1:
        raise _UnreadableError
    return stack[0].items


def _joined(nodes: Sequence[Node]) -> list[Node]:
    """Return the list without space, with letters that spell a function and thousands as one node."""
    shown = [node for node in nodes if node.kind != HINT or node.role]
    result: list[Node] = []
    place = 0
    while place < len(shown):
        node = shown[place]
        following = shown[place + 1] if place + 1 < len(shown) else None
        if following is not None and _is_plain(node) and _is_plain(following):
            text = "".join(each.text for each in shown[place : place + 6] if _is_plain(each))
            found = _SPELLED.match(text)
            end = place + len(found[0]) if found else place
            alone = not result or not _is_plain(result[-1])
            if found and alone and end < len(shown) and all(map(_is_plain, shown[place:end])):
                known = SYMBOLS["\\" + found[0]]
                key = known.meaning or known.name
                result.append(Node(TOKEN, known.role, known.text, known.meaning, PLAIN, key=key))
                place = end
                continue
        if _is_thousand(shown, place):
            text = node.text + shown[place + 2].text
            node = Node(TOKEN, "NUMBER", text, text, node.font)
            place += 2
            while _is_thousand([node, *shown[place + 1 :]], 0):
                text = node.text + shown[place + 2].text
                node = Node(TOKEN, "NUMBER", text, text, node.font)
                place += 2
        result.append(node)
        place += 1
    return result


def _is_thousand(nodes: Sequence[Node], place: int) -> bool:
    if place + 2 >= len(nodes):
        return False
    first, comma, second = nodes[place : place + 3]
    return (
        first.role == second.role == "NUMBER"
        and comma.text == ","
        and first.text.isdigit()
        and second.text.isdigit()
        and len(second.text) == 3
        and second.text[0] == "0"
        and first.text[0] != "0"
    )


# -- nodes that only this reading makes


def _named(name: str, *operands: Node) -> Node:
    return apply(operator(name), *operands)


def _qualifier(tag: str, *operands: Node) -> Node:
    """Return a bound variable or a limit of Content MathML."""
    node = Node(APPLY, children=(operator(tag), *operands))
    node.content = Element(tag, "", [mean(operand) for operand in operands])
    return node


def _words(node: Node) -> Node:
    """Return text as a node; the published operator tree leaves it out."""
    found: list[str] = []
    stack = [node]
    for _ in range(1_000):
        if not stack:
            break
        one = stack.pop()
        if one.text:
            found.append(one.text)
        else:
            stack.extend(reversed(one.children[1:] if one.kind == DUAL else one.children))
    text = " ".join(" ".join(found).split())
    if not text:
        return node
    made = Node(TEXT, text=text)
    made.content = Element("mtext", text)
    return made


def _applied(head: Node, arguments: Sequence[Node]) -> Node:
    """Apply a function: a symbol carries its arguments itself, anything else is applied to them."""
    return apply(head, *arguments) if head.kind == TOKEN else apply(_APPLIED, head, *arguments)


def _product(factors: Sequence[Node]) -> Node:
    flat: list[Node] = []
    for factor in factors:
        is_product = factor.kind == APPLY and factor.children[0] is INVISIBLE_TIMES and not factor.enclosure
        flat.extend(factor.children[1:] if is_product else [factor])
    return flat[0] if len(flat) == 1 else apply(INVISIBLE_TIMES, *flat)


def _whole(number: int) -> Node:
    return Node(TOKEN, "NUMBER", str(number), str(number))


def _with_commas(nodes: Sequence[Node]) -> list[Node]:
    return [part for node in nodes for part in (node, INVISIBLE_COMMA)][:-1]


def _is_fraction(node: Node) -> bool:
    return node.kind == APPLY and node.children[0].role == "FRACOP" and node.children[0].meaning == "divide"


def _differential_end(items: Sequence[Item], start: int) -> int:
    """Return the place after the differential that begins at a place, or the place itself if none does."""
    if start + 1 >= len(items) or not _is_differential(items[start]):
        return start
    following = items[start + 1]
    is_vector = (
        isinstance(following, Node) and following.kind == APPLY and following.children[0].role == "OVERACCENT"
    )
    return _scripts_end(items, start + 2) if _is_letter(following) or is_vector else start


class Mathematician:
    """One reading of one formula."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._depth = budget, 0
        self.functions: set[str] = set()
        """Letters that this formula applies, maps or differentiates."""
        self._known: dict[int, tuple[Node, Node]] = {}
        self._lists: dict[int, tuple[Node, list[Item]]] = {}
        """Lists and meanings by identity; the node is stored beside its meaning, so that no other node gets its identity."""

    def node(self, node: Node) -> Node:
        """Return the meaning of a node; one that was made from a list is read again."""
        if node.kind == TOKEN:
            return _DOTS if node.text in ("…", "⋯") and node.role == "ID" else node
        known = self._known.get(id(node))
        if known is None:
            self._budget.spend()
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise TooDeepError
            known = self._known[id(node)] = (node, self._read(node))
            self._depth -= 1
        return known[1]

    def settle(self, node: Node) -> Node:
        """Make a node that was read already usable in a list that is being read."""
        self._known[id(node)] = (node, node)
        return node

    def items(self, node: Node) -> list[Item]:
        """Return the items of the list that a node was made from; a list that cannot be followed is one item."""
        if not node.source:
            return self.items(node.children[0]) if node.kind == DUAL else [node]
        known = self._lists.get(id(node))
        if known is None:
            self._budget.spend(1 + len(node.source))
            try:
                items = _grouped(_joined(node.source))
            except _UnreadableError:
                shut = row(node.children) if node.kind == ROW else node.with_role(node.role)
                shut.source = ()
                items = [self.settle(shut)]
            known = self._lists[id(node)] = (node, items)
        return known[1]

    def _read(self, node: Node) -> Node:
        if node.source:
            return self.formula(self.items(node))
        if node.kind == DUAL:
            return self.node(node.children[0])
        if node.kind == APPLY:
            return self._application(node)
        if node.kind == ARRAY:
            made = node.with_role(node.role)
            made.children = [row([self.node(cell) for cell in line.children]) for line in node.children]
            return made
        return _words(node) if node.kind == TEXT else node

    def _application(self, node: Node) -> Node:
        """Read the result of a command: a fraction, an accent, a root, a binomial."""
        head, *operands = node.children
        if node.meaning or node.role == "ID" or not operands:
            return node
        if _is_fraction(node):
            found = self._derivative(self.items(operands[0]), self.items(operands[1]))
            if found is not None:
                return found
        if head.role in ("OVERACCENT", "UNDERACCENT") and head.kind == TOKEN:
            if head.text in "⏞⏟⎴⎵":
                return self.node(operands[0])
            if head.role == "OVERACCENT" and head.text in _ACCENTS:
                return _named(_ACCENTS[head.text], self.node(operands[0]))
        made = node.with_role(node.role)
        made.source = ()
        made.children = (head, *(self.node(operand) for operand in operands if operand.kind != HINT))
        return made

    # -- statements

    def formula(self, items: Sequence[Item]) -> Node:
        """Return the meaning of a list, from the loosest binding inwards: words, implications, quantifiers, lists."""
        self._budget.spend(1 + len(items))
        start, end = 0, len(items)
        while end > start and _role(items[end - 1]) in _PUNCTUATION:
            end -= 1
        while start < end and _role(items[start]) in _PUNCTUATION:
            start += 1
        items = items[start:end]
        if not items:
            return ABSENT
        if len(items) == 1:
            return self.sum(items)
        quantifier = _find(items, self._is_quantifier)
        if quantifier == 0:
            return self._quantified(items, ())
        connected = self._implied(items) or self._connected(items)
        if connected is not None:
            return connected
        if quantifier > 0:
            return self._quantified(items[quantifier:], items[:quantifier])
        return self._listed(items)

    @staticmethod
    def _is_quantifier(item: Item) -> bool:
        return isinstance(item, Node) and item.meaning in ("for-all", "exists", "not-exists")

    def _implied(self, items: Sequence[Item]) -> Node | None:
        found = [_IMPLICATIONS.get(item.text, "") if isinstance(item, Node) else "" for item in items]
        if not any(found):
            return None
        wanted = ("iff",) if "iff" in found else ("implies", "implied-by")
        sides: list[Node] = []
        start = 0
        for place, name in enumerate(found):
            if name in wanted:
                sides += (self.formula(items[start:place]), operator(name))
                start = _scripts_end(items, place + 1)
        sides.append(self.formula(items[start:]))
        if len(sides) == 3 and sides[1].meaning == "implied-by":
            return _named("implies", sides[2], sides[0])
        return relation(sides)

    def _connected(self, items: Sequence[Item]) -> Node | None:
        """Read formulas with words between them, and relations with a logical sign between them."""
        for place in range(1, len(items) - 1):
            item = items[place]
            if isinstance(item, Node) and item.kind == TEXT:
                phrase = " ".join(item.text.split()).strip(",;: ").lower()
                if phrase in _CONNECTIVES or phrase in _SEPARATING:
                    left, right = self.formula(items[:place]), self.formula(items[place + 1 :])
                    name = _CONNECTIVES.get(phrase)
                    if name is None:
                        return formulae((left, INVISIBLE_COMMA, right))
                    return (
                        _named("implies", right, left) if name == "implied-by" else _named(name, left, right)
                    )
        for name in ("or", "and"):
            pieces = _split(items, lambda item, name=name: _is_sign(item, name))  # type: ignore[misc]
            if len(pieces) > 1 and sum(any(map(_is_relation, piece)) for piece in pieces) > 1 and all(pieces):
                return _named(name, *map(self.formula, pieces))
        return None

    def _quantified(self, items: Sequence[Item], body: Sequence[Item]) -> Node:
        """Read a quantifier with its variables, their condition, and the formula that it applies to."""
        head = items[0]
        name = head.meaning if isinstance(head, Node) else ""
        start = 1
        if start < len(items) and _is_sign(items[start], "factorial"):
            name, start = "exists-unique", start + 1
        end = _find(items, self._ends_condition, start)
        if (
            start < len(items)
            and _role(items[start]) in _SCRIPTS
            and isinstance(script := items[start], Node)
        ):
            operands = self._bound_by(self.items(script.children[0]))
            end = start + 1
        else:
            end = len(items) if end < 0 else end
            if end > start and not any(map(_is_relation, items[start:end])):
                end = min(end, _scripts_end(items, start + 1)) if not _parts(items[start:end])[1:] else end
            operands = self._bound_by(items[start:end])
        while end < len(items) and (_is_colon(items[end]) or _is_middle(items[end])):
            end += 1
        rest = [*body, *items[end:]]
        if rest:
            operands.append(self.formula(rest))
        return apply(operator(name), *operands)

    def _ends_condition(self, item: Item) -> bool:
        ends = _role(item) in _PUNCTUATION or _is_colon(item) or _is_middle(item)
        return ends or self._is_quantifier(item)

    def _bound_by(self, items: Sequence[Item]) -> list[Node]:
        """Return the variables that a condition binds, and the condition: `i\\in I`, `0\\le i<j`, `d\\mid n`, or just `k`."""
        operands: list[Node] = []
        for piece in _parts(items):
            sides = _split(piece, _is_relation)
            wanted = sides[:1] if len(sides) < 3 else sides[1:-1]
            operands += [
                _qualifier("bvar", self.sum(side))
                for side in wanted
                if side and _is_letter(side[0]) and _scripts_end(side, 1) == len(side)
            ]
        if any(map(_is_relation, items)) or not operands:
            operands.append(_named("condition", self.formula(items)))
        return operands

    def _listed(self, items: Sequence[Item]) -> Node:
        """Read formulas or expressions with punctuation between them."""
        pieces = [piece for piece in _split(items, lambda item: _role(item) in _PUNCTUATION) if piece]
        if len(pieces) == 1:
            return self.relation(pieces[0])
        related = [any(map(_is_relation, piece)) for piece in pieces]
        if not any(related):
            return listed(_with_commas(list(map(self.sum, pieces))))
        made: list[Node] = []
        place, first = 0, related.index(True)
        while place < len(pieces):
            left, place = (pieces[place:first], first) if place < first else ([], place)
            end = place + 1
            while end < len(pieces) and not related[end]:
                end += 1
            made.append(self.relation(pieces[place], left, pieces[place + 1 : end]))
            place = first = end
        return made[0] if len(made) == 1 else formulae(_with_commas(made))

    # -- relations

    def relation(
        self, items: Sequence[Item], left: Sequence[Sequence[Item]] = (), right: Sequence[Sequence[Item]] = ()
    ) -> Node:
        """Read alternating sides and relations; `left` and `right` are further items of the first and the last side."""
        roles = set(map(_role, items))
        if roles.isdisjoint(_RELATING) and not left and not right:
            return self.sum(items)
        mapped = self._map(items, left) if not right and "ARROW" in roles else None
        if mapped is not None:
            return mapped
        items, modulus = self._modulus(items)
        sides: list[Sequence[Item]] = []
        signs: list[Node] = []
        start = place = 0
        while place < len(items):
            item = items[place]
            bounded = _is_middle(item) and _scripts_end(items, place + 1) > place + 1
            divisor = place > 0 and _is_sign(items[place - 1], "/")
            if not isinstance(item, Node) or not _is_relation(item) or bounded or divisor:
                place += 1
                continue
            sides.append(items[start:place])
            place, sign = self._sign(items, place)
            signs.append(sign)
            start = place
        sides.append(items[start:])
        for sign, side in zip(signs, sides[1:], strict=True):
            if sign.meaning in _SETS:
                self._mark_sets(side)
        nodes = [self._side(side, sign) for side, sign in zip(sides, [None, *signs], strict=True)]
        if left:
            nodes[0] = listed(_with_commas([*map(self.sum, left), nodes[0]]))
        if right:
            nodes[-1] = listed(_with_commas([nodes[-1], *map(self.sum, right)]))
        if modulus is not None:
            if len(nodes) == 2 and (signs[0].meaning in ("equivalent-to", "equals") or signs[0].text in "≡≅"):
                return _named("congruent", *nodes, modulus)
            nodes[-1] = _named("modulo", nodes[-1], modulus)
        parts: list[Node] = [nodes[0]]
        for sign, side, node in zip(signs, sides[1:], nodes[1:], strict=True):
            parts += (self._sign_between(sign, sides[0], side), node)
        return relation(parts)

    @staticmethod
    def _sign(items: Sequence[Item], place: int) -> tuple[int, Node]:
        """Return the place after a sign with its scripts, and the sign; `<=` is one sign."""
        sign = items[place]
        assert isinstance(sign, Node)
        place += 1
        following = items[place] if place < len(items) else None
        if (
            isinstance(following, Node)
            and sign.key in ("less-than", "greater-than")
            and following.role == "RELOP"
            and following.key in (sign.key, "equals")
        ):
            return place + 1, joined_relation(sign, following)
        end = _scripts_end(items, place)
        for script in items[place:end]:
            if isinstance(script, Node) and script.children:
                sign = decorated(sign, script)
        return end, sign

    @staticmethod
    def _sign_between(sign: Node, left: Sequence[Item], right: Sequence[Item]) -> Node:
        if _is_middle(sign):
            return operator("factor-of") if sign.text in "|∣" else sign
        if sign.text in ("→", "⟶") and not _is_capital(right) and not _is_capital(left):
            return operator("tends-to")
        return operator("isomorphic-to") if sign.text == "≅" else sign

    def _side(self, items: Sequence[Item], sign: Node | None) -> Node:
        """Read one side of a relation; after an arrow it may be a point that is approached from one side."""
        if not items:
            return ABSENT
        if sign is None or sign.text not in _APPROACHES:
            return self.sum(items)
        side, last = _APPROACHES[sign.text], items[-1]
        if isinstance(last, Node) and last.role == "POSTSUPERSCRIPT" and len(items) > 1:
            mark = last.children[0]
            if mark.kind == TOKEN and mark.meaning in ("plus", "minus"):
                side, items = "from-above" if mark.meaning == "plus" else "from-below", items[:-1]
        return _named(side, self.sum(items)) if side else self.sum(items)

    @staticmethod
    def _mark_sets(items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Group):
                item.is_set = True
            elif item.meaning not in _SETS:
                return

    def _map(self, items: Sequence[Item], left: Sequence[Sequence[Item]]) -> Node | None:
        """Read `f: A \\to B` and `f: x \\mapsto y`."""
        colon = _find(items, _is_colon)
        arrow = _find(items, lambda item: _role(item) == "ARROW", colon + 1) if colon > 0 else -1
        sign = items[arrow] if arrow > 0 else None
        if not isinstance(sign, Node):
            return None
        domain, target = items[colon + 1 : arrow], items[_scripts_end(items, arrow + 1) :]
        is_element = sign.text in ("↦", "⟼")
        if not is_element and (sign.text not in _MAPS or any(map(_is_relation, [*domain, *target]))):
            return None
        name = self.sum(items[:colon])
        if left:
            name = listed(_with_commas([*map(self.sum, left), name]))
        self.functions.update(
            _letter(item) for item in items[:colon] if isinstance(item, Node) and _is_letter(item)
        )
        if is_element:
            return _named("map", name, self.relation(items[colon + 1 :]))
        self._mark_sets(domain)
        self._mark_sets(target)
        return _named(_MAPS[sign.text], name, self.sum(domain), self.sum(target))

    def _modulus(self, items: Sequence[Item]) -> tuple[Sequence[Item], Node | None]:
        """Return what comes before `\\pmod n` or `(mod n)` at the end, and the modulus."""
        last = items[-1] if items else None
        if isinstance(last, Node) and _role(last) == "MODIFIER" and last.kind == DUAL:
            return items[:-1], self.node(last.children[0].children[-1])
        if isinstance(last, Group) and last.items and _is_sign(last.items[0], "mod") and len(items) > 1:
            return items[:-1], self.sum(last.items[1:])
        at = _find(items, lambda item: _role(item) == "MODIFIEROP")
        if at > 0 and not any(map(_is_relation, items[at:])):
            return items[:at], self.sum(items[at + 1 :])
        return items, None

    # -- sums

    def sum(self, items: Sequence[Item]) -> Node:
        """Read a list without relations as terms, by how tightly the signs between them bind."""
        if len(items) == 1 and items[0].role in _SYMBOLS:
            return self.node(items[0])  # type: ignore[arg-type]
        self._budget.spend(1 + len(items))
        if not items:
            return ABSENT
        roles = set(map(_role, items))
        if "ADDOP" not in roles and "MODIFIEROP" not in roles:
            return self.product(items, roles)
        modulo = _find(items, lambda item: _role(item) == "MODIFIEROP")
        if modulo > 0:
            return _named("modulo", self.sum(items[:modulo]), self.sum(items[modulo + 1 :]))
        terms: list[list[Item]] = [[]]
        signs: list[list[Node]] = [[]]
        joints: list[Node] = []
        place = 0
        while place < len(items):
            item = items[place]
            place += 1
            last = terms[-1]
            behind_factor = bool(last) and _role(last[-1]) in ("MULOP", "BINOP")
            if (
                not isinstance(item, Node)
                or _role(item) != "ADDOP"
                or behind_factor
                or self._is_open(last, items[place:])
            ):
                last.append(item)
                continue
            place, sign = self._sign(items, place - 1)
            if last:
                joints.append(sign)
                terms.append([])
                signs.append([])
            else:
                signs[-1].append(sign)
        if any(joint.meaning in _SETS for joint in joints):
            for term in terms:
                self._mark_sets(term)
        nodes: list[Node] = []
        for number, (term, before) in enumerate(zip(terms, signs, strict=True)):
            if not term and not before and nodes:
                nodes[-1] = apply(LIMIT_FROM, nodes[-1], joints.pop(number - 1))
                continue
            node = self.product(term) if term else before.pop() if before else ABSENT
            for sign in reversed(before):
                node = apply(sign, node)
            nodes.append(node)
        return self._associated(nodes, joints)

    @staticmethod
    def _is_open(term: Sequence[Item], rest: Sequence[Item]) -> bool:
        """Return True if an integral in a term waits for its differential: `\\int x+1\\,dx`."""
        start = _find(term, lambda item: _role(item) == "INTOP")
        if start < 0 or any(_differential_end(term, place) > place for place in range(start, len(term))):
            return False
        if any(isinstance(item, Node) and _is_fraction(item) and _is_differential(item.children[1].source[0])
               for item in term if isinstance(item, Node) and _is_fraction(item) and item.children[1].source):  # fmt: skip
            return False
        for place in range(len(rest)):
            if _role(rest[place]) == "INTOP":
                return False
            if _differential_end(rest, place) > place:
                return True
        return False

    def _associated(self, nodes: Sequence[Node], joints: Sequence[Node]) -> Node:
        loosest = min((_LOOSENESS.get(joint.meaning, 3) for joint in joints), default=3)
        if loosest == 3:
            return left_associated(nodes, joints)
        parts, outer, start = [], [], 0
        for place, joint in enumerate(joints):
            if _LOOSENESS.get(joint.meaning, 3) == loosest:
                parts.append(self._associated(nodes[start : place + 1], joints[start:place]))
                outer.append(joint)
                start = place + 1
        parts.append(self._associated(nodes[start:], joints[start:]))
        return left_associated(parts, outer)

    # -- products

    def product(self, items: Sequence[Item], roles: set[str] | None = None) -> Node:
        """Read a list without signs between terms: big operators take the rest, then signs between factors."""
        if len(items) == 1 and items[0].role in _SYMBOLS:
            return self.node(items[0])  # type: ignore[arg-type]
        self._budget.spend(1 + len(items))
        if roles is None:
            roles = set(map(_role, items))
        if roles.isdisjoint(_NOT_JUST_FACTORS):
            return _Factors(items, self).node() if items else ABSENT
        for place, item in enumerate(items):
            if isinstance(item, Node) and self._is_big(items, place):
                end = _scripts_end(items, place + 1)
                scripts = [each for each in items[place + 1 : end] if isinstance(each, Node)]
                items = [*items[:place], self.settle(self._big(item, scripts, items[end:]))]
                break
        bar = _find(items, _is_middle, 1)
        end = _scripts_end(items, bar + 1) if bar > 0 else 0
        if bar > 0 and end > bar + 1:
            bounds = [self.node(each.children[0]) for each in items[bar + 1 : end] if isinstance(each, Node)]
            items = [self.settle(_named("evaluated-at", self.product(items[:bar]), *bounds)), *items[end:]]
        slash = _find(items, lambda item: _is_sign(item, "/"), 1)
        if slash > 0:
            end = _differential_end(items, slash + 1)
            found = self._derivative(items[:slash], items[slash + 1 : end]) if end > slash + 1 else None
            if found is not None:
                return self.product([self.settle(found), *items[end:]]) if end < len(items) else found
        runs: list[list[Item]] = [[]]
        signs: list[Node] = []
        place = 0
        while place < len(items):
            item = items[place]
            if isinstance(item, Node) and _role(item) in ("MULOP", "BINOP") and len(items) > 1:
                place, sign = self._sign(items, place)
                signs.append(sign)
                runs.append([])
            else:
                runs[-1].append(item)
                place += 1
        nodes = [_Factors(run, self).node() if run else ABSENT for run in runs]
        result, previous = nodes[0], None
        for sign, left, run, node in zip(signs, runs, runs[1:], nodes[1:], strict=False):
            if (
                sign.text in ("⋅", "×", "*", "∙")
                and sign.kind == TOKEN
                and not (_is_capital(left) and _is_capital(run))
            ):
                result, previous = _product([result, node]), None
                continue
            if sign.text == "×" and sign.kind == TOKEN:
                sign = _CARTESIAN
            elif sign.text == "/":
                sign = operator("quotient" if self._divides(left, run) else "divide")
            if (
                previous is not None
                and same_operator(previous, sign)
                and sign.meaning not in ("divide", "quotient")
            ):
                result = apply(sign, *result.children[1:], node)
            else:
                result = apply(sign, result, node)
            previous = sign
        return result

    @staticmethod
    def _divides(left: Sequence[Item], right: Sequence[Item]) -> bool:
        """Return True if a structure is divided by another: `\\mathbb Z/n\\mathbb Z`, `G/N`."""
        first, second = (left[0] if left else None), (right[0] if right else None)
        if _names_set(first) or _is_sign(second, "similar-to", "∼"):
            return _is_letter(first)
        single = len(left) == 1 and len(right) == 1 and isinstance(first, Node) and isinstance(second, Node)
        return single and _is_capital(left) and _is_capital(right)

    # -- big operators, derivatives

    @staticmethod
    def _is_big(items: Sequence[Item], place: int) -> bool:
        item = items[place]
        kind = _role(item)
        if kind in ("SUMOP", "INTOP"):
            return True
        following = _role(items[place + 1]) if place + 1 < len(items) else ""
        name = item.meaning if isinstance(item, Node) else ""
        if kind == "OPERATOR" or name in ("maximum", "minimum", "supremum", "infimum"):
            return following == "POSTSUBSCRIPT"
        return kind == "LIMITOP" and name not in ("determinant", "dimension")

    def _big(self, head: Node, scripts: Sequence[Node], body: Sequence[Item]) -> Node:
        """Read a big operator with its scripts, applied to the rest of its term."""
        below = next((each.children[0] for each in scripts if each.role.endswith("SUBSCRIPT")), None)
        above = next((each.children[0] for each in scripts if each.role.endswith("SUPERSCRIPT")), None)
        limits = [] if above is None else [_qualifier("uplimit", self.node(above))]
        if _role(head) == "INTOP":
            return self._integral(head, below, limits, body)
        operands = [self.product(body)] if body else []
        if below is not None:
            operands += self._range(self.items(below))
        return apply(head, *operands, *limits)

    def _range(self, items: Sequence[Item]) -> list[Node]:
        """Read the range below an operator: `i=1`, `i\\in I`, `x\\to a`, or words."""
        if len(items) == 1 and isinstance(items[0], Node) and items[0].kind == TEXT:
            return [_named("condition", _words(items[0]))]
        at = _find(items, lambda item: _is_sign(item, "equals", *_APPROACHES))
        if 0 < at < len(items) - 1 and not any(map(_is_relation, items[at + 1 :])):
            variables = [_qualifier("bvar", self.sum(piece)) for piece in _parts(items[:at])]
            sign = items[at]
            assert isinstance(sign, Node)
            limit = (
                self._side(items[at + 1 :], sign)
                if sign.text in _APPROACHES
                else self.formula(items[at + 1 :])
            )
            return [*variables, _qualifier("lowlimit", limit)]
        return self._bound_by(items)

    def _integral(self, head: Node, below: Node | None, limits: list[Node], body: Sequence[Item]) -> Node:
        """Read an integral: its integrand, the variables of its differentials, its limits or its domain."""
        integrand, variables = self._without_differentials(body)
        inner: Node | None = None
        for place, item in enumerate(integrand if not variables else ()):
            if isinstance(item, Node) and _is_fraction(item):
                rest, variables = self._without_differentials(self.items(item.children[1]))
                if variables:
                    quotient = apply(
                        item.children[0], self.sum(rest) if rest else _whole(1), self.node(item.children[2])
                    )
                    others = [*integrand[:place], *integrand[place + 1 :]]
                    inner = _product([self.product(others), quotient]) if others else quotient
                    break
        if inner is None:
            inner = self.sum(integrand) if integrand else _whole(1)
        operands = [inner, *variables]
        if below is not None and not limits:
            operands.append(_named("domain", self.node(below)))
        elif below is not None:
            items = self.items(below)
            equation = _find(items, lambda item: _is_sign(item, "equals"))
            operands.append(_qualifier("lowlimit", self.sum(items[equation + 1 :])))
        is_plain = head.meaning.endswith("integral") or not head.meaning
        return apply(_INTEGRAL if is_plain else head, *operands, *limits)

    def _without_differentials(self, items: Sequence[Item]) -> tuple[list[Item], list[Node]]:
        """Return an integrand without its differentials, up to the next integral, and the variables that they bind."""
        left: list[Item] = []
        variables: list[Node] = []
        place = 0
        inner = sum(_role(item) == "INTOP" for item in items)
        while place < len(items):
            end = _differential_end(items, place)
            following = sum(_differential_end(items, each) > each for each in range(place + 1, len(items)))
            if end > place and (not inner or not following):
                variables.append(_qualifier("bvar", self.sum(items[place + 1 : end])))
                place = end
            else:
                left.append(items[place])
                place += 1
        return left, variables

    def _derivative(self, above: Sequence[Item], below: Sequence[Item]) -> Node | None:
        """Return the derivative that a fraction writes, or None; one without its function has an absent operand."""
        if not above or len(below) < 2:
            return None
        is_partial = _is_sign(above[0], _PARTIAL)
        if not is_partial and not _is_differential(above[0]):
            return None
        variables: list[Node] = []
        place = 0
        while place < len(below):
            is_same = _is_sign(below[place], _PARTIAL) if is_partial else _is_differential(below[place])
            if not is_same or place + 1 >= len(below) or isinstance(below[place + 1], Group):
                return None
            end = _scripts_end(below, place + 2)
            order = [each for each in below[place + 2 : end] if _role(each).endswith("SUPERSCRIPT")]
            plain = [each for each in below[place + 1 : end] if each not in order]
            orders = [self.node(each.children[0]) for each in order if isinstance(each, Node)]
            variables.append(_qualifier("bvar", self.product(plain), *orders))
            place = end
        rest = above[_scripts_end(above, 1) :]
        if rest and isinstance(rest[0], Node) and _is_letter(rest[0]) and _letter(rest[0]) in _DIFFERENTIABLE:
            self.functions.add(_letter(rest[0]))
        function = self.product(rest) if rest else ABSENT
        return apply(operator(_PARTIAL if is_partial else "differential"), function, *variables)

    # -- groups

    def fence(self, group: Group) -> Node:
        """Return the meaning of a group that is not an argument: a pair, an interval, a set, an absolute value."""
        around = group.opening + group.closing
        pieces = _parts(group.items)
        if not pieces:
            return apply(operator("list"))
        if around in _AROUND:
            return _named(_AROUND[around], self.formula(group.items))
        if around == "{}":
            bar = _find(group.items, _is_middle)
            bar = _find(group.items, _is_colon) if bar < 0 else bar
            if 0 < bar < len(group.items) - 1:
                parts = self.formula(group.items[:bar]), self.formula(group.items[bar + 1 :])
                return _named("conditional-set", *parts)
            return _named("set", *map(self._item, pieces))
        if around == "⟨⟩":
            name = {1: "generated", 2: "inner-product"}.get(len(pieces), "list")
            return _named(name, *map(self.formula, pieces))
        if len(pieces) == 1:
            colon = _find(group.items, _is_colon)
            if around == "[]" and 0 < colon < len(group.items) - 1:
                return _named("index", self.sum(group.items[:colon]), self.sum(group.items[colon + 1 :]))
            return self.formula(group.items)
        nodes = list(map(self._item, pieces))
        if len(pieces) == 2 and around in _INTERVALS:
            return _named(_INTERVALS[around], *nodes)
        is_interval = group.is_set or any(_is_sign(piece[-1], "infinity") for piece in pieces)
        if len(pieces) == 2 and around == "()" and is_interval:
            return _named("open-interval", *nodes)
        return _named("vector" if group.opening == "(" else "list", *nodes)

    def _item(self, piece: Sequence[Item]) -> Node:
        """Read one item of a tuple, which may be a sign alone, as in `(\\mathbb R,+)`."""
        only = piece[0]
        return (
            only if len(piece) == 1 and isinstance(only, Node) and only.kind == TOKEN else self.formula(piece)
        )

    def arguments(self, group: Group) -> list[Node]:
        """Read the arguments of a function; a bar is a condition (`P(A|B)`)."""
        bar = _find(group.items, _is_middle)
        if 0 < bar < len(group.items) - 1:
            return [
                _named("conditional", self.formula(group.items[:bar]), self.formula(group.items[bar + 1 :]))
            ]
        pieces = _parts(group.items)
        return list(map(self._item, pieces)) if pieces else [ABSENT]

    # -- scripts

    def scripted(self, base: Item, node: Node, scripts: Sequence[Node]) -> Node:
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
        items = self.items(index)
        letters = [item for item in items if isinstance(item, Node) and _is_plain(item)]
        if 1 < len(items) <= 4 and len(letters) == len(items):
            return apply(_INDEX, node, *letters)
        pieces = _parts(items)
        if len(pieces) > 1 and not any(map(_is_relation, items)):
            return apply(_INDEX, node, *map(self.sum, pieces))
        return apply(_INDEX, node, self.node(index))

    def _above(self, base: Item, node: Node, exponent: Node) -> Node:
        """Read a superscript: primes, a mark with a meaning, or a power."""
        items = self.items(exponent)
        name = _letter(base) if isinstance(base, Node) and _is_letter(base) else ""
        primes = 0
        while primes < len(items) and _role(items[primes]) == "SUPOP":
            primes += 1
        if primes:
            count = sum(len(item.text) for item in items[:primes] if isinstance(item, Node))
            orders = [_whole(count)] if count > 1 else []
            is_function = isinstance(base, Group) or name in _DIFFERENTIABLE or name in self.functions
            if is_function and name:
                self.functions.add(name)
            node = _named("derivative" if is_function else "prime", node, *orders)
            return apply(_POWER, node, self.sum(items[primes:])) if primes < len(items) else node
        only = items[0] if len(items) == 1 else None
        is_function = name in _FUNCTIONS or name in self.functions
        if isinstance(only, Node):
            if only.text in _MARKS and not only.children and only.kind not in (SCRIPT, TEXT):
                return _named(_MARKS[only.text], node)
            if _is_sign(only, "compose", "∘", "°"):
                return _named(
                    "degrees" if _role(base) == "NUMBER" or name in "αβγθφϕψxyn" else "interior", node
                )
            if _is_letter(only) and _letter(only) == "T" and _role(base) != "NUMBER" and name != "e":
                return _named("transpose", node)
        if (
            isinstance(only, Group)
            and only.opening == "("
            and (is_function or name in _DIFFERENTIABLE)
            and name
        ):
            return _named("derivative", node, self.fence(only))
        if len(items) == 2 and _is_sign(items[0], "minus") and _is_sign(items[1], "1") and is_function:
            return _named("inverse", node)
        return apply(_POWER, node, self.node(exponent))

    # -- application

    def applies(self, head: Node, node: Node, group: Group) -> bool:
        """Return True if a letter (with its scripts: `node`) is applied to the group after it."""
        name, items = _letter(head), group.items
        if group.opening == "[":
            return name in "EPℙ𝔼" or (_names_set(head) and len(items) < 4)
        if group.opening != "(":
            return False
        if (
            _names_set(head)
            or not items
            or name in _FUNCTIONS
            or name in self.functions
            or len(head.text) > 1
        ):
            return True
        if node.kind == APPLY and node.children[0].meaning in ("derivative", "inverse"):
            return True
        if len(_parts(items)) > 1 and not all(_role(item) in ("NUMBER", "PUNCT", "ADDOP") for item in items):
            return True
        if any(
            _role(item) in ("RELOP", "VERTBAR", "MIDDLE") or _is_sign(item, "union", "intersection")
            for item in items
        ):
            return True
        inside = {_letter(each) for each in _letters(items)}
        if name in inside:
            return False
        first = items[0]
        if _role(first) in ("UNKNOWN", "ID", "NUMBER") and _scripts_end(items, 1) == len(items):
            return _role(first) != "NUMBER" or node is head
        if node.kind == APPLY and node.children[0].role == "SUPERSCRIPTOP":
            return False
        if name in _CAPITALS:
            return not any(each.isupper() for each in inside) or name in "PE"
        return name in _CURVES and not inside.isdisjoint(_ARGUMENTS)


class _Factors:
    """Factors side by side, read from the left: symbols with scripts, functions with arguments, operators with operands."""

    def __init__(self, items: Sequence[Item], grammar: Mathematician) -> None:
        self._items, self._grammar, self._i = items, grammar, 0

    def node(self) -> Node:
        """Return all factors as a product."""
        factors: list[Node] = []
        while self._i < len(self._items):
            factors.append(self._factor())
        return _product(factors) if factors else ABSENT

    def _next(self) -> Item | None:
        return self._items[self._i] if self._i < len(self._items) else None

    def _factor(self) -> Node:
        item = self._items[self._i]
        kind = _role(item)
        grammar = self._grammar
        if isinstance(item, Group) or kind in ("UNKNOWN", "ID", "NUMBER", "ATOM"):
            end = _differential_end(self._items, self._i)
            following = self._items[self._i + 1] if end > self._i else None
            if isinstance(following, Node) and _is_letter(following) and _letter(following) in _DIFFERENTIALS:
                inner = grammar.product(self._items[self._i + 1 : end])
                self._i = end
                return _named("differential-d", inner)
            return self._symbol(item)
        self._i += 1
        if kind in ("FLOATSUPERSCRIPT", "FLOATSUBSCRIPT"):
            self._i -= 1
            scripts = self._scripts()
            base = self._factor() if self._next() is not None else ABSENT
            for script in scripts:
                sign = _POWER if script.role.endswith("SUPERSCRIPT") else _INDEX
                base = apply(sign, base, grammar.node(script.children[0]))
            return base
        if kind in _NAMED or (kind == "LIMITOP" and item.meaning in ("determinant", "dimension")):
            return self._function(item)
        if kind == "ADDOP":
            return apply(item, self._factor()) if self._next() is not None else item
        if kind in ("DIFFOP", "OPERATOR"):
            return self._operated(item, kind)
        self._i -= 1
        return self._symbol(item)

    def _scripts(self) -> list[Node]:
        end = _scripts_end(self._items, self._i)
        found = [item for item in self._items[self._i : end] if isinstance(item, Node)]
        self._i = end
        return found

    def _postfixed(self, node: Node) -> Node:
        """Return the node with factorials that directly follow it, and scripts on them."""
        while isinstance(item := self._next(), Node):
            if _role(item) == "POSTFIX":
                node = apply(item, node)
                self._i += 1
            elif _role(item) in ("POSTSUPERSCRIPT", "POSTSUBSCRIPT"):
                node = self._grammar.scripted(item, node, self._scripts())
            else:
                break
        return node

    def _symbol(self, item: Item) -> Node:
        """Read one symbol or group with its scripts, applied to the next group if it is a function."""
        self._i += 1
        grammar = self._grammar
        base = grammar.fence(item) if isinstance(item, Group) else grammar.node(item)
        node = grammar.scripted(item, base, self._scripts())
        if (
            node.kind == APPLY
            and len(node.children) > 2
            and node.children[1] is ABSENT
            and self._next() is not None
            and node.children[0].meaning in ("differential", _PARTIAL)
        ):  # the function follows
            rest = grammar.product(self._items[self._i :])
            self._i = len(self._items)
            return apply(node.children[0], rest, *node.children[2:])
        group = self._next()
        if isinstance(group, Group) and self._is_applied(item, node, group):
            self._i += 1
            operands = grammar.arguments(group)
            if isinstance(item, Node):
                name = _letter(item)
                if name in "ℝℕℤℂℚ" or (group.opening == "[" and name not in "EPℙ𝔼"):
                    return self._postfixed(_named("adjoin", node, *operands))
                if not _names_set(item):
                    grammar.functions.add(name)
            node = _applied(node, operands)
        return self._postfixed(node)

    def _is_applied(self, item: Item, node: Node, group: Group) -> bool:
        if isinstance(item, Node):
            return _is_letter(item) and self._grammar.applies(item, node, group)
        known = _FUNCTIONS | self._grammar.functions
        letters = [each for each in item.items if isinstance(each, Node) and _role(each) != "ADDOP"]
        composed = any(_is_sign(each, "compose", "∘") for each in item.items)
        functions = bool(letters) and all(_is_letter(each) and _letter(each) in known for each in letters)
        return item.opening == group.opening == "(" and (composed or functions)

    def _function(self, head: Node) -> Node:
        """Read a named function with its scripts and its argument: a group, or what follows up to the next function."""
        grammar = self._grammar
        name, powers, below = head, [], []
        for script in self._scripts():
            inner = script.children[0]
            items = grammar.items(inner)
            if not script.role.endswith("SUPERSCRIPT"):
                below.append(grammar.node(inner))
            elif head.meaning in _INVERSES and len(items) == 2 and _is_sign(items[0], "minus"):
                name = operator(_INVERSES[head.meaning])
            else:
                powers.append(grammar.node(inner))
        operands = self._operands()
        if below and head.meaning == "logarithm" and operands:
            operands += below
        elif below:
            name = apply(_INDEX, name, *below)
        node = _applied(name, operands) if operands else name
        for power in powers:
            node = apply(_POWER, node, power)
        return self._postfixed(node)

    def _operands(self) -> list[Node]:
        item = self._next()
        if isinstance(item, Group) and item.opening in "([{":
            self._i += 1
            is_set = item.opening == "{" and any(_is_colon(each) or _is_middle(each) for each in item.items)
            return [self._grammar.fence(item)] if is_set else self._grammar.arguments(item)
        start = end = self._i
        while end < len(self._items):
            item = self._items[end]
            if _role(item) in _NAMED:
                end = len(self._items) if end == start else end
                break
            if isinstance(item, Group) and end > start:
                before = self._items[end - 1]
                if not (
                    isinstance(before, Node)
                    and _is_letter(before)
                    and self._grammar.applies(before, before, item)
                ):
                    break
            if end > start and _differential_end(self._items, end) > end:
                break
            end = _scripts_end(self._items, end + 1)
        self._i = end
        return [self._grammar.product(self._items[start:end])] if end > start else []

    def _operated(self, head: Node, kind: str) -> Node:
        """Apply an operator to the next factor: `\\nabla f`, `\\partial_x f`."""
        grammar = self._grammar
        scripts = self._scripts()
        below = next((each for each in scripts if each.role.endswith("SUBSCRIPT")), None)
        operand = self._factor() if self._next() is not None else None
        if kind == "DIFFOP" and below is not None:
            orders = [grammar.node(each.children[0]) for each in scripts if each.role.endswith("SUPERSCRIPT")]
            variable = _qualifier("bvar", grammar.node(below.children[0]), *orders)
            return apply(head, operand or ABSENT, variable)
        node = grammar.scripted(head, head, scripts)
        return node if operand is None else _applied(node, [operand])
