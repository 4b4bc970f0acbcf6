"""What begins with a delimiter: groups, sets, intervals; absolute values and norms; bras and kets."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.latex.assembly import fence, interpreted, morphed_bar
from mathamr.formulas.latex.grammar.rules import ADDING, DEPTH, NO_ANGLES, NO_BARS, NO_BOUNDS, Rules
from mathamr.formulas.latex.node import ABSENT, INVISIBLE_TIMES, TOKEN, Node, apply, operator


class Groups(Rules):
    """Rules for delimiters."""

    __slots__ = ()

    def _group(self) -> Node | None:
        """Return what begins with an opening delimiter."""
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
        """Parse a set given by a condition, `{x | x > 0}`."""
        start, flags = self.i, self.flags
        self.i += 1
        self.flags |= NO_BARS
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
        if role in ADDING:
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
        r"""Parse an operator in parentheses with its operand: `(\partial_x) f`, `(a \partial_x) f`."""
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

    def _group_of(self, opening: Node, first: Node) -> Node | None:
        """Return the rest of a group whose first item has been read."""
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

    def _bar(self) -> Node | None:
        """Return what begins with a vertical bar: a norm, an absolute value, a ket."""
        if self.flags & NO_BARS:
            return None
        node = self._double_bars()
        if node is None:
            node = self._absolute()
        if node is None and self.kets_allowed:
            node = self._ket()
        return node

    def _middle(self) -> Node | None:
        if (
            self.flags & NO_BARS
            or not self.kets_allowed
            or self.nodes[self.i].key not in ("|", "parallel-to")
        ):
            return None
        return self._ket()

    def _is_single_bar(self, position: int) -> bool:
        return self.roles[position] == "VERTBAR" and self.nodes[position].key == "|"

    def _inside_bars(self) -> Node | None:
        flags = self.flags
        if flags < DEPTH:
            self.bars_too_deep = True
            return None
        self.flags = (flags | NO_BOUNDS) - DEPTH
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
        self.flags |= NO_BARS | NO_ANGLES
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
        """Parse a ket, `|a>`."""
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
        """Parse a bra, a bra-ket or an expression in angles: `<a|`, `<a|b>`, `<a|H|b>`, `<a>`."""
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
        self.flags |= NO_BARS
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
