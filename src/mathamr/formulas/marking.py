"""Marks some nodes of a layout tree in the LaTeX source and in the drawn formula.

Every node of a tree and every drawn symbol knows the tokens that it was written as, so marks go from one to the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from mathamr.core.errors import MathAMRError
from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.latex.nodes import NodeWalk
from mathamr.formulas.latex.presentation import present
from mathamr.formulas.latex.unicode import rewritten_pieces
from mathamr.formulas.mathml.element import Element, rebuilt
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.styles import STYLE
from mathamr.formulas.tree import Slt

MATCHED, TAKEN = "matched", "taken"
"""Styles of marked nodes: what a query has as well, and what its wildcards stand for."""

_LEAVES = frozenset(["mi", "mn", "mo", "mtext", "ms"])
_SIGNS = frozenset(["msqrt", "mroot", "menclose"])
"""Elements that draw a sign of their own around their content."""
_ROWS = frozenset(["mrow", "msqrt", "mstyle", "math", "mtd", "mpadded"])


class PlacedTree(NamedTuple):
    """A layout tree, the tokens that each of its nodes was written as, and the source that these are numbers of."""

    tree: Slt
    origins: Sequence[tuple[int, ...]]
    source: ExpandedLatex

    def places(self, nodes: Collection[int]) -> set[int]:
        """Return the tokens of some nodes."""
        return {place for node in nodes if 0 <= node < len(self.origins) for place in self.origins[node]}


def placed_tree(source: ExpandedLatex) -> PlacedTree | None:
    """Read a formula so that the nodes of its tree know their places; None if it has no tree."""
    reader = source.reader()
    try:
        syntax = reader.read()
        walk = NodeWalk(reader, placed=True)
        nodes = walk.walk(syntax)
        if not nodes:
            uncommented = source.uncommented()
            return placed_tree(uncommented[0]) if uncommented else None
        origins: list[tuple[int, ...]] = []
        tree = slt(present(walk.expression(nodes, trailing=True)), walk.budget.elements, origins)
    except (MathAMRError, RecursionError):
        return None
    return PlacedTree(tree, origins, source)


def stretches(latex: str, macros: Macros, tree: Slt, nodes: Collection[int]) -> list[tuple[int, int]]:
    """Return the ranges [start, end) of the marked nodes in the LaTeX, in order.

    Braces and commands between two marked symbols are marked with them.

    >>> from mathamr.formulas.parse import parse
    >>> latex = r"c=\\sqrt{a^2+b^2}-1"
    >>> [latex[start:end] for start, end in stretches(latex, Macros(), parse(latex).slt, range(5, 10))]
    ['a^2+b^2']
    """
    if not nodes:
        return []
    starts, ends, written = _rewritten(latex)
    try:
        placed = placed_tree(ExpandedLatex(written, macros, Budget(len(written))))
    except (MathAMRError, RecursionError):
        return []
    if placed is None or placed.tree != tree:
        return []
    ranges = placed.source.ranges()
    marked = placed.places(nodes)
    found: list[tuple[int, int]] = []
    was_marked = False
    for place in sorted({place for origin in placed.origins for place in origin}):
        start, end = starts[ranges[place][0]], ends[ranges[place][1] - 1]
        if place in marked:
            if was_marked:
                found[-1] = (min(found[-1][0], start), max(found[-1][1], end))
            else:
                found.append((start, end))
        was_marked = place in marked
    return [_balanced(latex, *stretch) for stretch in found]


def _rewritten(latex: str) -> tuple[Sequence[int], Sequence[int], str]:
    """Return LaTeX with its Unicode characters as commands, and where each character of it starts and ends in the source."""
    if latex.isascii():
        return range(len(latex)), range(1, len(latex) + 1), latex
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece, start, end in rewritten_pieces(latex):
        same = piece == latex[start:end]
        text.append(piece)
        starts += range(start, end) if same else [start] * len(piece)
        ends += range(start + 1, end + 1) if same else [end] * len(piece)
    return starts, ends, "".join(text)


def _balanced(latex: str, start: int, end: int) -> tuple[int, int]:
    """Extend a range by the braces directly before and after it, as far as they are unbalanced."""
    depth = low = 0
    for brace in re.findall(r"\\.|[{}]", latex[start:end]):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        low = min(low, depth)
    while low < 0 and latex[start - 1 : start] == "{":
        start, low, depth = start - 1, low + 1, depth + 1
    while depth > 0 and latex[end : end + 1] == "}":
        end, depth = end + 1, depth - 1
    return start, end


def drawn_with_marks(element: Element, places: Collection[int], style: str = MATCHED) -> Element:
    """Return the drawn formula with the marked tokens in a style of their own; adjacent marked symbols are one piece."""
    places_set = frozenset(places)
    styled_ids: set[int] = set()

    def make(each: Element, children: list[Element]) -> Element:
        is_marked = (
            not places_set.isdisjoint(each.origin)
            if each.tag in _LEAVES
            else bool(children)
            and each.tag not in _SIGNS
            and all(id(child) in styled_ids or child.tag == "mspace" for child in children)
            and any(id(child) in styled_ids for child in children)
        )
        if children and not is_marked:
            children = (
                _joined(children, styled_ids, style)
                if each.tag in _ROWS
                else [_styled(child, styled_ids, style) for child in children]
            )
        made = Element(each.tag, each.text, children, each.attributes)
        made.origin = each.origin
        if is_marked:
            styled_ids.add(id(made))
            alive.append(made)
        return made

    alive: list[Element] = []
    """Elements that are kept alive because their ids are keys."""
    return _styled(rebuilt(element, make), styled_ids, style)


def _joined(children: Sequence[Element], styled_ids: Collection[int], style: str) -> list[Element]:
    """Join marked neighbours to one row; signs at its ends stay outside, because their space depends on their position."""
    found: list[Element] = []
    run: list[Element] = []
    for child in [*children, None]:
        if child is not None and id(child) in styled_ids:
            run.append(child)
            continue
        before = next((place for place, each in enumerate(run) if each.tag != "mo"), len(run))
        after = next((place for place in range(len(run), before, -1) if run[place - 1].tag != "mo"), before)
        found += [_styled(each, styled_ids, style) for each in run[:before]]
        if after - before > 1:
            found.append(Element("mrow", "", run[before:after], {STYLE: style}))
        else:
            found += [_styled(each, styled_ids, style) for each in run[before:after]]
        found += [_styled(each, styled_ids, style) for each in run[after:]]
        run = []
        if child is not None:
            found.append(child)
    return found


def _styled(element: Element, styled_ids: Collection[int], style: str) -> Element:
    if id(element) not in styled_ids:
        return element
    names = f"{element.attributes[STYLE]} {style}" if STYLE in element.attributes else style
    made = Element(element.tag, element.text, element.children, {**element.attributes, STYLE: names})
    made.origin = element.origin
    return made
