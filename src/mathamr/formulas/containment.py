"""Containment of formulas: a side of an equation, a summand or any other part of it, in its own letters or in others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from mathamr.formulas.tree import Opt

Contained = Literal["same letters", "other letters"]

LARGEST = 400
"""The number of nodes of a formula whose parts are compared; a larger one contains nothing."""


class Subformula:
    """A formula that others may contain.

    >>> from mathamr.formulas.parse import parse
    >>> part = Subformula(parse("x^2+y^2").opt)
    >>> [part.inside(parse(latex).opt) for latex in ("r = y^2+x^2", "a^2+b^2 = c", "z = x^2+1+y^2", "a^2+a^2 = c", "x^2+y")]
    ['same letters', 'other letters', 'same letters', None, None]
    """

    def __init__(self, tree: Opt) -> None:
        self._tree = _Keyed(tree)
        self.size = len(tree)

    def inside(self, formula: Opt) -> Contained | None:
        """Return how a formula contains this one, or equals it; None if it does not."""
        if not len(self._tree.tree) <= len(formula) <= LARGEST:
            return None
        found = _Keyed(formula)
        places = list(self._places(found))
        if any(self._sits_at(found, place, found.exact, self._tree.exact) for place in places):
            return "same letters"
        return "other letters" if any(self._is_renamed_at(found, place) for place in places) else None

    def _places(self, found: _Keyed) -> Iterator[int]:
        """Yield the nodes of a formula that have the shape of this one, perhaps beside further operands."""
        ours = self._tree
        label, operands = ours.tree.labels[0], len(ours.children[0])
        is_open = label.startswith("U!") and operands > 1
        for node, key in enumerate(found.shapes):
            if key == ours.shapes[0] or (
                is_open and found.tree.labels[node] == label and len(found.children[node]) > operands
            ):
                yield node

    def _sits_at(self, found: _Keyed, place: int, theirs: Sequence[int], ours: Sequence[int]) -> bool:
        """Return True if the keys of this formula, or of all its operands, are those at a node of another."""
        if theirs[place] == ours[0]:
            return True
        return self._pairings(found, place, lambda one, other: ours[one] == theirs[other]) is not None

    def _pairings(
        self, found: _Keyed, place: int, fits: Callable[[int, int], bool]
    ) -> list[tuple[int, int]] | None:
        """Pair every operand of this formula with a different operand at a node that fits; None if that fails."""
        free = list(found.children[place])
        if len(free) <= len(self._tree.children[0]):
            return None
        pairs: list[tuple[int, int]] = []
        for operand in self._tree.children[0]:
            other = next((each for each in free if fits(operand, each)), None)
            if other is None:
                return None
            free.remove(other)
            pairs.append((operand, other))
        return pairs

    def _is_renamed_at(self, found: _Keyed, place: int) -> bool:
        ours = self._tree
        if found.shapes[place] == ours.shapes[0]:
            return ours.letters(0) == found.letters(place)
        names: dict[str, str] = {}

        def fits(operand: int, other: int) -> bool:
            if ours.shapes[operand] != found.shapes[other]:
                return False
            renamed = _extend(names, ours.variables(operand), found.variables(other))
            if renamed is None:
                return False
            names.update(renamed)
            return True

        return self._pairings(found, place, fits) is not None


class _Keyed:
    """An operator tree with keys of its subtrees: operands of sums in any order, variables by name or nameless."""

    def __init__(self, tree: Opt) -> None:
        self.tree, self.children = tree, tree.children()

    @cached_property
    def exact(self) -> list[int]:
        """The keys of subtrees in their own letters."""
        return self._keys(self.tree.labels)

    @cached_property
    def shapes(self) -> list[int]:
        """The keys of subtrees whose variables have no names."""
        return self._keys([label[:2] if _is_letter(label) else label for label in self.tree.labels])

    def _keys(self, labels: Sequence[str]) -> list[int]:
        keys = [0] * len(labels)
        for node in range(len(labels) - 1, -1, -1):
            below = [keys[child] for child in self.children[node]]
            if labels[node].startswith("U!"):
                below.sort()
            keys[node] = hash((labels[node], *below))
        return keys

    def variables(self, node: int) -> list[str]:
        """Return the variables below a node, in an order that depends on the shapes of operands alone."""
        found: list[str] = []
        waiting = [node]
        while waiting:
            each = waiting.pop()
            label = self.tree.labels[each]
            if _is_letter(label):
                found.append(label)
            below = self.children[each]
            if label.startswith("U!"):
                below = sorted(below, key=self.shapes.__getitem__)
            waiting.extend(reversed(below))
        return found

    def letters(self, node: int) -> list[int]:
        """Return the variables below a node, numbered in order of first occurrence."""
        numbers: dict[str, int] = {}
        return [numbers.setdefault(name, len(numbers)) for name in self.variables(node)]


def _is_letter(label: str) -> bool:
    """Return True for a variable, and for a function that is named by a letter; `F!sin` keeps its name."""
    return label.startswith("V!") or (label.startswith("F!") and len(label) == 3)


def _extend(names: dict[str, str], ours: Sequence[str], theirs: Sequence[str]) -> dict[str, str] | None:
    """Return a one-to-one renaming that agrees with the names so far; None if there is none."""
    found = dict(names)
    taken = set(found.values())
    for one, other in zip(ours, theirs, strict=True):
        if one in found:
            if found[one] != other:
                return None
        elif other in taken:
            return None
        else:
            found[one] = other
            taken.add(other)
    return found
