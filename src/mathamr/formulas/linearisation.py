"""A tree as a line of words, depth first, as MathAMR writes operator trees for a text encoder.

MathAMR (Mansouri et al., section 4) goes through the graph depth first and leaves the edges out. In its published
strings the operands of an unordered operator come last to first, `plus SUP z n SUP y n SUP x n` for xⁿ+yⁿ+zⁿ.
"""

from __future__ import annotations

from mathamr.formulas.label import value
from mathamr.formulas.tree import Tree

_PENMAN = str.maketrans({"(": "$", ")": "$$", " ": "_"})
"""Characters that Penman keeps for itself: the parentheses of an interval are written as in the published graphs."""


def words(tree: Tree) -> list[str]:
    """The values of all nodes, depth first; white nodes have none.

    >>> from mathamr.formulas.notation import opt_from_string
    >>> words(opt_from_string("[U!plus,0[O!SUP,0[V!x],1[V!n]],1[V!y]]"))
    ['plus', 'y', 'SUP', 'x', 'n']
    """
    children = tree.children()
    found: list[str] = []
    stack = [0]
    while stack:
        node = stack.pop()
        word = concept(tree.labels[node])
        if word:
            found.append(word)
        below = children[node]
        stack.extend(below if tree.labels[node].startswith("U!") else reversed(below))
    return found


def linearised(tree: Tree) -> str:
    """The tree as one line: its `words` with spaces between."""
    return " ".join(words(tree))


def concept(label: str) -> str:
    """A label as the concept of a Penman node: its value, without Penman's own characters.

    >>> concept("O!interval(C-C)")
    'interval$C-C$$'
    """
    return value(label).translate(_PENMAN)
