"""`FormulaGrader`: grades how close a formula is to the query's, on one scale for all queries: the same, renamed, containing
it, or similar.
"""

from __future__ import annotations

from collections.abc import Callable

from mathamr.formulas.alignment import similarity, work
from mathamr.formulas.containment import Subformula
from mathamr.formulas.openform import has_big_operator, omits, open_form
from mathamr.formulas.tree import Opt
from mathamr.formulas.trees import Trees
from mathamr.formulas.visualkey import FEWEST_SYMBOLS, count_letters, form_key
from mathamr.search.wildcards import fit, has_wildcards
from mathamr.search.workbudget import Affords, WorkBudget

IDENTICAL, FITTING, COMPLETED, RENAMED, FITTING_INSIDE, CONTAINED, CONTAINED_RENAMED, SIMILAR = (
    1.0, 0.97, 0.95, 0.9, 0.85, 0.8, 0.7, 0.6,
)  # fmt: skip
"""The grades of formulas: the same, one that fits the query's wildcards, the same with bounds or a differential that the query leaves
out, the same in other letters, one with a part that fits the wildcards, one that contains the query's formula, one that contains it in
other letters. The grade of a similar one is the alignment of the trees times the last of these."""


Align = Callable[[str, Trees], float]
"""Returns the similarity of a formula, given by its visual key and its trees, to the query's."""


class FormulaGrader:
    """Grades formulas against one formula of a query, given by its trees and visual key; comparisons that `affords` refuses
    are not made. `steps` bounds the comparisons with wildcards.

    >>> from mathamr.formulas.parse import parse
    >>> from mathamr.formulas.visualkey import visual_key
    >>> read = [parse(latex) for latex in ("a^2+b^2=c", "x^2+y^2=z", "r=1+(x^2+y^2=z)", "x^2+y^3=z")]
    >>> trees = [(each.opt, each.slt) for each in read]
    >>> grader = FormulaGrader(trees[0], visual_key(trees[0][1]), lambda size: True)
    >>> [round(grader.grade(visual_key(each[1]), each), 2) for each in trees]
    [1.0, 0.9, 0.7, 0.46]
    """

    def __init__(self, trees: Trees, visual: str, affords: Affords, steps: WorkBudget | None = None) -> None:
        self._trees, self._visual, self._affords, self._steps = trees, visual, affords, steps
        opt, slt = trees
        self._pattern = opt if has_wildcards(opt) else None
        has_form = slt is not None and len(slt) >= FEWEST_SYMBOLS
        self._form = form_key(slt) if slt is not None and has_form else None
        self._letters = count_letters(slt) if slt is not None and has_form else 0
        self._part = Subformula(opt) if opt is not None and len(opt) > 1 else None
        self._open = Subformula(open_form(opt)) if opt is not None and omits(opt) else None
        self._body = Subformula(open_form(opt)) if opt is not None and has_big_operator(opt) else None

    def grade(self, visual: str, trees: Trees, align: Align | None = None) -> float:
        """Return the grade of a formula, from 0 to 1, by its visual key and its trees; 0 if comparing them costs too much.

        `align` knows similarities that were computed before.
        """
        if visual == self._visual:
            return IDENTICAL
        if not self._affords(work(self._trees, trees)):
            return 0.0
        return self._having(trees) or SIMILAR * (
            similarity(self._trees, trees) if align is None else align(visual, trees)
        )

    def grade_having(self, visual: str, trees: Trees) -> float:
        """Return the grade of a formula that is the query's or contains it; 0 for others, whose trees need not be aligned.

        A formula with other bounds counts like one that contains the query's in other letters.
        """
        if visual == self._visual:
            return IDENTICAL
        if not self._affords(sum(len(tree) for tree in (*self._trees, *trees) if tree is not None)):
            return 0.0
        return self._having(trees) or (CONTAINED_RENAMED if self._has_other_bounds(trees[0]) else 0.0)

    def _having(self, trees: Trees) -> float:
        opt, slt = trees
        if opt is not None and opt == self._trees[0]:
            return IDENTICAL
        if self._pattern is not None:
            how = fit(self._pattern, opt, self._steps) if opt is not None else None
            return {"whole": FITTING, "inside": FITTING_INSIDE, None: 0.0}[how]
        completed = self._completed(opt)
        if completed == COMPLETED:
            return COMPLETED
        if (
            self._form is not None
            and slt is not None
            and count_letters(slt) == self._letters
            and form_key(slt) == self._form
        ):
            return RENAMED
        inside = self._part.inside(opt) if self._part is not None and opt is not None else None
        if inside == "same letters":
            return CONTAINED
        if completed:
            return completed
        return CONTAINED_RENAMED if inside is not None and self._form is not None else 0.0

    def completed(self, trees: Trees) -> bool:
        """Return True for a formula that is the query's with what that leaves out: bounds, a differential, an arrow."""
        return self._completed(trees[0]) == COMPLETED

    def _has_other_bounds(self, opt: Opt | None) -> bool:
        """Return True for a formula that has the query's, perhaps in other letters, with any bounds or none."""
        if self._body is None or opt is None or not (has_big_operator(opt) and self._body.may_be_in(opt)):
            return False
        return self._body.inside(open_form(opt)) is not None

    def _completed(self, opt: Opt | None) -> float:
        """Return the grade of a formula by its open form, if the query leaves something out; else 0."""
        if self._open is None or opt is None or not (has_big_operator(opt) and self._open.may_be_in(opt)):
            return 0.0
        opened = open_form(opt)
        inside = self._open.inside(opened)
        is_whole = inside is not None and self._open.is_as_large_as(opened)
        if inside == "same letters":
            return COMPLETED if is_whole else CONTAINED
        if inside is None or self._form is None:
            return 0.0
        return RENAMED if is_whole else CONTAINED_RENAMED
