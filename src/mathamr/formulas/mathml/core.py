"""Presentation MathML reduced to MathML Core by an allow-list: markup that browsers draw and a page can trust.

Elements, attributes and values that are not listed do not pass; scripts, links, event handlers and foreign markup
therefore cannot. What Core lacks is rewritten with what it has (fences, alphabets, boxes, alignment).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from mathamr.formulas.mathml.alphabets import styled
from mathamr.formulas.mathml.element import NO_ATTRIBUTES, TEXT, Element, rebuilt
from mathamr.formulas.mathml.markupreader import TOKENS
from mathamr.formulas.mathml.styles import STYLE, are_known

_ARITY = {
    "mfrac": 2,
    "mroot": 2,
    "msub": 2,
    "msup": 2,
    "msubsup": 3,
    "munder": 2,
    "mover": 2,
    "munderover": 3,
}
"""Elements that need an exact number of children; with another number they become rows."""

_ROWS = frozenset(["mrow", "mstyle", "mpadded", "mphantom", "merror", "msqrt"])
_EMPTY = frozenset(["mspace", "mprescripts"])
_TABLES = frozenset(["mtable", "mtr", "mtd"])
_CELLS = {"mtable": "mtr", "mtr": "mtd"}
_DROPPED = frozenset(["annotation", "annotation-xml", "script", "style", "maligngroup", "malignmark", TEXT])

_NO_BREAK_SPACE = "\u00a0"
_ENDS = re.compile(r"\A[ \t\r\n]+|[ \t\r\n]+\Z")
_BOOLEAN = re.compile("true|false")
_LENGTH = re.compile(r"(-?)([0-9]{0,3}(?:\.[0-9]{1,9})?)(em|ex|px|pt|pc|mm|cm|in|%)?")
_COLOUR = re.compile("#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|[a-zA-Z]{3,30}")
_LEVEL = re.compile("[+-]?[0-9]{1,2}")
_SPAN = re.compile("[1-9][0-9]?")
_EM = {
    "em": 1.0,
    "ex": 0.5,
    "px": 1 / 16,
    "pt": 1 / 12,
    "pc": 1.0,
    "mm": 0.24,
    "cm": 2.4,
    "in": 6.0,
    "%": 0.01,
    "": 1.0,
}
_MIN_EM, _MAX_EM = -4.0, 50.0


def _in_em(value: str) -> float | None:
    found = _LENGTH.fullmatch(value)
    if found is None or found[2] in ("", ".") or (not found[3] and float(found[2]) != 0):
        return None
    size = float(found[2]) * _EM[found[3] or ""]
    return -size if found[1] else size


def _is_length(value: str) -> bool:
    """Return True for a length small enough that a formula can neither cover nor displace the page around it."""
    size = _in_em(value)
    return size is not None and _MIN_EM <= size <= _MAX_EM


def _is_small_length(value: str) -> bool:
    """Return True for a length by which something may be moved up or down."""
    size = _in_em(value)
    return size is not None and abs(size) <= -_MIN_EM


_SIDES = frozenset(["left", "right"])
_GLOBAL: dict[str, Callable[[str], object]] = {
    "displaystyle": _BOOLEAN.fullmatch,
    "scriptlevel": _LEVEL.fullmatch,
    "mathcolor": _COLOUR.fullmatch,
    "mathbackground": _COLOUR.fullmatch,
    "mathsize": _is_length,
    "dir": re.compile("ltr|rtl").fullmatch,
    STYLE: are_known,
}
_ATTRIBUTES: dict[str, dict[str, Callable[[str], object]]] = {
    "mi": {"mathvariant": re.compile("normal").fullmatch},
    "mo": {
        "form": re.compile("prefix|infix|postfix").fullmatch,
        **dict.fromkeys(
            ("fence", "separator", "stretchy", "symmetric", "largeop", "movablelimits"), _BOOLEAN.fullmatch
        ),
        **dict.fromkeys(("lspace", "rspace", "minsize", "maxsize"), _is_length),
    },
    "mspace": dict.fromkeys(("width", "height", "depth"), _is_length),
    "mpadded": {
        **dict.fromkeys(("width", "height", "depth", "lspace"), _is_length),
        "voffset": _is_small_length,
    },
    "mfrac": {"linethickness": _is_length},
    "munder": {"accentunder": _BOOLEAN.fullmatch},
    "mover": {"accent": _BOOLEAN.fullmatch},
    "munderover": dict.fromkeys(("accent", "accentunder"), _BOOLEAN.fullmatch),
    "mtd": dict.fromkeys(("columnspan", "rowspan"), _SPAN.fullmatch),
}


def core(root: Element) -> Element:
    """Return the formula in MathML Core; a `math` root becomes a row, since the writer makes its own.

    >>> core(Element("mi", "R", (), {"mathvariant": "bold", "href": "javascript:alert(1)"}))
    <mi>𝐑</mi>
    """
    return rebuilt(root, _allowed, _parts)


def is_core(element: Element) -> bool:
    """Return True if an element with these children is MathML Core as it is, but for attributes that are not allowed."""
    tag, children = element.tag, element.children
    if not children:
        if tag in TOKENS:
            return tag != "ms" and element.attributes.get("mathvariant", "normal") == "normal"
        return tag in _ROWS or tag in _EMPTY or (tag in _TABLES and "columnalign" not in element.attributes)
    if tag in _ROWS or tag == "mmultiscripts":
        return True
    if tag in _ARITY:
        return len(children) == _ARITY[tag]
    if tag == "mtd":
        return "columnalign" not in element.attributes
    return tag in _CELLS and all(child.tag == _CELLS[tag] for child in children)


def _parts(element: Element) -> Sequence[Element]:
    """Return the relevant children: none of tokens, the first of alternatives, the markup of others."""
    if element.tag in TOKENS or element.tag in _DROPPED:
        return ()
    if element.tag in ("semantics", "maction"):
        return element.children[:1]
    children = element.children[1:] if element.tag == "mlabeledtr" else element.children
    return [child for child in children if child.tag not in _DROPPED]


def _allowed(element: Element, children: list[Element]) -> Element:
    tag = element.tag
    if tag in TOKENS:
        return _token(element)
    if tag in _ARITY:
        return Element(tag if len(children) == _ARITY[tag] else "mrow", "", children, _attributes(element))
    if tag in _ROWS:
        return Element(tag, "", children, _attributes(element))
    if tag in _TABLES or tag == "mlabeledtr":
        return _table_part("mtr" if tag == "mlabeledtr" else tag, element, children)
    if tag in _EMPTY:
        return Element(tag, "", (), _attributes(element))
    if tag == "mmultiscripts":
        return Element(tag if children else "mrow", "", children, _attributes(element))
    if tag == "mfenced":
        return _fenced(element, children)
    if tag == "menclose":
        boxed = "box" in element.attributes.get("notation", "")
        return Element("mrow", "", children, {STYLE: "boxed"} if boxed else {})
    if tag == "qvar":
        return Element("mi", "?" + element.attributes.get("name", element.text).strip())
    if tag == "mglyph":
        return Element("mtext", element.attributes.get("alt", ""))
    return children[0] if len(children) == 1 else Element("mrow", "", children)


def _token(element: Element) -> Element:
    text = "".join(each.text for each in element.iterate()) if element.children else element.text
    text = styled(shown_text(element.tag, text), element.attributes.get("mathvariant", ""))
    return Element("mtext" if element.tag == "ms" else element.tag, text, (), _attributes(element))


def shown_text(tag: str, text: str) -> str:
    """Return the text of a token as a browser must get it: it drops blanks at the ends of a text."""
    return _ENDS.sub(_NO_BREAK_SPACE, text) if tag == "mtext" else text.strip()


def _attributes(element: Element) -> Mapping[str, str]:
    if not element.attributes:
        return NO_ATTRIBUTES
    stripped = ((name, value.strip()) for name, value in element.attributes.items())
    return {name: value for name, value in stripped if attribute_allowed(element.tag, name, value)}


@lru_cache(maxsize=1 << 12)
def attribute_allowed(tag: str, name: str, value: str) -> bool:
    """Return True if an attribute with this value may stand on an element of a page."""
    check = _ATTRIBUTES.get(tag, {}).get(name) or _GLOBAL.get(name)
    return check is not None and bool(check(value))


def _table_part(tag: str, element: Element, children: list[Element]) -> Element:
    """Wrap other children: rows hold only cells, and tables only rows."""
    attributes = dict(_attributes(element))
    if tag == "mtable":
        children = [child if child.tag == "mtr" else _in_row(child) for child in children]
    elif tag == "mtr":
        children = [child if child.tag == "mtd" else Element("mtd", "", [child]) for child in children]
    elif (side := element.attributes.get("columnalign", "")) in _SIDES:
        attributes[STYLE] = side
    return Element(tag, "", children, attributes)


def _in_row(child: Element) -> Element:
    return Element("mtr", "", [child if child.tag == "mtd" else Element("mtd", "", [child])])


def _fenced(element: Element, children: list[Element]) -> Element:
    """Expand `mfenced`: its fences and separators become operators of a row."""
    separators = "".join(element.attributes.get("separators", ",").split())
    row = [Element("mo", element.attributes.get("open", "("), (), {"fence": "true", "form": "prefix"})]
    for place, child in enumerate(children):
        if place and separators:
            row.append(Element("mo", separators[min(place, len(separators)) - 1], (), {"separator": "true"}))
        row.append(child)
    row.append(Element("mo", element.attributes.get("close", ")"), (), {"fence": "true", "form": "postfix"}))
    return Element("mrow", "", row)
