"""Converts the Presentation MathML of other converters to LaTeXML's conventions, which the published layout trees follow.

KaTeX, MathJax and latex2mathml leave rows flat, name alphabets by `mathvariant`, and differ on which symbols are
identifiers (`mi`) and which operators (`mo`). LaTeXML itself changed some operators before version 0.8.7, on which the
published trees and our LaTeX parser are based, and after the ARQMath collection was converted.
"""

from __future__ import annotations

from mathamr.formulas.mathml.alphabets import styled
from mathamr.formulas.mathml.element import Element, rebuilt
from mathamr.formulas.mathml.rows import regrouped

_INVISIBLE_TIMES = "\u2062"
_IDENTIFIERS = frozenset("∞∅…⋯⋱⋮¬∠△♯♭♮℘#?■")
"""Symbols that LaTeXML writes as `mi`; all other single characters that are not letters are `mo`."""

_LIMITS = frozenset(
    ["lim", "inf", "sup", "liminf", "limsup", "lim inf", "lim sup", "det", "dim", "Pr", "mod"]
)
"""Names with scripts below and above, which LaTeXML writes as `mo`."""

_OPERATORS = {"-": "−", "·": "⋅", "―": "¯", "‾": "¯", "″": "′′", "‴": "′′′", "∥": "‖"}


_OLDER_OPERATORS = {"-": "−", "||": "‖"}
"""Operators of LaTeXML before 0.8.7, with their current form."""


def in_latexml_style(root: Element) -> Element:
    """Return the formula as LaTeXML 0.8.7 would have written it; its own output is unchanged.

    >>> in_latexml_style(Element("msup", "", [Element("mi", "R", (), {"mathvariant": "double-struck"}), Element("mi", "′")]))
    <msup><mi>ℝ</mi><mo>′</mo></msup>
    """
    if not is_latexml(root):
        return regrouped(rebuilt(root, _adapted))
    if any(each.text in _OLDER_OPERATORS for each in root.iterate() if each.tag == "mo"):
        return rebuilt(root, _modernised)
    return root


def is_latexml(root: Element) -> bool:
    """Return True if the markup has LaTeXML's classes, or invisible products, which other converters leave out."""
    if root.attributes.get("class", "").startswith("ltx_"):
        return True
    return any(element.tag == "mo" and element.text == _INVISIBLE_TIMES for element in root.iterate())


def _modernised(element: Element, children: list[Element]) -> Element:
    if element.tag == "mo" and element.text in _OLDER_OPERATORS:
        return Element("mo", _OLDER_OPERATORS[element.text], (), element.attributes)
    return Element(element.tag, element.text, children, element.attributes) if children else element


def _adapted(element: Element, children: list[Element]) -> Element:
    text = element.text.strip()
    tag = element.tag
    if tag not in ("mi", "mo", "mn") or not text:
        return Element(tag, element.text, children, element.attributes) if children else element
    attributes = element.attributes
    variant = attributes.get("mathvariant", "")
    if variant:
        text = styled(text, variant)
        attributes = {name: value for name, value in attributes.items() if name != "mathvariant"}
    if tag == "mi" and variant != "normal" and (text in _LIMITS or _is_operator(text)):
        tag = "mo"
    elif tag == "mo" and text in _IDENTIFIERS:
        tag = "mi"
    if tag == "mo":
        text = _OPERATORS.get(text, text)
    return Element(tag, text, children, attributes)


def _is_operator(text: str) -> bool:
    return len(text) == 1 and not text.isalnum() and text not in _IDENTIFIERS
