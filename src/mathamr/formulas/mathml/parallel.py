"""Parallel markup: one `math` element that holds Presentation and Content MathML, or only one of them."""

from __future__ import annotations

from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.layouttree import PRESENTATION_TAGS

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


def _part(element: Element, encodings: frozenset[str], content: bool) -> Element | None:
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
