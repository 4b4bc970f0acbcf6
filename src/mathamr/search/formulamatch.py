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
from mathamr.posts.passage import passage
from mathamr.posts.post import Formula, Post
from mathamr.search.wildcards import taken
from mathamr.search.workbudget import WorkBudget
from mathamr.systems.nodematch import TreeMatch, View
from mathamr.text.wording import written_sentences

ALIGNMENT = "alignment"
"""The name of the tree alignment, which matches nodes if the system does not."""
VIEWS: dict[View, str] = {"opt": "operators", "slt": "layout"}


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """The sentences of the query's formula and of a found one, and the similarity by which a system ranks them."""

    similarity: float
    query: str
    found: str

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"similarity": round(self.similarity, 6), "query": self.query, "found": self.found}


@dataclass(frozen=True, slots=True)
class FormulaMatch:
    """The trees of the query's formula and of a found one, and the matched nodes of each view.

    `by` names the system that matched the nodes or the `sentences`, or is `ALIGNMENT`. With `sentences` the nodes are those of
    the alignment of trees, by which such a system does not rank.
    """

    post_id: str
    formula_id: str
    by: str
    query: Formula
    found: Formula
    query_trees: Trees
    found_trees: Trees
    views: tuple[TreeMatch, ...]
    sentences: SentenceMatch | None = None

    def pair(self, view: View) -> tuple[Tree, Tree]:
        """Return the trees of both formulas in one view."""
        place = 0 if view == "opt" else 1
        ours, theirs = self.query_trees[place], self.found_trees[place]
        assert ours is not None
        assert theirs is not None
        return ours, theirs

    def svg(self) -> str:
        """Return a picture of both trees, with matched nodes in the same colour and with the same number."""
        from mathamr.formulas.picture import TreePair, match_svg

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
            **({} if self.sentences is None else {"sentences": self.sentences.to_json()}),
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


def sentence_with(post: Post, formula: str) -> str:
    """Return the sentence of a post with a formula, its formulas as LaTeX; "" if no sentence has it."""
    written = written_sentences(post)
    for number, sentence in enumerate(passage(post).sentences):
        if any(place.formula == formula for place in sentence.placeholders):
            return written[number]
    return ""


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
