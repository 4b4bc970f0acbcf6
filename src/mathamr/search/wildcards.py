"""Wildcard patterns: `?x` in a query stands for any expression."""

from __future__ import annotations

from typing import Literal

from mathamr.core.cancellation import check_cancelled
from mathamr.formulas.tree import Opt
from mathamr.search.workbudget import WorkBudget

Fit = Literal["whole", "inside"]

STEPS = 20_000
"""Limit of node comparisons, after which a formula counts as no match: operands can be ordered in many ways."""
_GOALS_COPIED = 50
"""Goals that are copied in about the time of a comparison."""


def is_wildcard(label: str) -> bool:
    """Return True if a label is a wildcard such as `?x`."""
    return len(label) > 1 and label.startswith("?")


def has_wildcards(tree: Opt | None) -> bool:
    """Return True if an operator tree has a wildcard."""
    return tree is not None and any(map(is_wildcard, tree.labels))


def fit(pattern: Opt, formula: Opt, steps: WorkBudget | None = None) -> Fit | None:
    """Return how a formula fits a pattern: as a whole, by a subexpression inside, or not at all.

    A wildcard stands for one operand, the same one wherever it occurs; operands of sums, products and equations may
    come in any order. `steps` bounds the comparisons of all formulas together.

    >>> from mathamr.formulas.parse import parse
    >>> pattern = parse("?a^2 + ?b^2", wildcards=True).opt
    >>> [fit(pattern, parse(latex).opt) for latex in ("(x+1)^2 + y^2", "c = u^2 + v^2", "x^3 + y^2")]
    ['whole', 'inside', None]
    >>> fit(parse("?a + ?a", wildcards=True).opt, parse("x + y").opt)
    """
    found = _first(pattern, formula, steps)
    return None if found is None else "inside" if found[0] else "whole"


def taken(pattern: Opt, formula: Opt, steps: WorkBudget | None = None) -> tuple[Fit, list[int]] | None:
    """Return how a formula fits a pattern, and the nodes that the wildcards stand for; None if it does not fit.

    What a wildcard that occurs twice stands for is listed twice.

    >>> from mathamr.formulas.parse import parse
    >>> formula = parse("c = (x+1)^2").opt
    >>> fits, nodes = taken(parse("?a^2", wildcards=True).opt, formula)
    >>> fits, [formula.labels[node] for node in nodes]
    ('inside', ['U!plus', 'V!𝑥', 'N!1'])
    """
    found = _first(pattern, formula, steps)
    if found is None:
        return None
    node, bound = found
    ends = _ends(formula)
    nodes = [
        each
        for name, first in bound
        for _ in range(pattern.labels.count(name))
        for each in range(first, ends[first])
    ]
    return "inside" if node else "whole", nodes


def _first(
    pattern: Opt, formula: Opt, steps: WorkBudget | None
) -> tuple[int, tuple[tuple[str, int], ...]] | None:
    """Return the first node of a formula that fits a pattern, and the node for which each wildcard stands."""
    check_cancelled()
    budget = steps or WorkBudget(STEPS)
    before = min(STEPS, budget.left)
    matcher = _Matcher(pattern, formula, before)
    try:
        for node in range(1 if is_wildcard(pattern.labels[0]) else len(formula)):
            bound = matcher.fits(node)
            if bound is not None:
                return node, bound
            if matcher.steps <= 0:
                return None
        return None
    finally:
        budget.left -= before - max(0, matcher.steps)


class _Matcher:
    """Backtracks over goals (pattern node, formula node) with the current bindings of wildcards."""

    def __init__(self, pattern: Opt, formula: Opt, steps: int) -> None:
        self.pattern, self.formula = pattern, formula
        self.wanted, self.found = pattern.children(), formula.children()
        self.ends = _ends(formula)
        self.steps = steps

    def fits(self, node: int) -> tuple[tuple[str, int], ...] | None:
        """Return the node that each wildcard stands for if the pattern's root fits this node of the formula; None if it does
        not.
        """
        waiting: list[tuple[tuple[tuple[int, int], ...], tuple[tuple[str, int], ...]]] = [(((0, node),), ())]
        while waiting and self.steps > 0:
            goals, bound = waiting.pop()
            if not goals:
                return bound
            self.steps -= 1 + len(goals) // _GOALS_COPIED  # every step copies the goals that are left
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
        return None

    def _any_order(
        self,
        ours: list[int],
        theirs: list[int],
        rest: tuple[tuple[int, int], ...],
        bound: tuple[tuple[str, int], ...],
    ) -> list[tuple[tuple[tuple[int, int], ...], tuple[tuple[str, int], ...]]]:
        """Return all pairings of operands whose labels can fit, the written order first."""
        pairings: list[list[int]] = [[]]
        for operand in ours:
            label = self.pattern.labels[operand]
            pairings = [
                [*pairing, other]
                for pairing in pairings
                for other in theirs
                if other not in pairing and (is_wildcard(label) or label == self.formula.labels[other])
            ]
            self.steps -= len(pairings)
            if self.steps <= 0:
                return []
        return [((*zip(ours, pairing, strict=True), *rest), bound) for pairing in reversed(pairings)]

    def _same(self, one: int, other: int) -> bool:
        """Return True if two subtrees of the formula are equal."""
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
    """Return, for every node, the number after its last descendant; nodes are in depth-first order."""
    ends = list(range(1, len(tree) + 1))
    for node in range(len(tree) - 1, 0, -1):
        parent = tree.parents[node]
        ends[parent] = max(ends[parent], ends[node])
    return ends
