"""`FormulaMatch`: the matched nodes of a found formula and the query's formula, which explain a hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from mathamr.formulas.alignment import VARIABLE, align, parts
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.marking import stretches
from mathamr.formulas.tree import Slt, Tree
from mathamr.formulas.trees import Trees
from mathamr.posts.post import Formula
from mathamr.search.wildcards import taken
from mathamr.search.workbudget import WorkBudget
from mathamr.systems.nodematch import TreeMatch, View

ALIGNMENT = "alignment"
"""The name of the tree alignment, which matches nodes if the system does not."""
VIEWS: dict[View, str] = {"opt": "operators", "slt": "layout"}


@dataclass(frozen=True, slots=True)
class FormulaMatch:
    """The trees of the query's formula and of a found one, and the matched nodes of each view.

    `by` names the system that matched them, or is `ALIGNMENT`.
    """

    post_id: str
    formula_id: str
    by: str
    query: Formula
    found: Formula
    query_trees: Trees
    found_trees: Trees
    views: tuple[TreeMatch, ...]

    def pair(self, view: View) -> tuple[Tree, Tree]:
        """Return the trees of both formulas in one view."""
        place = 0 if view == "opt" else 1
        ours, theirs = self.query_trees[place], self.found_trees[place]
        assert ours is not None
        assert theirs is not None
        return ours, theirs

    def svg(self) -> str:
        """Return a picture of both trees, with matched nodes in the same colour and with the same number."""
        from mathamr.formulas.matchpicture import TreePair, match_svg

        return match_svg(
            [TreePair(VIEWS[each.view], *self.pair(each.view), each.met) for each in self.views],
            f"{self.query.latex}  →  {self.found.latex}",
        )

    def to_json(self) -> dict[str, Any]:
        """Return the labels of both trees and the pairs of matched nodes, as JSON values."""
        return {
            "post": self.post_id,
            "formula": self.formula_id,
            "by": self.by,
            "query": self.query.latex,
            "found": self.found.latex,
            "views": [self._view_json(each) for each in self.views],
        }

    def _view_json(self, match: TreeMatch) -> dict[str, Any]:
        ours, theirs = self.pair(match.view)
        return {
            "view": match.view,
            "score": round(match.score, 6),
            "query_labels": list(ours.labels),
            "found_labels": list(theirs.labels),
            "met": [[each.node, each.other, round(each.worth, 4)] for each in match.met],
        }


def aligned_views(query: Trees, found: Trees) -> tuple[TreeMatch, ...]:
    """Match two formulas by aligning their trees, in the views that both have."""
    views: list[TreeMatch] = []
    for view, ours, theirs in zip(VIEWS, query, found, strict=True):
        if ours is not None and theirs is not None:
            views.append(TreeMatch(view, align(ours, theirs).score, parts(ours, theirs)))
    return tuple(views)


def matched_nodes(query: Slt | None, found: Slt | None) -> tuple[int, ...]:
    """Return the layout nodes of a found formula that match the query, up to renamed variables."""
    if query is None or found is None:
        return ()
    return tuple(sorted(each.other for each in parts(query, found) if each.worth >= VARIABLE))


def taken_nodes(
    query: Trees, found: Trees, matched: Sequence[int], steps: WorkBudget | None = None
) -> tuple[int, ...]:
    """Return the layout nodes of a found formula for which wildcards of the query stand."""
    (pattern, drawn), (opt, slt) = query, found
    if pattern is None or drawn is None or opt is None or slt is None:
        return ()
    fits = taken(pattern, opt, steps)
    if fits is None:
        return ()
    how, nodes = fits
    left = sorted(set(range(len(slt))).difference(matched))
    # The letters of operator trees are slanted.
    wanted = Counter(normalize("NFKC", opt.labels[node]) for node in nodes)
    if how == "whole":  # the wildcards took what the query does not have itself
        return tuple(
            node
            for node in left
            if normalize("NFKC", slt.labels[node]) in wanted or slt.labels[node] not in drawn.labels
        )
    # They took some of the symbols of those names: the ones next to what matches.
    near: list[int] = []
    for node in sorted(left, key=lambda node: min((abs(node - each) for each in matched), default=node)):
        label = normalize("NFKC", slt.labels[node])
        if wanted[label] > 0:
            wanted[label] -= 1
            near.append(node)
    return tuple(sorted(near))


def matched_stretches(
    formula: Formula, macros: Sequence[str], slt: Slt | None, nodes: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Return the offsets of nodes in the LaTeX of a formula."""
    if slt is None or not nodes or not formula.latex.strip():
        return ()
    return tuple(stretches(formula.latex, Macros.of(macros), slt, nodes))
