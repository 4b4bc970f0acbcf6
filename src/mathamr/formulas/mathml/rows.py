"""Flat rows, as KaTeX, MathJax and latex2mathml write them, regrouped so that each pair of fences has its own row.

LaTeXML nests every pair of fences in an `mrow`, and layout trees rely on it: `(a)+(b)` in one row would be taken for
one group. A script on a closing fence, `(a+b)^2`, becomes a script of the whole group.
"""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.formulas.mathml.element import Element, rebuilt

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_BARS = frozenset(["|", "∥", "‖"])
_ROWS = frozenset(["math", "mrow", "mstyle", "mpadded", "mphantom", "mtd", "msqrt", "menclose", "semantics"])
_SCRIPTS = frozenset(["msub", "msup", "msubsup"])
_LOOKAHEAD = 100
_MATHJAX_CLASS = "data-mjx-texclass"


def regrouped(root: Element) -> Element:
    """Return the same formula with a row for every pair of fences.

    >>> row = [Element("mo", "("), Element("mi", "a"), Element("mo", ")"), Element("mo", "!")]
    >>> regrouped(Element("mrow", "", row))
    <mrow><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mo>!</mo></mrow>
    """
    return rebuilt(root, _regroup)


def _regroup(element: Element, children: list[Element]) -> Element:
    if not children:
        return element
    if element.tag in _ROWS and len(children) > 2:
        children = _grouped(children)
    return Element(element.tag, element.text, children, element.attributes)


def _grouped(children: Sequence[Element]) -> list[Element]:
    """Return the members of a row with every matching pair of fences, and what is between, in a row of its own."""
    levels: list[list[Element]] = [[]]
    fences = _fences(children)
    for place, (child, fence) in enumerate(zip(children, fences, strict=True)):
        role = _role(fence, levels, fences[place + 1 : place + 1 + _LOOKAHEAD]) if fence is not None else ""
        if role == "open":
            levels.append([child])
        elif role == "close" and len(levels) > 1 and fence is not None:
            group = Element("mrow", "", [*levels.pop(), fence])
            levels[-1].append(group if fence is child else _with_base(child, group))
        else:
            levels[-1].append(child)
    row = levels[0]
    for unclosed in levels[1:]:
        row.extend(unclosed)
    if len(row) == 1 and row[0].tag == "mrow" and len(row[0].children) == len(children):
        return list(row[0].children)
    return row


def _fences(children: Sequence[Element]) -> list[Element | None]:
    """Return for each member of a row the fence that it is or carries; the bars of a bra-ket, ⟨x|A|y⟩, do not count."""
    fences: list[Element | None] = []
    angles = 0
    for child in children:
        text = child.text.strip()
        angles = max(0, angles + (text == "⟨") - (text == "⟩"))
        fence = _fence(child)
        fences.append(fence if fence is None or not angles or fence.text.strip() not in _BARS else None)
    return fences


def _with_base(script: Element, base: Element) -> Element:
    return Element(script.tag, script.text, [base, *script.children[1:]], script.attributes)


def _fence(element: Element) -> Element | None:
    """Return the fence that an element is, or carries scripts on."""
    if element.tag in _SCRIPTS and element.children:
        element = element.children[0]
    text = element.text.strip()
    if element.tag == "mo" and (text in _OPENING or text in _CLOSING or text in _BARS):
        return element
    return None


def _role(fence: Element, levels: Sequence[Sequence[Element]], ahead: Sequence[Element | None]) -> str:
    """Return whether a fence opens or closes: by its shape, its attributes or, for a bar, by its neighbours."""
    text = fence.text.strip()
    if text in _OPENING:
        return "open"
    if text in _CLOSING:
        return "close"
    is_open = len(levels) > 1 and levels[-1][0].text.strip() == text
    declared = fence.attributes.get("form", "") or fence.attributes.get(_MATHJAX_CLASS, "").lower()
    if declared in ("prefix", "open"):
        return "open"
    if declared in ("postfix", "close"):
        return "close" if is_open else ""
    if declared or fence.attributes.get("separator") == "true":
        return ""
    if is_open and len(levels[-1]) > 1:
        return "close"
    previous = levels[-1][-1] if levels[-1] else None
    after_operand = previous is not None and previous.tag != "mo"
    return "" if after_operand and _bars_ahead(text, ahead) % 2 == 0 else "open"


def _bars_ahead(text: str, ahead: Sequence[Element | None]) -> int:
    """Count the bars of this kind that follow before the surrounding fences are closed."""
    depth = count = 0
    for fence in ahead:
        if fence is None:
            continue
        character = fence.text.strip()
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0:
            break
        count += depth == 0 and character == text
    return count
