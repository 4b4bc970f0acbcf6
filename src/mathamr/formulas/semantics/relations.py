"""Relations: chains, maps, limits, congruences, divisibility."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import decorated, joined_relation, listed, relation
from mathamr.formulas.latex.node import ABSENT, APPLY, DUAL, INVISIBLE_COMMA, TOKEN, Node, apply, operator
from mathamr.formulas.semantics.items import (
    Group,
    Item,
    is_group,
    is_middle,
    is_sign,
    place,
    role,
    scripts_end,
    split,
)
from mathamr.formulas.semantics.letters import is_letter, is_structure, letter
from mathamr.formulas.semantics.nodes import named, symbolic
from mathamr.formulas.semantics.protocol import MeaningGrammar
from mathamr.formulas.semantics.traits import ARROW, MOD, RELATION, SCRIPTS, item_traits, traits_of

_ARROWS = {"→": "map", "⟶": "map", "↪": "injective-map", "↣": "injective-map", "↠": "surjective-map"}
_APPROACHES = {
    "→": "", "⟶": "", "↑": "from-below", "↗": "from-below", "↓": "from-above", "↘": "from-above",
}  # fmt: skip
"""Arrows to a point, and the side from which they approach it."""
_MEMBERSHIP = (
    "element-of",
    "not-element-of",
    "subset-of",
    "subset-of-or-equals",
    "superset-of",
    "superset-of-or-equals",
)
_SET_SIGNS = ("union", "intersection", "set-minus")


def is_relation(item: Item) -> bool:
    """True if the item relates two sides."""
    return bool(item_traits(item) & RELATION)


def related(
    items: Sequence[Item],
    grammar: MeaningGrammar,
    left: Sequence[Sequence[Item]] = (),
    right: Sequence[Sequence[Item]] = (),
) -> Node:
    """Reads alternating sides and relations; `left` and `right` are further items of the first and the last side."""
    traits = traits_of(items)
    if traits & ARROW:
        mapped = _map(items, grammar, left)
        if mapped is not None and not right:
            return mapped
    items, modulus = _modulus(items, traits, grammar)
    if not traits & RELATION and modulus is None and not left and not right:
        return grammar.sum(items) if items else ABSENT
    sides: list[Sequence[Item]] = []
    signs: list[Node] = []
    start = position = 0
    while position < len(items):
        item = items[position]
        if not isinstance(item, Node) or not is_relation(item) or _is_no_relation(items, position):
            position += 1
            continue
        sides.append(items[start:position])
        position, sign = _sign(items, position)
        signs.append(sign)
        start = position
    sides.append(items[start:])
    _mark(sides, signs)
    nodes = [_side(side, sign, grammar) for side, sign in zip(sides, [None, *signs], strict=True)]
    if left:
        nodes[0] = _together([*(grammar.sum(side) for side in left), nodes[0]])
    if right:
        nodes[-1] = _together([nodes[-1], *(grammar.sum(side) for side in right)])
    if modulus is not None and not signs:
        return named("modulo", nodes[0], modulus)
    parts: list[Node] = [nodes[0]]
    for sign, side, node in zip(signs, sides[1:], nodes[1:], strict=True):
        parts += (_meaning(sign, parts[-1], side, grammar), node)
    if modulus is not None:
        return _congruent(parts, modulus)
    return relation(parts)


def _side(items: Sequence[Item], sign: Node | None, grammar: MeaningGrammar) -> Node:
    """Reads one side of a relation; after an arrow it may be a point that is approached from one side."""
    if not items:
        return ABSENT
    return (
        approached(items, sign, grammar)
        if sign is not None and sign.text in _APPROACHES
        else grammar.sum(items)
    )


def approached(items: Sequence[Item], arrow: Node, grammar: MeaningGrammar) -> Node:
    """Reads the point of a limit, perhaps from one side: `0^+`."""
    side = _APPROACHES.get(arrow.text, "")
    last = items[-1]
    if isinstance(last, Node) and last.role == "POSTSUPERSCRIPT" and len(items) > 1:
        sign = last.children[0]
        if sign.kind == TOKEN and sign.meaning in ("plus", "minus"):
            side = "from-above" if sign.meaning == "plus" else "from-below"
            items = items[:-1]
    point = grammar.sum(items)
    return named(side, point) if side else point


def _together(nodes: Sequence[Node]) -> Node:
    parts: list[Node] = [nodes[0]]
    for node in nodes[1:]:
        parts += (INVISIBLE_COMMA, node)
    return listed(parts)


def _is_no_relation(items: Sequence[Item], position: int) -> bool:
    """True if a bar carries bounds (`F(x)|_a^b`), or a sign names the divisor (`X/{\\sim}`)."""
    if position > 0 and is_sign(items[position - 1], "/"):
        return True
    return is_middle(items[position]) and scripts_end(items, position + 1) > position + 1


def _sign(items: Sequence[Item], position: int) -> tuple[int, Node]:
    """Returns the sign at a place with its scripts, and the position after it; `<=` is one sign."""
    sign = items[position]
    position += 1
    following = items[position] if position < len(items) else None
    if not isinstance(sign, Node):
        return position, ABSENT
    if (
        isinstance(following, Node)
        and sign.key in ("less-than", "greater-than")
        and role(following) == "RELOP"
        and following.key in (sign.key, "equals")
    ):
        return position + 1, joined_relation(sign, following)
    while position < len(items) and role(items[position]) in SCRIPTS:
        script = items[position]
        if isinstance(script, Node) and script.kind != TOKEN and script.children:
            sign = decorated(sign, script)
        position += 1
    return position, sign


def _meaning(sign: Node, left: Node, right: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Returns the meaning of a sign between two sides."""
    if role(sign) in ("VERTBAR", "MIDDLE"):
        if sign.text in ("|", "∣"):
            return operator("factor-of")
        return sign
    if sign.text in ("→", "⟶"):
        if not _is_set(right) and not _names_set(left):
            return operator("tends-to")
        if sign.text == "⟶":
            return Node(TOKEN, "ARROW", "→")
    if sign.text == "⟼":
        return operator("maps-to")
    if sign.text in ("⊴", "⊲", "◁") and sign.kind == TOKEN:
        return operator("normal-subgroup-of")
    if sign.text == "≅":
        return operator("isomorphic-to")
    return sign


