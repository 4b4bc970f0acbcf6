"""LaTeX to MathML for a page: `display_mathml` is the entry point."""

from __future__ import annotations

from collections.abc import Iterable

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.display import accents, decoration, fractions, matrices, operators, words
from mathamr.formulas.latex.display.tablelines import TableLine, in_lines, lines_of
from mathamr.formulas.latex.display.typesetter import Typesetter
from mathamr.formulas.latex.expandedlatex import ExpandedLatex
from mathamr.formulas.latex.lexer import MAX_LENGTH
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.latex.rowreader import CELL_ENDS, NOTHING
from mathamr.formulas.latex.styles import DISPLAY, TEXT
from mathamr.formulas.latex.unicode import unicode_to_latex
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import Styling
from mathamr.formulas.mathml.writing import to_mathml

VOCABULARY = (accents, decoration, fractions, matrices, operators, words)
"""The modules that define what pieces draw; importing them fills the typesetter's table."""

_LINE_ENDS = CELL_ENDS - {"&"}


def display_mathml(
    latex: str, macros: Macros | Iterable[str] = (), *, display: bool = False, styling: Styling = "inline"
) -> str:
    """Return a formula as MathML that looks as in LaTeX, valid and safe to put in a page.

    Raises `FormulaError` if there is nothing to draw or a limit is exceeded. `macros` are those of the document.

    >>> display_mathml("a/b").partition("<semantics>")[2].partition("<annotation")[0]
    '<mrow><mi>a</mi><mo stretchy="false" lspace="0em" rspace="0em">/</mo><mi>b</mi></mrow>'
    """
    element = displayed(latex, Macros.of(macros), display=display)
    return to_mathml(element, display=display, latex=latex, styling=styling)


def displayed(latex: str, macros: Macros, *, display: bool) -> Element:
    """Return the element that draws a formula."""
    if len(latex) > MAX_LENGTH:
        raise FormulaError(f"longer than {MAX_LENGTH} characters", latex, MAX_LENGTH)
    try:
        return drawn(ExpandedLatex(unicode_to_latex(latex), macros, Budget(len(latex))), display=display)
    except RecursionError:
        raise FormulaError("nested too deeply", latex, 0) from None


def drawn(source: ExpandedLatex, *, display: bool) -> Element:
    """Return the element that draws what a source says."""
    reader = source.reader(drawn=True)
    broken = not _LINE_ENDS.isdisjoint(reader.tokens)
    style = DISPLAY if display else TEXT
    try:
        read = reader.lines(CELL_ENDS if broken else NOTHING)
        lines = lines_of(Typesetter(reader, style), read, style, aligned=broken)
    except SpentError as error:
        raise FormulaError(str(error), source.latex, reader.offset()) from None
    if not _is_empty(lines):
        return in_lines(lines, display=display)
    uncommented = source.uncommented()
    if uncommented is None:
        raise FormulaError("an empty formula", source.latex, 0)
    return drawn(uncommented[0], display=display)


def _is_empty(lines: list[TableLine]) -> bool:
    return all(line.is_empty() and line.tag is None for line in lines)
