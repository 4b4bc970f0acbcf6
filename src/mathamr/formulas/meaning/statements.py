"""`Mathematician`: what a formula means, read from the same nodes as the published trees.

The published operator trees group a formula as LaTeXML does. This reading knows application (`f(x)`), bound variables, integrals,
derivatives, indices, maps and quantifiers; lexical search takes its terms from it. Precedence falls from `formula` (words,
implications, lists) and `relation` here over `Expressions` to `FactorReader`.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.latex.assembly import formulae, listed, relation
from mathamr.formulas.latex.grammar.rules import TooDeepError
from mathamr.formulas.latex.node import ABSENT, DUAL, INVISIBLE_COMMA, TEXT, Node, apply, operator
from mathamr.formulas.meaning.expressions import SETS, Expressions
from mathamr.formulas.meaning.items import (
    PUNCTUATION,
    RELATIONS,
    Group,
    Item,
    find_item,
    is_capital,
    is_colon,
    is_letter,
    is_middle,
    is_relation,
    is_sign,
    item_role,
    letter_name,
    list_parts,
    scripts_end,
    split_items,
)
from mathamr.formulas.meaning.reading import apply_named, separate

VERSION = 3
"""The version of this reading; when it rises, the next `mathamr index` makes the terms of formulas anew."""
_IMPLICATIONS = {"⇔": "iff", "⟺": "iff", "⇒": "implies", "⟹": "implies", "⇐": "implied-by", "⟸": "implied-by"}
_CONNECTIVES = {
    "and": "and", "or": "or", "iff": "iff", "implies": "implies", "then": "implies", "if": "implied-by",
}  # fmt: skip
_SEPARATING = frozenset(
    ["where", "for", "with", "such that", "for all", "for every", "for each", "for some", "as"]
)
_MAPS = {"→": "map", "⟶": "map", "↪": "injective-map", "↠": "surjective-map"}
_RELATING = RELATIONS | {"MODIFIER", "MODIFIEROP", "GROUP"}


class Mathematician(Expressions):
    """Reads statements: words, implications, quantifiers, lists and relations."""

    def formula(self, items: Sequence[Item]) -> Node:
        """Return the meaning of a list, from the loosest binding inwards: words, implications, quantifiers, lists."""
        self._budget.spend(1 + len(items))
        start, end = 0, len(items)
        while end > start and item_role(items[end - 1]) in PUNCTUATION:
            end -= 1
        while start < end and item_role(items[start]) in PUNCTUATION:
            start += 1
        items = items[start:end]
        if not items:
            return ABSENT
        if len(items) == 1:
            return self.sum(items)
        quantifier = find_item(items, self._is_quantifier)
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
                start = scripts_end(items, place + 1)
        sides.append(self.formula(items[start:]))
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
                        apply_named("implies", right, left)
                        if name == "implied-by"
                        else apply_named(name, left, right)
                    )
        for name in ("or", "and"):
            pieces = split_items(items, lambda item, name=name: is_sign(item, name))  # type: ignore[misc]
            if len(pieces) > 1 and sum(any(map(is_relation, piece)) for piece in pieces) > 1 and all(pieces):
                return apply_named(name, *map(self.formula, pieces))
        return None

    def _quantified(self, items: Sequence[Item], body: Sequence[Item]) -> Node:
        """Read a quantifier with its variables, their condition, and the formula that it applies to."""
        head = items[0]
        name = head.meaning if isinstance(head, Node) else ""
        start = 1
        if start < len(items) and is_sign(items[start], "factorial"):
            name, start = "exists-unique", start + 1
        end = find_item(items, self._ends_condition, start)
        end = len(items) if end < 0 else end
        if (
            end > start
            and not any(map(is_relation, items[start:end]))
            and not list_parts(items[start:end])[1:]
        ):
            end = min(end, scripts_end(items, start + 1))
        operands = self._bound_by(items[start:end])
        while end < len(items) and (is_colon(items[end]) or is_middle(items[end])):
            end += 1
        rest = [*body, *items[end:]]
        if rest:
            operands.append(self.formula(rest))
        return apply(operator(name), *operands)

    def _ends_condition(self, item: Item) -> bool:
        ends = item_role(item) in PUNCTUATION or is_colon(item) or is_middle(item)
        return ends or self._is_quantifier(item)

    def _listed(self, items: Sequence[Item]) -> Node:
        """Read formulas or expressions with punctuation between them."""
        pieces = [piece for piece in split_items(items, lambda item: item_role(item) in PUNCTUATION) if piece]
        if len(pieces) == 1:
            return self.relation(pieces[0])
        related = [any(map(is_relation, piece)) for piece in pieces]
        if not any(related):
            return listed(separate(list(map(self.sum, pieces))))
        made: list[Node] = []
        place, first = 0, related.index(True)
        while place < len(pieces):
            left, place = (pieces[place:first], first) if place < first else ([], place)
            end = place + 1
            while end < len(pieces) and not related[end]:
                end += 1
            made.append(self.relation(pieces[place], left, pieces[place + 1 : end]))
            place = first = end
        return made[0] if len(made) == 1 else formulae(separate(made))

    # -- relations

    def relation(
        self, items: Sequence[Item], left: Sequence[Sequence[Item]] = (), right: Sequence[Sequence[Item]] = ()
    ) -> Node:
        """Read alternating sides and relations; `left` and `right` are further items of the first and the last side."""
        roles = set(map(item_role, items))
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
            bounded = is_middle(item) and scripts_end(items, place + 1) > place + 1
            divisor = place > 0 and is_sign(items[place - 1], "/")
            if not isinstance(item, Node) or not is_relation(item) or bounded or divisor:
                place += 1
                continue
            sides.append(items[start:place])
            place, sign = self._sign(items, place)
            signs.append(sign)
            start = place
        sides.append(items[start:])
        for sign, side in zip(signs, sides[1:], strict=True):
            if sign.meaning in SETS:
                self._mark_sets(side)
        nodes = [self._side(side, sign) for side, sign in zip(sides, [None, *signs], strict=True)]
        if left:
            nodes[0] = listed(separate([*map(self.sum, left), nodes[0]]))
        if right:
            nodes[-1] = listed(separate([nodes[-1], *map(self.sum, right)]))
        if modulus is not None:
            if len(nodes) == 2 and (signs[0].meaning in ("equivalent-to", "equals") or signs[0].text in "≡≅"):
                return apply_named("congruent", *nodes, modulus)
            nodes[-1] = apply_named("modulo", nodes[-1], modulus)
        parts: list[Node] = [nodes[0]]
        for sign, side, node in zip(signs, sides[1:], nodes[1:], strict=True):
            parts += (self._sign_between(sign, sides[0], side), node)
        return relation(parts)

    @staticmethod
    def _sign_between(sign: Node, left: Sequence[Item], right: Sequence[Item]) -> Node:
        if is_middle(sign):
            return operator("factor-of") if sign.text in "|∣" else sign
        if sign.text in ("→", "⟶") and not is_capital(right) and not is_capital(left):
            return operator("tends-to")
        return operator("isomorphic-to") if sign.text == "≅" else sign

    def _map(self, items: Sequence[Item], left: Sequence[Sequence[Item]]) -> Node | None:
        """Read `f: A \\to B` and `f: x \\mapsto y`."""
        colon = find_item(items, is_colon)
        arrow = find_item(items, lambda item: item_role(item) == "ARROW", colon + 1) if colon > 0 else -1
        sign = items[arrow] if arrow > 0 else None
        if not isinstance(sign, Node):
            return None
        domain, target = items[colon + 1 : arrow], items[scripts_end(items, arrow + 1) :]
        is_element = sign.text in ("↦", "⟼")
        if not is_element and (sign.text not in _MAPS or any(map(is_relation, [*domain, *target]))):
            return None
        name = self.sum(items[:colon])
        if left:
            name = listed(separate([*map(self.sum, left), name]))
        self.functions.update(
            letter_name(item) for item in items[:colon] if isinstance(item, Node) and is_letter(item)
        )
        if is_element:
            return apply_named("map", name, self.relation(items[colon + 1 :]))
        self._mark_sets(domain)
        self._mark_sets(target)
        return apply_named(_MAPS[sign.text], name, self.sum(domain), self.sum(target))

    def _modulus(self, items: Sequence[Item]) -> tuple[Sequence[Item], Node | None]:
        """Return what comes before `\\pmod n` or `(mod n)` at the end, and the modulus."""
        last = items[-1] if items else None
        if isinstance(last, Node) and item_role(last) == "MODIFIER" and last.kind == DUAL:
            return items[:-1], self.node(last.children[0].children[-1])
        if isinstance(last, Group) and last.items and is_sign(last.items[0], "mod") and len(items) > 1:
            return items[:-1], self.sum(last.items[1:])
        at = find_item(items, lambda item: item_role(item) == "MODIFIEROP")
        if at > 0 and not any(map(is_relation, items[at:])):
            return items[:at], self.sum(items[at + 1 :])
        return items, None


def meaning(node: Node, budget: Budget) -> Node:
    """Return the node of a formula's meaning; one that exceeds its budget or the depth keeps its own."""
    try:
        return Mathematician(budget).node(node)
    except (SpentError, TooDeepError, RecursionError):
        return node