def _names_set(node: Node) -> bool:
    """True if the node is a capital letter or a letter of a set, perhaps with scripts."""
    while node.kind in (APPLY, DUAL) and len(node.children) > 1:
        node = node.children[1] if node.kind == APPLY else node.children[0]
    return node.kind == TOKEN and (is_structure(node) or (is_letter(node) and letter(node).isupper()))


def _is_set(items: Sequence[Item]) -> bool:
    first = items[0] if items else None
    return isinstance(first, Node) and is_letter(first) and (is_structure(first) or letter(first).isupper())


def _mark(sides: Sequence[Sequence[Item]], signs: Sequence[Node]) -> None:
    """Marks the use of groups: intervals after `\\in`, a greatest common divisor before `=1`."""
    for sign, side in zip(signs, sides[1:], strict=True):
        if sign.meaning in _MEMBERSHIP:
            as_intervals(side)
    if len(sides) == 2 and is_sign(signs[0], "equals") and len(sides[0]) == 1 and len(sides[1]) == 1:
        group, value = sides[0][0], sides[1][0]
        if isinstance(group, Group) and is_group(group) and is_sign(value, "1"):
            group.use = "gcd"


def as_intervals(side: Sequence[Item]) -> None:
    """Marks the groups of a side that is made of sets as intervals."""
    for item in side:
        if isinstance(item, Group) and not item.use:
            item.use = "interval"
        elif not isinstance(item, Group) and not is_sign(item, *_SET_SIGNS):
            return


