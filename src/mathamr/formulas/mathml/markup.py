"""MathML text directly to trees, for readers of a collection's MathML files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.mathml.dialect import in_latexml_style
from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.mathml.parallel import content, presentation
from mathamr.formulas.tree import Opt, Slt

_Made = TypeVar("_Made", Slt, Opt)


def slt_from_mathml(text: str, source: str = "") -> Slt:
    """Return the layout tree of Presentation MathML, or of the presentation part of parallel markup.

    LaTeXML's output gives the published tree; that of other converters is converted to LaTeXML's conventions first.

    >>> slt_from_mathml("<math><msup><mi>x</mi><mn>2</mn></msup></math>").edges
    '-a'
    """
    found = presentation(read(text, source))
    if found is None:
        raise MathMLError(
            f"{_place(source)}only Content MathML here: a layout tree needs Presentation MathML"
        )
    return _within_budget(slt, in_latexml_style(found), text, source)


def opt_from_mathml(text: str, source: str = "") -> Opt:
    """Return the operator tree of Content MathML, or of the content part of parallel markup.

    >>> opt_from_mathml("<math><apply><sin/><ci>x</ci></apply></math>").labels
    ('F!sin', 'V!x')
    """
    found = content(read(text, source))
    if found is None:
        raise MathMLError(
            f"{_place(source)}only Presentation MathML here: an operator tree needs Content MathML"
        )
    return _within_budget(opt, found, text, source)


def _within_budget(make: Callable[[Element, int], _Made], element: Element, text: str, source: str) -> _Made:
    try:
        return make(element, Budget(len(text)).elements)
    except SpentError as error:
        raise FormulaError(str(error), text, 0, source) from None


def _place(source: str) -> str:
    return f"{source}: " if source else ""
