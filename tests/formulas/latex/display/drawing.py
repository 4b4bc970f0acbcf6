"""What is drawn of a formula, in the form in which tests look at it."""

from __future__ import annotations

from mathamr.formulas.latex.display.formula import displayed
from mathamr.formulas.latex.macros import Macros
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.styles import STYLE


def drawn(latex: str, display: bool = True) -> Element:
    """The element that shows a formula."""
    return displayed(latex, Macros(), display=display)


def shown(latex: str, display: bool = True) -> str:
    """The same as text."""
    return repr(drawn(latex, display))


def text_of(element: Element) -> str:
    """All characters that are drawn, in order."""
    return "".join(each.text for each in element.iterate())


def styles_of(element: Element) -> list[str]:
    """The names of styles of an element."""
    return element.attributes.get(STYLE, "").split()
