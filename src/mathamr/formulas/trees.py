"""Both trees of a formula, however it was written."""

from __future__ import annotations

from functools import lru_cache

from mathamr.errors import MathAMRError
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.parse import EMPTY, Context, parse
from mathamr.formulas.tree import Opt, Slt
from mathamr.posts.post import Formula

Trees = tuple[Opt | None, Slt | None]
"""The operator tree and the layout tree; `None` where there is none."""
LONGEST_REMEMBERED = 200
"""Characters: short formulas come again and again, and long ones have trees of megabytes, which clients could pile up."""


def trees_of(
    formula: Formula, macros: tuple[str, ...] = (), reading: str = "published", context: Context = EMPTY
) -> tuple[Trees, bool]:
    """Both trees of a formula and whether it was repaired: from its LaTeX, or from MathML where it has none.

    MathML says itself what is applied to what: there is nothing to be read in another way.
    """
    if formula.latex.strip():
        read = _remembered if len(formula.latex) <= LONGEST_REMEMBERED else _trees_of_latex
        return read(formula.latex, macros, reading, context)
    opt = slt = None
    try:
        if formula.presentation_mathml:
            slt = slt_from_mathml(formula.presentation_mathml)
        if formula.content_mathml:
            opt = opt_from_mathml(formula.content_mathml)
    except MathAMRError:
        return (opt, slt), True
    return (opt, slt), False


def _trees_of_latex(
    latex: str, macros: tuple[str, ...], reading: str, context: Context
) -> tuple[Trees, bool]:
    try:
        parsed = parse(latex, macros, reading=reading, context=context)
    except MathAMRError:
        return (None, None), True
    return (parsed.opt, parsed.slt), bool(parsed.repairs)


_remembered = lru_cache(maxsize=4_000)(_trees_of_latex)
