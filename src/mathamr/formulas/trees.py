"""Both trees of a formula, from LaTeX or MathML, and a cache of them."""

from __future__ import annotations

from typing import NamedTuple

from mathamr.core.cache import Cache
from mathamr.core.errors import MathAMRError
from mathamr.core.settings import TREES
from mathamr.formulas.formula import Formula
from mathamr.formulas.latex.diagrams import with_arrays
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.parse import both_readings, check_reading, parse
from mathamr.formulas.tree import Opt, Slt, Tree

LARGEST_SHARE = 50
"""A formula that takes more than one part in this many is not cached: it would evict hundreds of short ones."""
_ENTRY, _TREE, _NODE, _LETTER = 500, 250, 100, 4
"""Upper bounds in bytes: an entry without its trees, a tree, each of its nodes, each letter of a label."""
_SMALL, _NUMBER = 250, 32
"""Python shares small integers; each larger one takes this many bytes."""

TreeKey = tuple[str, tuple[str, ...]]
"""LaTeX and its macros."""


class Readings(NamedTuple):
    """The trees of one formula, from one parse; all are `None` if the formula cannot be read."""

    opt: Opt | None
    slt: Slt | None
    repaired: bool
    meant: Opt | None = None
    """The operator tree of the mathematician's reading, if it was needed."""

    @property
    def size(self) -> int:
        """The size in memory in bytes; shared labels are counted fully."""
        return _ENTRY + sum(map(_size, (self.opt, self.slt, self.meant)))


class TreeCache(Cache[TreeKey, Readings]):
    """The trees of formulas, bounded by bytes; very large ones are not cached."""

    def __init__(self, size: int) -> None:
        super().__init__(weight=size, weigh=_bytes, heaviest=size // LARGEST_SHARE)


def _bytes(key: TreeKey, readings: Readings) -> int:
    return readings.size + _LETTER * (len(key[0]) + sum(map(len, key[1])))


def _size(tree: Tree | None) -> int:
    if tree is None:
        return 0
    count = len(tree.labels)
    numbers = 0 if count < _SMALL else count * _NUMBER
    return _TREE + count * _NODE + _LETTER * sum(map(len, tree.labels)) + numbers


Trees = tuple[Opt | None, Slt | None]
"""The operator tree and the layout tree; `None` if there is none."""
LONGEST_REMEMBERED = 200
"""The maximum length of a formula whose terms are cached: short formulas recur often, long ones hardly ever."""
REMEMBERED = TreeCache(24 << 20)
"""The cache that all stages of a process take trees from: some eight thousand formulas of usual length, parsed once."""


def trees_of(
    formula: Formula, macros: tuple[str, ...] = (), reading: str = "published"
) -> tuple[Trees, bool]:
    """Return both trees of a formula and whether it was repaired: from its LaTeX, or from MathML if it has none.

    MathML states what is applied to what, so it has only one reading.
    """
    has_mathml = formula.presentation_mathml or formula.content_mathml
    if has_mathml and reading == "published" and TREES.value == "mathml":
        return _trees_of_mathml_first(formula, macros)
    if formula.latex.strip():
        if reading == "published":
            found = _readings((formula.latex, macros), with_meaning=False)
            return (found.opt, found.slt), found.repaired
        check_reading(reading)
        found = _readings((formula.latex, macros), with_meaning=True)
        return (found.meant, found.slt), found.repaired
    return _trees_of_mathml(formula)


def _trees_of_mathml_first(formula: Formula, macros: tuple[str, ...]) -> tuple[Trees, bool]:
    """Return each tree from its MathML, and from the LaTeX where there is none or it cannot be read."""
    (opt, slt), repaired = _trees_of_mathml(formula)
    if (opt is None or slt is None) and formula.latex.strip():
        found = _readings((formula.latex, macros), with_meaning=False)
        return (opt or found.opt, slt or found.slt), repaired or found.repaired
    return (opt, slt), repaired


def _trees_of_mathml(formula: Formula) -> tuple[Trees, bool]:
    opt = slt = None
    try:
        if formula.presentation_mathml:
            slt = slt_from_mathml(formula.presentation_mathml)
        if formula.content_mathml:
            opt = opt_from_mathml(formula.content_mathml)
    except MathAMRError:
        return (opt, slt), True
    return (opt, slt), False


def _readings(key: TreeKey, *, with_meaning: bool) -> Readings:
    """Return the trees of LaTeX, with the mathematician's if wanted: cached ones, or parsed now."""
    found = REMEMBERED.get(key)
    if found is None or (with_meaning and found.meant is None and found.slt is not None):
        found = _read(key, with_meaning=with_meaning)
        REMEMBERED.put(key, found)
    return found


def _read(key: TreeKey, *, with_meaning: bool) -> Readings:
    """Parse LaTeX after writing its Unicode characters (`$x² ≤ ℝ$`) as commands, which the published trees would take for
    letters.

    Of a diagram of tikz-cd or amscd the objects and the labels of arrows count, not its options.
    """
    latex, macros = unicode_to_latex(key[0]), tuple(map(unicode_to_latex, key[1]))
    if "{tikzcd}" in latex or "{CD}" in latex:
        latex = with_arrays(latex)
    try:
        if not with_meaning:
            parsed = parse(latex, macros)
            return Readings(parsed.opt, parsed.slt, bool(parsed.repairs))
        parsed, meant = both_readings(latex, macros)
    except MathAMRError:
        return Readings(None, None, True)
    return Readings(parsed.opt, parsed.slt, bool(parsed.repairs), meant.opt)
