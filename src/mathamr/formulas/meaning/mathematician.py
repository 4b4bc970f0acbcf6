"""`Mathematician`: what a formula means, read from the same nodes as the published trees.

The published operator trees group a formula as LaTeXML does. This reading knows application (`f(x)`), derivatives, big operators with the
variables that they bind, and products without their grouping; lexical search takes its terms from it. Precedence falls from lists and
relations over sums and products to `FactorReader`.
"""

from __future__ import annotations

from collections.abc import Sequence

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
)
from mathamr.formulas.latex.grammar.rules import TooDeepError
from mathamr.formulas.latex.node import (
    ABSENT,
    APPLY,
    ARRAY,
    DUAL,
    HINT,
    TEXT,
    TOKEN,
    Node,
    apply,
    operator,
    row,
)
from mathamr.formulas.meaning.factors import FactorReader
from mathamr.formulas.meaning.items import (
    PARTIAL,
    PUNCTUATION,
    RELATIONS,
    Group,
    Item,
    find_item,
    is_differential,
    is_letter,
    is_middle,
    is_relation,
    is_sign,
    item_role,
    list_parts,
    scripts_end,
    split_items,
)
from mathamr.formulas.meaning.reading import (
    Reading,
    apply_named,
    make_qualifier,
    make_words,
    multiply,
    separate,
)

VERSION = 6
"""The version of this reading; when it rises, the next `mathamr index` makes the terms of formulas anew."""
_ARROWS = ("→", "⟶", "↑", "↗", "↓", "↘")
_SYMBOLS = frozenset(["UNKNOWN", "NUMBER"])
_RELATING = RELATIONS | {"MODIFIER", "MODIFIEROP", "GROUP"}
_NOT_JUST_FACTORS = frozenset(
    "MULOP BINOP SUMOP INTOP LIMITOP OPERATOR OPFUNCTION VERTBAR MIDDLE ID ADDOP".split()  # noqa: SIM905
)
"""Roles without which a list is only factors side by side; `\\max` is among the functions."""


