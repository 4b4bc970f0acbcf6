"""Both trees of a formula, however it was written."""

from __future__ import annotations

from functools import lru_cache

from mathamr.errors import MathAMRError
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.parse import parse
from mathamr.formulas.tree import Opt, Slt
from mathamr.posts.post import Formula

Trees = tuple[Opt | None, Slt | None]
"""The operator tree and the layout tree; `None` where there is none."""


def trees_of(formula: Formula, macros: tuple[str, ...] = ()) -> tuple[Trees, bool]:
    """Both trees of a formula and whether it was repaired: from its LaTeX, or from MathML where it has none."""
    if formula.latex.strip():
        return _trees_of_latex(formula.latex, macros)
    opt = slt = None
    try:
        if formula.presentation_mathml:
            slt = slt_from_mathml(formula.presentation_mathml)
        if formula.content_mathml:
            opt = opt_from_mathml(formula.content_mathml)
    except MathAMRError:
        return (opt, slt), True
    return (opt, slt), False


@lru_cache(maxsize=10_000)
def _trees_of_latex(latex: str, macros: tuple[str, ...]) -> tuple[Trees, bool]:
    try:
        parsed = parse(latex, macros)
    except MathAMRError:
        return (None, None), True
    return (parsed.opt, parsed.slt), bool(parsed.repairs)
