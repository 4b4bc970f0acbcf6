"""MathML text straight to trees: what a reader of a collection's MathML files calls."""

from __future__ import annotations

from mathamr.formulas.mathml.content import opt
from mathamr.formulas.mathml.dialect import in_latexml_style
from mathamr.formulas.mathml.element import MathMLError
from mathamr.formulas.mathml.parallel import content, presentation
from mathamr.formulas.mathml.presentation import slt
from mathamr.formulas.mathml.reading import read
from mathamr.formulas.tree import Opt, Slt


def slt_from_mathml(text: str, source: str = "") -> Slt:
    """The layout tree of Presentation MathML, or of the presentation part of parallel markup.

    LaTeXML's output gives the published tree; that of other converters is brought to LaTeXML's habits first.

    >>> slt_from_mathml("<math><msup><mi>x</mi><mn>2</mn></msup></math>").edges
    '-a'
    """
    found = presentation(read(text, source))
    if found is None:
        raise MathMLError(
            f"{_place(source)}only Content MathML here: a layout tree needs Presentation MathML"
        )
    return slt(in_latexml_style(found))


def opt_from_mathml(text: str, source: str = "") -> Opt:
    """The operator tree of Content MathML, or of the content part of parallel markup.

    >>> opt_from_mathml("<math><apply><sin/><ci>x</ci></apply></math>").labels
    ('F!sin', 'V!x')
    """
    found = content(read(text, source))
    if found is None:
        raise MathMLError(
            f"{_place(source)}only Presentation MathML here: an operator tree needs Content MathML"
        )
    return opt(found)


def _place(source: str) -> str:
    return f"{source}: " if source else ""
