"""MathML text directly to trees, for readers of a collection's MathML files."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import TypeVar

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.mathml.dialect import in_latexml_style
from mathamr.formulas.mathml.element import Element, MathMLError
from mathamr.formulas.mathml.layouttree import PRESENTATION_TAGS, slt
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.operatortree import opt
from mathamr.formulas.notation import opt_from_string, slt_from_string
from mathamr.formulas.tree import Opt, Slt

_Made = TypeVar("_Made", Slt, Opt)


def slt_from_mathml(text: str, source: str = "") -> Slt:
    """Return the layout tree of Presentation MathML, or of the presentation part of parallel markup.

    LaTeXML's output gives the published tree; that of other converters is converted to LaTeXML's conventions first. A tree in an
    annotation of the encoding `TANGENT` is taken as it is.

    >>> slt_from_mathml("<math><msup><mi>x</mi><mn>2</mn></msup></math>").edges
    '-a'
    """
    element = read(text, source)
    if (written := _tangent(element)) is not None:
        return slt_from_string(written, source)
    found = presentation(element)
    if found is None:
        raise MathMLError(
            f"{_place(source)}only Content MathML here: a layout tree needs Presentation MathML"
        )
    return _within_budget(slt, in_latexml_style(found), text, source)


def opt_from_mathml(text: str, source: str = "") -> Opt:
    """Return the operator tree of Content MathML, or of the content part of parallel markup, or the one in an annotation.

    >>> opt_from_mathml("<math><apply><sin/><ci>x</ci></apply></math>").labels
    ('F!sin', 'V!x')
    """
    element = read(text, source)
    if (written := _tangent(element)) is not None:
        return opt_from_string(written, source)
    found = content(element)
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


TANGENT = "application/x-tangent"
"""The encoding of an annotation with a tree as a Tangent string: collections of published trees have no other form of a formula."""
_CONTENT = frozenset(["mathml-content", "application/mathml-content+xml"])
_PRESENTATION = frozenset(["mathml-presentation", "application/mathml-presentation+xml"])
_TEX = frozenset(["application/x-tex", "tex", "latex", "application/x-latex"])


def presentation(element: Element) -> Element | None:
    """Return the Presentation MathML in an element, if there is any."""
    return _part(element, _PRESENTATION, content=False)


def content(element: Element) -> Element | None:
    """Return the Content MathML in an element, if there is any."""
    return _part(element, _CONTENT, content=True)


def latex(element: Element) -> str | None:
    """Return the LaTeX that a converter wrote beside its MathML: an annotation, or the `alttext`."""
    for each in element.iterate():
        if each.tag == "annotation" and each.attributes.get("encoding", "").lower() in _TEX:
            return each.text.strip()
    return element.attributes.get("alttext")


def annotated_tree(tree: str) -> str:
    """Return MathML that says nothing but a tree, as a Tangent string.

    >>> slt_from_mathml(annotated_tree("[V!x,a[N!2]]")).edges
    '-a'
    """
    return f'<math><annotation encoding="{TANGENT}">{html.escape(tree)}</annotation></math>'


def _tangent(element: Element) -> str | None:
    """Return the tree that an annotation says."""
    found = (each for each in element.iterate() if each.tag == "annotation")
    return next((each.text for each in found if each.attributes.get("encoding") == TANGENT), None)


def _part(element: Element, encodings: frozenset[str], *, content: bool) -> Element | None:
    main = element
    while main.tag in ("math", "semantics") and main.children:
        if main.tag == "semantics":
            for annotation in main.children[1:]:
                encoding = annotation.attributes.get("encoding", "").lower()
                if annotation.tag == "annotation-xml" and encoding in encodings and annotation.children:
                    return annotation.children[0]
        elif len(main.children) > 1:
            break
        main = main.children[0]
    return element if content != (main.tag in PRESENTATION_TAGS) else None