class Mathematician(Reading):
    """Reads one formula."""

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
        return make_words(node) if node.kind == TEXT else node

    def _application(self, node: Node) -> Node:
        """Read the result of a command: a fraction, an accent, a root, a binomial."""
        head, *operands = node.children
        if node.meaning or node.role == "ID" or not operands:
            return node
        if head.role == "FRACOP" and head.meaning == "divide":
            found = self._derivative(self.items(operands[0]), self.items(operands[1]))
            if found is not None:
                return found
        made = node.with_role(node.role)
        made.source = ()
        made.children = (head, *(self.node(operand) for operand in operands if operand.kind != HINT))
        return made

    def _derivative(self, above: Sequence[Item], below: Sequence[Item]) -> Node | None:
        """Return the derivative that a fraction writes, or None; one without its function has an absent operand."""
        partial = bool(above) and is_differential(above[0], partial=True)
        if not above or not below or not is_differential(above[0], partial=partial):
            return None
        variables: list[Node] = []
        place = 0
        while place < len(below):
            is_same = is_differential(below[place], partial=partial)
            if not is_same or place + 1 >= len(below) or isinstance(below[place + 1], Group):
                return None
            end = scripts_end(below, place + 2)
            order = [each for each in below[place + 2 : end] if item_role(each).endswith("SUPERSCRIPT")]
            plain = [each for each in below[place + 1 : end] if each not in order]
            orders = [self.node(each.children[0]) for each in order if isinstance(each, Node)]
            variables.append(make_qualifier("bvar", self.product(plain), *orders))
            place = end
        rest = above[scripts_end(above, 1) :]
        function = self.product(rest) if rest else ABSENT
        return apply_named(PARTIAL if partial else "differential", function, *variables)

    # -- lists and relations

    def formula(self, items: Sequence[Item]) -> Node:
        """Return the meaning of a list: formulas or expressions with punctuation between them."""
        self._budget.spend(1 + len(items))
        pieces = [piece for piece in split_items(items, lambda item: item_role(item) in PUNCTUATION) if piece]
        if not pieces:
            return ABSENT
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

    def relation(
        self, items: Sequence[Item], left: Sequence[Sequence[Item]] = (), right: Sequence[Sequence[Item]] = ()
    ) -> Node:
        """Read alternating sides and relations; `left` and `right` are further items of the first and the last side."""
        if set(map(item_role, items)).isdisjoint(_RELATING) and not left and not right:
            return self.sum(items)
        items, modulus = self._modulus(items)
        sides: list[Sequence[Item]] = []
        signs: list[Node] = []
        start = place = 0
        while place < len(items):
            item = items[place]
            bounded = is_middle(item) and scripts_end(items, place + 1) > place + 1
            if not isinstance(item, Node) or not is_relation(item) or bounded:
                place += 1
                continue
            sides.append(items[start:place])
            place, sign = self._sign(items, place)
            signs.append(sign)
            start = place
        sides.append(items[start:])
        nodes = [self.sum(side) for side in sides]
        if left:
            nodes[0] = listed(separate([*map(self.sum, left), nodes[0]]))
        if right:
            nodes[-1] = listed(separate([nodes[-1], *map(self.sum, right)]))
        if modulus is not None:
            nodes[-1] = apply_named("modulo", nodes[-1], modulus)
        parts: list[Node] = [nodes[0]]
        for sign, node in zip(signs, nodes[1:], strict=True):
            parts += (sign, node)
        return relation(parts)

    def _modulus(self, items: Sequence[Item]) -> tuple[Sequence[Item], Node | None]:
        """Return what comes before `\\pmod n` at the end, and the modulus."""
        last = items[-1] if items else None
        if isinstance(last, Node) and item_role(last) == "MODIFIER" and last.kind == DUAL:
            return items[:-1], self.node(last.children[0].children[-1])
        return items, None

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
        end = scripts_end(items, place)
        for script in items[place:end]:
            if isinstance(script, Node) and script.children:
                sign = decorated(sign, script)
        return end, sign

    # -- sums

    def sum(self, items: Sequence[Item]) -> Node:
        """Read a list without relations as terms."""
        if len(items) == 1 and items[0].role in _SYMBOLS:
            return self.node(items[0])  # type: ignore[arg-type]
        self._budget.spend(1 + len(items))
        if not items:
            return ABSENT
        roles = set(map(item_role, items))
        if "ADDOP" not in roles and "MODIFIEROP" not in roles:
            return self.product(items, roles)
        modulo = find_item(items, lambda item: item_role(item) == "MODIFIEROP")
        if modulo > 0:
            return apply_named("modulo", self.sum(items[:modulo]), self.sum(items[modulo + 1 :]))
        terms: list[list[Item]] = [[]]
        signs: list[list[Node]] = [[]]
        joints: list[Node] = []
        place = 0
        while place < len(items):
            item = items[place]
            place += 1
            last = terms[-1]
            behind_factor = bool(last) and item_role(last[-1]) in ("MULOP", "BINOP")
            if not isinstance(item, Node) or item_role(item) != "ADDOP" or behind_factor:
                last.append(item)
                continue
            place, sign = self._sign(items, place - 1)
            if last:
                joints.append(sign)
                terms.append([])
                signs.append([])
            else:
                signs[-1].append(sign)
        nodes: list[Node] = []
        for number, (term, before) in enumerate(zip(terms, signs, strict=True)):
            if not term and not before and nodes:
                nodes[-1] = apply(LIMIT_FROM, nodes[-1], joints.pop(number - 1))
                continue
            node = self.product(term) if term else before.pop() if before else ABSENT
            for sign in reversed(before):
                node = apply(sign, node)
            nodes.append(node)
        return left_associated(nodes, joints)

    # -- products

    def product(self, items: Sequence[Item], roles: set[str] | None = None) -> Node:
        """Read a list without signs between terms: big operators take the rest, then signs between factors."""
        if len(items) == 1 and items[0].role in _SYMBOLS:
            return self.node(items[0])  # type: ignore[arg-type]
        self._budget.spend(1 + len(items))
        if roles is None:
            roles = set(map(item_role, items))
        if roles.isdisjoint(_NOT_JUST_FACTORS):
            return FactorReader(items, self).node() if items else ABSENT
        for place, item in enumerate(items):
            if isinstance(item, Node) and self._is_big(items, place):
                end = scripts_end(items, place + 1)
                scripts = [each for each in items[place + 1 : end] if isinstance(each, Node)]
                items = [*items[:place], self.settle(self._big(item, scripts, items[end:]))]
                break
        bar = find_item(items, is_middle, 1)
        end = scripts_end(items, bar + 1) if bar > 0 else 0
        if bar > 0 and end > bar + 1:
            bounds = [self.node(each.children[0]) for each in items[bar + 1 : end] if isinstance(each, Node)]
            evaluated = apply_named("evaluated-at", self.product(items[:bar]), *bounds)
            items = [self.settle(evaluated), *items[end:]]
        runs: list[list[Item]] = [[]]
        signs: list[Node] = []
        place = 0
        while place < len(items):
            item = items[place]
            if isinstance(item, Node) and item_role(item) in ("MULOP", "BINOP") and len(items) > 1:
                place, sign = self._sign(items, place)
                signs.append(sign)
                runs.append([])
            else:
                runs[-1].append(item)
                place += 1
        nodes = [FactorReader(run, self).node() if run else ABSENT for run in runs]
        result, previous = nodes[0], None
        for sign, node in zip(signs, nodes[1:], strict=True):
            if sign.text in ("⋅", "×", "*", "∙") and sign.kind == TOKEN:
                result, previous = multiply([result, node]), None
                continue
            if sign.text == "/":
                sign = operator("divide")
            is_same = previous is not None and same_operator(previous, sign) and sign.meaning != "divide"
            result = apply(sign, *(result.children[1:] if is_same else [result]), node)
            previous = sign
        return result

    @staticmethod
    def _is_big(items: Sequence[Item], place: int) -> bool:
        item = items[place]
        kind = item_role(item)
        if kind in ("SUMOP", "INTOP"):
            return True
        following = item_role(items[place + 1]) if place + 1 < len(items) else ""
        name = item.meaning if isinstance(item, Node) else ""
        if kind == "OPERATOR" or name in ("maximum", "minimum", "supremum", "infimum"):
            return following == "POSTSUBSCRIPT"
        return kind == "LIMITOP" and name not in ("determinant", "dimension")

    def _big(self, head: Node, scripts: Sequence[Node], body: Sequence[Item]) -> Node:
        """Read a big operator with its scripts, applied to the rest of its term."""
        below = next((each.children[0] for each in scripts if each.role.endswith("SUBSCRIPT")), None)
        above = next((each.children[0] for each in scripts if each.role.endswith("SUPERSCRIPT")), None)
        operands = [self.product(body)] if body else []
        if below is not None and item_role(head) == "INTOP":
            operands.append(make_qualifier("lowlimit", self.node(below)))
        elif below is not None:
            operands += self._range(self.items(below))
        if above is not None:
            operands.append(make_qualifier("uplimit", self.node(above)))
        return apply(head, *operands)

    def _range(self, items: Sequence[Item]) -> list[Node]:
        """Read the range below an operator: `i=1`, `x\\to a`; or a condition and what it binds: `i\\in I`, `0\\le i<j`, or just `k`."""
        at = find_item(items, lambda item: is_sign(item, "equals", *_ARROWS))
        if 0 < at < len(items) - 1 and not any(map(is_relation, items[at + 1 :])):
            variables = [make_qualifier("bvar", self.sum(piece)) for piece in list_parts(items[:at])]
            return [*variables, make_qualifier("lowlimit", self.formula(items[at + 1 :]))]
        operands: list[Node] = []
        for piece in list_parts(items):
            sides = split_items(piece, is_relation)
            wanted = sides[:1] if len(sides) < 3 else sides[1:-1]
            operands += [
                make_qualifier("bvar", self.sum(side))
                for side in wanted
                if side and is_letter(side[0]) and scripts_end(side, 1) == len(side)
            ]
        if any(map(is_relation, items)) or not operands:
            operands.append(apply_named("condition", self.formula(items)))
        return operands


def meaning(node: Node, budget: Budget) -> Node:
    """Return the node of a formula's meaning; one that exceeds its budget or the depth keeps its own."""
    try:
        return Mathematician(budget).node(node)
    except (SpentError, TooDeepError, RecursionError):
        return node