def _map(items: Sequence[Item], grammar: MeaningGrammar, left: Sequence[Sequence[Item]]) -> Node | None:
    """Reads `f: A \\to B`, `A \\xrightarrow{f} B`, `f: x \\mapsto y`."""
    colon = place(items, lambda item: is_sign(item, "colon", ":"))
    arrow = place(items, lambda item: role(item) == "ARROW", colon + 1)
    sign = items[arrow] if arrow > 0 else None
    if not isinstance(sign, Node):
        return None
    if colon > 0:
        name = grammar.sum(items[:colon])
        if left:
            name = _together([*(grammar.sum(each) for each in left), name])
        for item in [*items[:colon], *(each[0] for each in left)]:
            if isinstance(item, Node) and is_letter(item):
                grammar.notes.functions.add(letter(item))
        if sign.text in ("↦", "⟼"):
            return named("map", name, related(items[colon + 1 :], grammar))
        kind = _ARROWS.get(_plain(sign).text)
        if kind is None or any(map(is_relation, items[colon + 1 : arrow])):
            return None
        for side in (items[colon + 1 : arrow], items[arrow + 1 :]):
            as_intervals(side)
        rest = items[scripts_end(items, arrow + 1) :]
        if any(map(is_relation, rest)):
            return None
        return named(kind, name, _sets(items[colon + 1 : arrow], grammar), _sets(rest, grammar))
    above = _above(sign)
    kind = _ARROWS.get(_plain(sign).text)
    if above is None or kind is None or sum(map(is_relation, items)) > 1:
        return None
    return named(kind, grammar.node(above), grammar.sum(items[:arrow]), grammar.sum(items[arrow + 1 :]))


def _sets(items: Sequence[Item], grammar: MeaningGrammar) -> Node:
    """Reads a domain: the factors of a product of letters are sets."""
    pieces = split(items, lambda item: is_sign(item, "times", "×"))
    if len(pieces) > 1 and all(pieces):
        return apply(symbolic("cartesian-product"), *(grammar.sum(piece) for piece in pieces))
    return grammar.sum(items)


def _plain(arrow: Node) -> Node:
    """Returns the arrow without its labels."""
    while arrow.kind == APPLY and len(arrow.children) > 1:
        arrow = arrow.children[1]
    return arrow


def _above(arrow: Node) -> Node | None:
    if arrow.kind == APPLY and len(arrow.children) == 2 and arrow.children[0].role == "OVERACCENT":
        return arrow.children[0]
    return None


def _modulus(
    items: Sequence[Item], traits: int, grammar: MeaningGrammar
) -> tuple[Sequence[Item], Node | None]:
    """Returns what comes before `\\pmod n`, `\\bmod n` or `(mod n)` at the end, and the modulus."""
    if not items:
        return items, None
    last = items[-1]
    if isinstance(last, Node) and role(last) == "MODIFIER" and last.kind == DUAL:
        return items[:-1], grammar.node(last.children[0].children[-1])
    if (
        isinstance(last, Group)
        and is_group(last)
        and last.items
        and _is_mod(last.items[0])
        and len(items) > 1
    ):
        return items[:-1], grammar.sum(last.items[1:])
    at = place(items, _is_mod) if traits & MOD else -1
    if at > 0 and not any(map(is_relation, items[at:])):
        return items[:at], grammar.sum(items[at + 1 :])
    return items, None


def _is_mod(item: Item) -> bool:
    return isinstance(item, Node) and item.kind == TOKEN and item.text == "mod"


def _congruent(parts: Sequence[Node], modulus: Node) -> Node:
    """Reads a chain of congruences; other relations of the chain are unchanged; without a relation it is a remainder."""
    if len(parts) == 3 and not _may_be_congruence(parts[1]):
        return apply(parts[1], parts[0], named("modulo", parts[2], modulus))
    made = [
        named("congruent", parts[i - 1], parts[i + 1], modulus)
        if _may_be_congruence(parts[i])
        else apply(parts[i], parts[i - 1], parts[i + 1])
        for i in range(1, len(parts), 2)
    ]
    return made[0] if len(made) == 1 else named("and", *made)


def _may_be_congruence(sign: Node) -> bool:
    return sign.meaning in ("equivalent-to", "equals") or sign.text in ("≡", "≅")
