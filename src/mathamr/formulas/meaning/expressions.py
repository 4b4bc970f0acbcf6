"""`Expressions`: sums and products, big operators, integrals and derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import (
    LIMIT_FROM,
    decorated,
    joined_relation,
    left_associated,
    same_operator,
)
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
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.meaning.factors import DIFFERENTIABLE, PARTIAL, FactorReader
from mathamr.formulas.meaning.items import (
    Group,
    Item,
    differential_end,
    find_item,
    is_capital,
    is_differential,
    is_letter,
    is_middle,
    is_relation,
    is_sign,
    item_role,
    letter_name,
    list_parts,
    names_set,
    scripts_end,
    split_items,
)
from mathamr.formulas.meaning.reading import (
    Reading,
    apply_named,
    is_fraction,
    make_number,
    make_qualifier,
    make_words,
    multiply,
)

_ACCENTS = {
    "^": "hat", "¯": "bar", "~": "tilde", "→": "vec", "˙": "dot", "¨": "ddot", "ˇ": "check", "˘": "breve",
}  # fmt: skip
_APPROACHES = {"→": "", "⟶": "", "↑": "from-below", "↗": "from-below", "↓": "from-above", "↘": "from-above"}
SETS = frozenset(
    ["element-of", "not-element-of", "subset-of", "subset-of-or-equals", "union", "intersection", "set-minus"]
)
_LOOSENESS = {"or": 0, "and": 1, "union": 2, "intersection": 2, "set-minus": 2}
_SYMBOLS = frozenset(["UNKNOWN", "NUMBER"])
_NOT_JUST_FACTORS = frozenset(
    "MULOP BINOP SUMOP INTOP LIMITOP OPERATOR OPFUNCTION VERTBAR MIDDLE ID ADDOP".split()  # noqa: SIM905
)
"""Roles without which a list is only factors side by side; `\\max` is among the functions."""
_INTEGRAL = operator("integral")
_INTEGRAL.content = Element("csymbol", "integral", (), {"cd": "latexml"})
_CARTESIAN = operator("cartesian-product")
_CARTESIAN.content = Element("csymbol", "cartesian-product", (), {"cd": "latexml"})


class Expressions(Reading):
    """Reads lists without relations."""

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
        if is_fraction(node):
            found = self._derivative(self.items(operands[0]), self.items(operands[1]))
            if found is not None:
                return found
        if head.role in ("OVERACCENT", "UNDERACCENT") and head.kind == TOKEN:
            if head.text in "⏞⏟⎴⎵":
                return self.node(operands[0])
            if head.role == "OVERACCENT" and head.text in _ACCENTS:
                return apply_named(_ACCENTS[head.text], self.node(operands[0]))
        made = node.with_role(node.role)
        made.source = ()
        made.children = (head, *(self.node(operand) for operand in operands if operand.kind != HINT))
        return made

    # -- sums

    def sum(self, items: Sequence[Item]) -> Node:
        """Read a list without relations as terms, by how tightly the signs between them bind."""
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
            if (
                not isinstance(item, Node)
                or item_role(item) != "ADDOP"
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
        if any(joint.meaning in SETS for joint in joints):
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
        start = find_item(term, lambda item: item_role(item) == "INTOP")
        if start < 0 or any(differential_end(term, place) > place for place in range(start, len(term))):
            return False
        return any(differential_end(rest, place) > place for place in range(len(rest)))

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
            items = [
                self.settle(apply_named("evaluated-at", self.product(items[:bar]), *bounds)),
                *items[end:],
            ]
        slash = find_item(items, lambda item: is_sign(item, "/"), 1)
        if slash > 0:
            end = differential_end(items, slash + 1)
            found = self._derivative(items[:slash], items[slash + 1 : end]) if end > slash + 1 else None
            if found is not None:
                return self.product([self.settle(found), *items[end:]]) if end < len(items) else found
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
        for sign, left, run, node in zip(signs, runs, runs[1:], nodes[1:], strict=False):
            if (
                sign.text in ("⋅", "×", "*", "∙")
                and sign.kind == TOKEN
                and not (is_capital(left) and is_capital(run))
            ):
                result, previous = multiply([result, node]), None
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
        if names_set(first) or is_sign(second, "similar-to", "∼"):
            return is_letter(first)
        single = len(left) == 1 and len(right) == 1 and isinstance(first, Node) and isinstance(second, Node)
        return single and is_capital(left) and is_capital(right)

    # -- big operators, derivatives

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
        limits = [] if above is None else [make_qualifier("uplimit", self.node(above))]
        if item_role(head) == "INTOP":
            return self._integral(head, below, limits, body)
        operands = [self.product(body)] if body else []
        if below is not None:
            operands += self._range(self.items(below))
        return apply(head, *operands, *limits)

    def _range(self, items: Sequence[Item]) -> list[Node]:
        """Read the range below an operator: `i=1`, `i\\in I`, `x\\to a`."""
        at = find_item(items, lambda item: is_sign(item, "equals", *_APPROACHES))
        if 0 < at < len(items) - 1 and not any(map(is_relation, items[at + 1 :])):
            variables = [make_qualifier("bvar", self.sum(piece)) for piece in list_parts(items[:at])]
            sign = items[at]
            assert isinstance(sign, Node)
            limit = (
                self._side(items[at + 1 :], sign)
                if sign.text in _APPROACHES
                else self.formula(items[at + 1 :])
            )
            return [*variables, make_qualifier("lowlimit", limit)]
        return self._bound_by(items)

    def _integral(self, head: Node, below: Node | None, limits: list[Node], body: Sequence[Item]) -> Node:
        """Read an integral: its integrand, the variables of its differentials, its limits or its domain."""
        integrand, variables = self._without_differentials(body)
        inner: Node | None = None
        for place, item in enumerate(integrand if not variables else ()):
            if isinstance(item, Node) and is_fraction(item):
                rest, variables = self._without_differentials(self.items(item.children[1]))
                if variables:
                    quotient = apply(
                        item.children[0],
                        self.sum(rest) if rest else make_number(1),
                        self.node(item.children[2]),
                    )
                    others = [*integrand[:place], *integrand[place + 1 :]]
                    inner = multiply([self.product(others), quotient]) if others else quotient
                    break
        if inner is None:
            inner = self.sum(integrand) if integrand else make_number(1)
        operands = [inner, *variables]
        if below is not None and not limits:
            operands.append(apply_named("domain", self.node(below)))
        elif below is not None:
            items = self.items(below)
            equation = find_item(items, lambda item: is_sign(item, "equals"))
            operands.append(make_qualifier("lowlimit", self.sum(items[equation + 1 :])))
        is_plain = head.meaning.endswith("integral") or not head.meaning
        return apply(_INTEGRAL if is_plain else head, *operands, *limits)

    def _without_differentials(self, items: Sequence[Item]) -> tuple[list[Item], list[Node]]:
        """Return an integrand without its differentials, up to the next integral, and the variables that they bind."""
        left: list[Item] = []
        variables: list[Node] = []
        place = 0
        inner = sum(item_role(item) == "INTOP" for item in items)
        while place < len(items):
            end = differential_end(items, place)
            following = sum(differential_end(items, each) > each for each in range(place + 1, len(items)))
            if end > place and (not inner or not following):
                variables.append(make_qualifier("bvar", self.sum(items[place + 1 : end])))
                place = end
            else:
                left.append(items[place])
                place += 1
        return left, variables

    def _derivative(self, above: Sequence[Item], below: Sequence[Item]) -> Node | None:
        """Return the derivative that a fraction writes, or None; one without its function has an absent operand."""
        if not above or len(below) < 2:
            return None
        is_partial = is_sign(above[0], PARTIAL)
        if not is_partial and not is_differential(above[0]):
            return None
        variables: list[Node] = []
        place = 0
        while place < len(below):
            is_same = is_sign(below[place], PARTIAL) if is_partial else is_differential(below[place])
            if not is_same or place + 1 >= len(below) or isinstance(below[place + 1], Group):
                return None
            end = scripts_end(below, place + 2)
            order = [each for each in below[place + 2 : end] if item_role(each).endswith("SUPERSCRIPT")]
            plain = [each for each in below[place + 1 : end] if each not in order]
            orders = [self.node(each.children[0]) for each in order if isinstance(each, Node)]
            variables.append(make_qualifier("bvar", self.product(plain), *orders))
            place = end
        rest = above[scripts_end(above, 1) :]
        if (
            rest
            and isinstance(rest[0], Node)
            and is_letter(rest[0])
            and letter_name(rest[0]) in DIFFERENTIABLE
        ):
            self.functions.add(letter_name(rest[0]))
        function = self.product(rest) if rest else ABSENT
        return apply(operator(PARTIAL if is_partial else "differential"), function, *variables)

    # -- what relations and big operators share

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

    def _bound_by(self, items: Sequence[Item]) -> list[Node]:
        """Return the variables that a condition binds, and the condition: `i\\in I`, `0\\le i<j`, `d\\mid n`, or just `k`."""
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
        return apply_named(side, self.sum(items)) if side else self.sum(items)

    @staticmethod
    def _mark_sets(items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, Group):
                item.is_set = True
            elif item.meaning not in SETS:
                return
