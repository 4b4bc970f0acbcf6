"""`draw`: formulas as MathML, cached, with the matched parts of a hit marked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mathamr.core.cancellation import check_cancelled
from mathamr.core.errors import MathAMRError, ParseError
from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.diagrams import with_arrays
from mathamr.formulas.latex.display.formula import display_mathml, drawn
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.marking import TAKEN, drawn_with_marks, placed_tree
from mathamr.formulas.mathml.writing import sanitised, to_mathml
from mathamr.posts.post import Formula

REMEMBERED = 16_000
LONGEST_REMEMBERED = 200
LONG_REMEMBERED, LONGEST_LONG = 400, 1_600
"""How many drawings of formulas are cached, by length of their LaTeX: the short ones recur, the long ones take memory."""
LONGEST_FORMULA = 50_000
"""Characters of LaTeX beyond which a formula is not drawn and its text is cut: nobody reads it, and it takes seconds."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A formula as MathML, or why it has none."""

    mathml: str | None
    error: dict[str, Any] | None = None


def draw(
    latex: str, macros: tuple[str, ...] = (), *, display: bool = False, mathml: str | None = None
) -> Drawn:
    """Return a formula as MathML: from its LaTeX, else from the MathML that came with it.

    The page forbids inline styles, so the renderer writes classes for its style sheet.
    """
    if max(len(latex), len(mathml or "")) > LONGEST_FORMULA:
        return Drawn(None, {"message": f"it is longer than {LONGEST_FORMULA:,} characters", "offset": 0})
    if macros or mathml is not None or len(latex) > LONGEST_LONG:
        return _draw(latex, macros, display=display, mathml=mathml)
    return (_remembered if len(latex) <= LONGEST_REMEMBERED else _long_remembered)(latex, display=display)


def draw_formula(formula: Formula, macros: tuple[str, ...] = ()) -> Drawn:
    """Return a formula of a post as MathML."""
    mathml = None if formula.latex.strip() else formula.presentation_mathml
    return draw(formula.latex, macros, display=formula.display, mathml=mathml)


def draw_marked(
    formula: Formula, macros: tuple[str, ...], nodes: Collection[int], taken: Collection[int] = ()
) -> Drawn:
    """Return a formula of a post as MathML, with nodes of its layout tree marked: matched ones, and those that wildcards took.

    Only LaTeX can be marked.
    """
    if not (nodes or taken) or not formula.latex.strip() or len(formula.latex) > LONGEST_FORMULA:
        return draw_formula(formula, macros)
    if with_arrays(formula.latex) != formula.latex:  # its drawing has other parts than its tree
        return draw_formula(formula, macros)
    check_cancelled()
    latex = unicode_to_latex(formula.latex)
    try:
        source = ExpandedLatex(latex, Macros.of(macros), Budget(len(latex)))
        placed = placed_tree(source)
        if placed is None:
            return draw_formula(formula, macros)
        element = drawn(source, display=formula.display)
        marked = drawn_with_marks(
            drawn_with_marks(element, placed.places(nodes)), placed.places(taken), TAKEN
        )
        return Drawn(to_mathml(marked, display=formula.display, latex=formula.latex, styling="classes"))
    except (MathAMRError, RecursionError):  # what cannot be drawn has a reason in `error`
        return draw_formula(formula, macros)


def _draw(latex: str, macros: tuple[str, ...], *, display: bool, mathml: str | None) -> Drawn:
    check_cancelled()
    try:
        if mathml and not latex.strip():
            return Drawn(sanitised(mathml, styling="classes"))
        return Drawn(display_mathml(with_arrays(latex), macros, display=display, styling="classes"))
    except ParseError as error:
        return Drawn(None, {"message": error.message, "offset": error.offset})
    except MathAMRError as error:
        return Drawn(None, {"message": str(error), "offset": 0})


@lru_cache(maxsize=REMEMBERED)
def _remembered(latex: str, *, display: bool) -> Drawn:
    return _draw(latex, (), display=display, mathml=None)


@lru_cache(maxsize=LONG_REMEMBERED)
def _long_remembered(latex: str, *, display: bool) -> Drawn:
    return _draw(latex, (), display=display, mathml=None)
