"""Wildcards: whether a formula fits the pattern of a query, in which `?x` stands for any expression."""

from __future__ import annotations

from typing import Literal

from mathamr.formulas.tree import Opt

Fit = Literal["whole", "inside"]

STEPS = 20_000
"""Comparisons of nodes after which a formula counts as one that does not fit: operands in any order can be many."""


def is_wildcard(label: str) -> bool:
    """Whether a label is that of a wildcard: `?x`."""
    return len(label) > 1 and label.startswith("?")


def has_wildcards(tree: Opt | None) -> bool:
    """Whether an operator tree has a wildcard."""
    return tree is not None and any(map(is_wildcard, tree.labels))


def fit(pattern: Opt, formula: Opt) -> Fit | None:
    """Whether a formula is what a pattern asks for, or holds it inside.

    A wildcard stands for one operand, the same one wherever it occurs; operands of sums, products and equations may
    come in any order.

    >>> from mathamr.formulas.parse import parse
    >>> pattern = parse("?a^2 + ?b^2", wildcards=True).opt
    >>> [fit(pattern, parse(latex).opt) for latex in ("(x+1)^2 + y^2", "c = u^2 + v^2", "x^3 + y^2")]
    ['whole', 'inside', None]
    >>> fit(parse("?a + ?a", wildcards=True).opt, parse("x + y").opt)
    """
    matcher = _Matcher(pattern, formula)
    for node in range(len(formula)):
        if node and is_wildcard(pattern.labels[0]):
            return None
        if matcher.fits(node):
            return "inside" if node else "whole"
        if matcher.steps <= 0:
            return None
    return None


class _Matcher:
    """Backtracking over goals (pattern node, formula node), with what each wildcard stands for so far."""

    def __init__(self, pattern: Opt, formula: Opt) -> None:
        self.pattern, self.formula = pattern, formula
        self.wanted, self.found = pattern.children(), formula.children()
        self.ends = _ends(formula)
        self.steps = STEPS

    def fits(self, node: int) -> bool:
        """Whether the pattern's root fits this node of the formula."""
        waiting: list[tuple[tuple[tuple[int, int], ...], tuple[tuple[str, int], ...]]] = [(((0, node),), ())]
        while waiting and self.steps > 0:
            goals, bound = waiting.pop()
            if not goals:
                return True
            self.steps -= 1
            (wanted, found), rest = goals[0], goals[1:]
            label = self.pattern.labels[wanted]
            if is_wildcard(label):
                before = next((place for name, place in bound if name == label), None)
                if before is None:
                    waiting.append((rest, (*bound, (label, found))))
                elif self._same(before, found):
                    waiting.append((rest, bound))
                continue
            if label != self.formula.labels[found]:
                continue
            ours, theirs = self.wanted[wanted], self.found[found]
            if len(ours) != len(theirs):
                continue
            if label.startswith("U!") and len(ours) > 1:
                waiting.extend(self._any_order(ours, theirs, rest, bound))
            else:
                waiting.append(((*zip(ours, theirs, strict=True), *rest), bound))
        return False

    def _any_order(
        self,
        ours: list[int],
        theirs: list[int],
        rest: tuple[tuple[int, int], ...],
        bound: tuple[tuple[str, int], ...],
    ) -> list[tuple[tuple[tuple[int, int], ...], tuple[tuple[str, int], ...]]]:
        """The ways to pair operands, the written order tried first; shorn of those whose labels cannot fit."""
        ways: list[list[int]] = [[]]
        for operand in ours:
            label = self.pattern.labels[operand]
            ways = [
                [*way, other]
                for way in ways
                for other in theirs
                if other not in way and (is_wildcard(label) or label == self.formula.labels[other])
            ]
            self.steps -= len(ways)
            if self.steps <= 0:
                return []
        return [((*zip(ours, way, strict=True), *rest), bound) for way in reversed(ways)]

    def _same(self, one: int, other: int) -> bool:
        """Whether two subtrees of the formula are equal."""
        labels, edges, parents = self.formula.labels, self.formula.edges, self.formula.parents
        size = self.ends[one] - one
        if size != self.ends[other] - other or labels[one] != labels[other]:
            return False
        self.steps -= size
        return all(
            labels[one + step] == labels[other + step]
            and edges[one + step] == edges[other + step]
            and parents[one + step] - one == parents[other + step] - other
            for step in range(1, size)
        )


def _ends(tree: Opt) -> list[int]:
    """For every node the number behind its last descendant: nodes are in depth-first order."""
    ends = list(range(1, len(tree) + 1))
    for node in range(len(tree) - 1, 0, -1):
        parent = tree.parents[node]
        ends[parent] = max(ends[parent], ends[node])
    return ends
