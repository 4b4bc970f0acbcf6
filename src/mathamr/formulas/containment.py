"""Containment of formulas: a side of an equation, a summand or any other part of it, in its own letters or in others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal

from mathamr.core.listing import names
from mathamr.formulas.canonicalform import MADE, MAKING, canonical_form
from mathamr.formulas.tree import Opt

Contained = Literal["same letters", "other letters"]

_ALIKE = dict.fromkeys(names("U!approx U!equivalent O!similar-to O!similar-to-or-equals"), "U!eq") | {
    "O!lt": "O!leq"
}
"""Relations that one author writes where another writes another: a formula in one of them is found like one in other letters."""
_NOTHING = Opt(("",), (-1,), "-")
"""What stands for a formula that is too large to be looked for."""
_Pending = tuple[tuple[tuple[int, ...], tuple[int, ...], bool], "_Pending"] | None
"""Nodes of one formula that have to become nodes of another, in any order or not, and what remains after them."""
MOST_STEPS = 1_000
"""How many pairs of nodes are tried to find a renaming."""
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
        self._tree = _keyed(tree if len(tree) <= LARGEST else _NOTHING)
        self.size = len(self._tree.labels) if len(tree) <= LARGEST else len(tree)
        kept = (label for label in self._tree.alike if label[:2] not in ("V!", "F!") and label not in MADE)
        self._needed = Counter(kept)
        self._letters = sum(map(_is_letter, set(self._tree.alike)))

    def may_be_in(self, formula: Opt) -> bool:
        """Return False for a formula that has fewer letters, or fewer of an operator or a number, than this one, so that they need not be compared."""
        labels, different = formula.labels, set(formula.labels)
        if self._letters > _most_letters(different):
            return False
        if "U!and" in different:  # its canonical form repeats the sides of a chain
            return self._needed.keys() <= different
        return all(labels.count(label) >= often for label, often in self._needed.items())

    def inside(self, formula: Opt) -> Contained | None:
        """Return how a formula contains this one, or equals it; None if it does not."""
        if len(formula) > LARGEST or not self.may_be_in(formula):
            return None
        found = _keyed(formula)
        if self.size > len(found.labels):
            return None
        places = list(self._places(found))
        if any(self._sits_at(found, place, found.exact, self._tree.exact) for place in places):
            return "same letters"
        return "other letters" if any(self._is_renamed_at(found, place) for place in places) else None

    def is_as_large_as(self, formula: Opt) -> bool:
        """Return True for a formula of the same size, which is the whole of this one if it contains it."""
        return self.size == len(_keyed(formula).labels)

    def _places(self, found: _Keyed) -> Iterator[int]:
        """Yield the nodes of a formula that have the shape of this one, perhaps beside further operands."""
        ours = self._tree
        label, operands = ours.alike[0], len(ours.children[0])
        is_open = label.startswith("U!") and operands > 1
        for node, key in enumerate(found.shapes):
            if key == ours.shapes[0] or (
                is_open and found.alike[node] == label and len(found.children[node]) > operands
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
        """Return True if one renaming of letters makes this formula that at a node of another, operands of sums in any order.

        Which of several operands of the same shape belong together is tried out, within a bound.
        """
        ours = self._tree
        names: dict[str, str] = {}
        states: list[tuple[_Pending, dict[str, str]]] = [((((0,), (place,), False), None), names)]
        for _ in range(MOST_STEPS):
            if not states:
                return False
            pending, names = states.pop()
            if pending is None:
                return True
            (mine, theirs, is_unordered), rest = pending
            if not mine:
                states.append((rest, names))
                continue
            one, left = mine[0], mine[1:]
            for other in reversed(theirs) if is_unordered else theirs[:1]:
                renamed = self._renamed(found, one, other, names)
                if renamed is None:
                    continue
                after = tuple(each for each in theirs if each != other)
                below = ours.alike[one].startswith("U!")
                inner = (tuple(ours.children[one]), tuple(found.children[other]), below)
                states.append(((inner, ((left, after, is_unordered), rest)), renamed))
        return False

    def _renamed(self, found: _Keyed, one: int, other: int, names: dict[str, str]) -> dict[str, str] | None:
        """Return the names with what a node of this formula adds to them if it becomes a node of another; None if it cannot."""
        ours = self._tree
        if one and ours.shapes[one] != found.shapes[other]:
            return None
        label, theirs = ours.alike[one], found.alike[other]
        if not _is_letter(label):
            return names if label == theirs else None
        if label in names:
            return names if names[label] == theirs else None
        return None if theirs in names.values() else {**names, label: theirs}


@lru_cache(maxsize=1024)
def _keyed(tree: Opt) -> _Keyed:
    return _Keyed(tree)


class _Keyed:
    """The canonical form of a formula with keys of its subtrees: operands of sums in any order, variables by name or nameless."""

    def __init__(self, tree: Opt) -> None:
        canonical = canonical_form(tree)
        self.labels, self.children = canonical.labels, canonical.children
        self.alike = [_ALIKE.get(label, label) for label in self.labels]

    @cached_property
    def exact(self) -> list[int]:
        """The keys of subtrees in their own letters."""
        return self._keys(self.labels)

    @cached_property
    def shapes(self) -> list[int]:
        """The keys of subtrees whose variables have no names."""
        return self._keys(list(map(_shape, self.alike)))

    def _keys(self, labels: Sequence[str]) -> list[int]:
        keys = [0] * len(labels)
        for node in range(len(labels) - 1, -1, -1):
            label, below = labels[node], [keys[child] for child in self.children[node]]
            if below and label.startswith("U!"):
                below.sort()
            keys[node] = hash((label, *below))
        return keys


def _most_letters(labels: Collection[str]) -> int:
    """Return how many different letters a canonical form has at most: a function may become a variable, too."""
    made = sum(label[2:].strip() in MAKING for label in labels)
    return made + sum((1 + (label[0] == "F")) for label in labels if _is_letter(label))


@lru_cache(maxsize=4096)
def _shape(label: str) -> str:
    """Return what a label says without the name of a letter."""
    return label[:2] if _is_letter(label) else label


def _is_letter(label: str) -> bool:
    """Return True for a variable, and for a function that is named by a letter; `F!sin` keeps its name."""
    return label.startswith("V!") or (label.startswith("F!") and len(label) == 3)
