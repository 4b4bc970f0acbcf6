"""Display details that trees do not need: fence sizes, accents, spaces of names and text, alignment.

Elements made from LaTeX contain only what layout trees need. Here the missing attributes are added; existing ones
stay, so MathML from a better converter is unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr.formulas.mathml.element import Element, rebuilt
from mathamr.formulas.mathml.styles import STYLE

_OPENING = frozenset("([{⟨⌊⌈")
_CLOSING = frozenset(")]}⟩⌋⌉")
_BARS = frozenset("|‖∥")
_TALL = frozenset(["mfrac", "mtable", "munder", "munderover", "mmultiscripts", "msqrt", "mroot", "msubsup"])
_ROWS = frozenset(["mrow", "mstyle", "mtd", "msqrt", "mpadded", "mphantom"])
_OVERLINE, _LONG_OVERLINE = "¯", "―"
_NO_BREAK_SPACE = "\u00a0"
_SCRIPTS = frozenset(["msub", "msup", "msubsup", "munder", "mover", "munderover"])
_THIN_SPACE = Element("mspace", "", (), {"width": "0.1667em"})
_LEFT, _RIGHT = {STYLE: "left"}, {STYLE: "right"}


def typeset(root: Element) -> Element:
    """Return the formula in MathML Core, with everything that a browser needs to draw it like LaTeX.

    >>> typeset(Element("mrow", "", [Element("mo", "("), Element("mi", "x"), Element("mo", ")")])).children[0]
    <mo form="prefix" stretchy="false">(</mo>
    """
    return rebuilt(root, _Typesetter().typeset)


class _Typesetter:
    """Goes from the leaves to the root and records which elements are higher than a line, and how they end.

    `_first` and `_last` say of an element whether its outermost leaf on that side is the name of a function (`log`)
    or an operator sign.
    """

    def __init__(self) -> None:
        self._tall: set[int] = set()
        self._first: dict[int, str] = {}
        self._last: dict[int, str] = {}
        self._kept: list[Element] = []  # keeps the elements alive, so that their ids stay unique

    def typeset(self, element: Element, children: list[Element]) -> Element:
        made = self._made(element, children)
        self._kept.append(made)
        tag, inner = made.tag, made.children
        if tag == "mi" and len(made.text) > 1 and made.text.isalpha():
            self._first[id(made)] = self._last[id(made)] = "name"
        elif inner and tag in _ROWS and tag != "mtd":
            self._first[id(made)], self._last[id(made)] = self._end(inner[0]), self._end(inner[-1], last=True)
        elif inner and tag in _SCRIPTS:
            self._first[id(made)], self._last[id(made)] = self._end(inner[0]), self._end(inner[0], last=True)
        return made

    def _end(self, element: Element, *, last: bool = False) -> str:
        return "sign" if element.tag == "mo" else (self._last if last else self._first).get(id(element), "")

    def _spaced(self, row: list[Element]) -> list[Element]:
        """Add a thin space between the name of a function and anything but a sign or fence, as in `m log m`."""
        spaced: list[Element] = []
        for place, element in enumerate(row):
            if place:
                ends = self._end(row[place - 1], last=True), self._end(element)
                if (
                    "name" in ends
                    and "sign" not in ends
                    and "mspace" not in (row[place - 1].tag, element.tag)
                ):
                    spaced.append(_THIN_SPACE)
            spaced.append(element)
        return spaced

    def _made(self, element: Element, children: list[Element]) -> Element:
        tag = element.tag
        if tag == "mtext":
            return Element(tag, _with_fixed_ends(element.text), (), element.attributes)
        if tag == "mo" and element.text.isalpha():
            space = "0em" if len(element.text) == 1 else "0.1667em"
            return _with(element, {"lspace": space, "rspace": space})
        tall = tag in _TALL or any(id(child) in self._tall for child in children)
        attributes = element.attributes
        if tag in _ROWS:
            children = self._spaced(_row(children, tall=tall))
        elif tag == "mover" and len(children) == 2:
            children = _accented(children)
        elif tag == "mtable" and _is_aligned(children):
            children = [_aligned(row) for row in children]
            attributes = {"displaystyle": "true", **attributes}
        made = Element(tag, element.text, children, attributes) if children else element
        if tall:
            self._tall.add(id(made))
        return made


def _with(element: Element, defaults: Mapping[str, str]) -> Element:
    return Element(element.tag, element.text, element.children, {**defaults, **element.attributes})


def _with_fixed_ends(text: str) -> str:
    """Replace blanks at the ends of a text, which browsers would drop."""
    bare = text.strip()
    if not bare:
        return _NO_BREAK_SPACE * bool(text)
    before, after = text[0].isspace(), text[-1].isspace()
    return f"{_NO_BREAK_SPACE * before}{bare}{_NO_BREAK_SPACE * after}"


def _row(children: Sequence[Element], *, tall: bool) -> list[Element]:
    """Set fences to open or close, and to grow only around content that is higher than a line; an open brace makes cases."""
    row = [_fence(child, place, len(children), tall=tall) for place, child in enumerate(children)]
    if len(row) == 2 and row[0].tag == "mo" and row[0].text == "{" and row[1].tag == "mtable":
        table = row[1]
        row[1] = Element("mtable", "", [_left(each) for each in table.children], table.attributes)
    return row


def _fence(element: Element, place: int, count: int, *, tall: bool) -> Element:
    if element.tag != "mo":
        return element
    if element.text in _OPENING:
        form = "prefix"
    elif element.text in _CLOSING:
        form = "postfix"
    elif element.text in _BARS and count > 2 and place in (0, count - 1):
        form = "prefix" if place == 0 else "postfix"
    else:
        return element
    return _with(element, {"form": form} if tall else {"form": form, "stretchy": "false"})


def _accented(children: Sequence[Element]) -> list[Element]:
    """Set the size of an accent: fixed over one letter; over more, a bar is as long as what it covers."""
    base, accent = children
    if accent.tag != "mo":
        return list(children)
    if base.tag in ("mi", "mn", "mo") and len(base.text) == 1:
        return [base, _with(accent, {"stretchy": "false"})]
    if accent.text == _OVERLINE:
        return [base, Element("mo", _LONG_OVERLINE, (), accent.attributes)]
    return list(children)


def _is_aligned(rows: Sequence[Element]) -> bool:
    """Return True if the rows come from an alignment: some second column begins with a relation without a left side."""
    return any(
        _lacks_left_side(cell)
        for row in rows
        if row.tag == "mtr"
        for cell in row.children[1::2]
        if cell.tag == "mtd"
    )


def _lacks_left_side(cell: Element) -> bool:
    inner = cell
    while inner.tag in _ROWS and inner.children:
        inner = inner.children[0]
    return inner is not cell and inner.tag == "mi" and not inner.text


def _aligned(row: Element) -> Element:
    cells = [_with(cell, _LEFT if place % 2 else _RIGHT) for place, cell in enumerate(row.children)]
    return Element(row.tag, "", cells, row.attributes)


def _left(row: Element) -> Element:
    return Element(row.tag, "", [_with(cell, _LEFT) for cell in row.children], row.attributes)
