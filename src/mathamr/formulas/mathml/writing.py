"""Elements to MathML text for a page: MathML Core only, everything escaped."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from mathamr.formulas.mathml.core import attribute_allowed, core, is_core, shown_text
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.markupreader import TOKENS, read
from mathamr.formulas.mathml.styles import STYLE, Styling, classes, declarations

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile(f"""[&<>"'{_NOT_XML.pattern[1:]}""")


def to_mathml(
    element: Element, *, display: bool = False, latex: str = "", styling: Styling = "inline"
) -> str:
    """Return Presentation MathML as a `math` element that is safe in any page, HTML or XML.

    Only MathML Core is written (`mathml.core`). `display` puts it on a line of its own; `latex`, if known, is added
    as the text for readers that cannot draw it and as an annotation for copying.

    >>> to_mathml(Element("mi", "<x>"))
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mi>&lt;x&gt;</mi></math>'
    """
    style = "block" if display else "inline"
    body = _serialised(element, styling)
    alternative = ""
    if latex:
        alternative = f' alttext="{_escaped(latex)}"'
        note = f'<annotation encoding="application/x-tex">{_escaped(latex)}</annotation>'
        body = f"<semantics>{body}{note}</semantics>"
    return f'<math xmlns="{NAMESPACE}" display="{style}"{alternative}>{body}</math>'


def sanitised(text: str, *, latex: str = "", source: str = "", styling: Styling = "inline") -> str:
    """Make foreign Presentation MathML, as found in a post, safe for a page.

    >>> sanitised('<math display="block"><mi onclick="evil()">x</mi><script>evil()</script></math>')
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mi>x</mi></math>'
    """
    element = read(text, source)
    display = element.attributes.get("display") == "block"
    return to_mathml(element, display=display, latex=latex, styling=styling)


def _serialised(root: Element, styling: Styling) -> str:
    """Write a formula; what is not MathML Core as it stands is reduced to it first."""
    parts: list[str] = []
    stack: list[Element | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        if not is_core(item):
            return _serialised(core(root), styling)
        tag, attributes = item.tag, ""
        for name, value in item.attributes.items():
            attributes += _attribute(tag, name, value, styling)
        if tag in TOKENS:
            parts.append(f"<{tag}{attributes}>{_text(tag, item.text)}</{tag}>")
        elif item.children:
            parts.append(f"<{tag}{attributes}>")
            stack.append(f"</{tag}>")
            stack.extend(reversed(item.children))
        else:
            parts.append(f"<{tag}{attributes}></{tag}>")
    return "".join(parts)


@lru_cache(maxsize=1 << 12)
def _attribute(tag: str, name: str, value: str, styling: Styling) -> str:
    value = value.strip()
    if not attribute_allowed(tag, name, value):
        return ""
    if name == STYLE and styling == "classes":
        name, value = "class", classes(value)
    elif name == STYLE:
        name, value = "style", declarations(value)
        if not value:
            return ""
    return f' {name}="{_escaped(value)}"'


def _text(tag: str, text: str) -> str:
    return (_short_text if len(text) <= _SHORT else _long_text)(tag, text)


def _long_text(tag: str, text: str) -> str:
    return _escaped(shown_text(tag, text))


_SHORT = 4
"""Texts up to this length recur in all formulas and are cached."""
_short_text = lru_cache(maxsize=1 << 12)(_long_text)


def _escaped(text: str) -> str:
    """Escape text for content or a quoted attribute; characters that XML forbids become the replacement character."""
    if _ESCAPED.search(text) is None:
        return text
    return escape(_NOT_XML.sub("\ufffd", text), quote=True)
