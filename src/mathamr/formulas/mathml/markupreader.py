"""MathML text to elements: strict about safety, lenient about what converters write.

There is no document type, entity definition or network access, and size and depth are bounded; HTML's names for characters (`&alpha;`)
and any namespace prefix are understood.
"""

from __future__ import annotations

import re
from html.entities import html5
from xml.parsers import expat

from mathamr.formulas.budget import MOST_ELEMENTS
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.mathml.element import NO_ATTRIBUTES, TEXT, Element

MAX_CHARACTERS = 4_000_000
MAX_DEPTH = 10_000
"""The maximum nesting of elements; their number is limited as well."""

TOKENS = frozenset(["mi", "mn", "mo", "mtext", "ms"])
"""Presentation elements that hold text; text between their children is kept, elsewhere it is only layout."""

_REFERENCE = re.compile(r"&(?!amp;|lt;|gt;|quot;|apos;)([A-Za-z][A-Za-z0-9]*;)")


class _RefusedError(Exception):
    """Raised inside the XML parser's callbacks, because only the parser knows the position."""


def read(text: str, source: str = "") -> Element:
    """Return the root element of MathML text; `source` is named in the error of a text that cannot be read.

    >>> read("<m:math xmlns:m='…'><m:mi>&alpha;</m:mi></m:math>").children
    [<mi>α</mi>]
    """
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(
            f"MathML of {len(text)} characters; the limit is {MAX_CHARACTERS}", text, 0, source
        )
    resolved = _REFERENCE.sub(_character, text)
    try:
        encoded = resolved.encode()
    except UnicodeEncodeError as error:
        shown = resolved.encode(errors="replace").decode()
        raise FormulaError(
            "the text contains invalid Unicode (a lone surrogate)", shown, error.start, source
        ) from None
    document = _Document()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.characters
    parser.StartDoctypeDeclHandler = document.refuse_document_type
    try:
        parser.Parse(encoded, True)
    except (expat.ExpatError, _RefusedError) as error:
        message = str(error)
        if isinstance(error, expat.ExpatError):
            message = f"not well-formed MathML, {expat.ErrorString(error.code)}"
        offset = len(encoded[: parser.CurrentByteIndex].decode(errors="ignore"))
        raise FormulaError(message, resolved, offset, source) from None
    return document.children[0]


def _character(reference: re.Match[str]) -> str:
    characters = html5.get(reference[1])
    if characters is None:
        return reference[0]
    return "".join(f"&#{ord(character)};" for character in characters)


class _Document:
    """Collects the parser's events: `children` holds the root, `_open` the elements that are not closed yet."""

    def __init__(self) -> None:
        self.children: list[Element] = []
        self._open: list[tuple[Element, list[Element]]] = [(Element(""), self.children)]
        self._count = 0
        self._texts: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > MAX_DEPTH:
            raise _RefusedError(f"MathML nested deeper than {MAX_DEPTH} elements")
        self._flush()
        self._met()
        children: list[Element] = []
        element = Element(name.rpartition(":")[2], "", children, attributes or NO_ATTRIBUTES)
        self._open[-1][1].append(element)
        self._open.append((element, children))

    def _met(self) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise _RefusedError(f"MathML of more than {MOST_ELEMENTS} elements")

    def end(self, _name: str) -> None:
        self._flush()
        self._open.pop()

    def characters(self, text: str) -> None:
        """Collect text, which comes in pieces around comments and is joined at the next tag."""
        self._texts.append(text)

    def _flush(self) -> None:
        if not self._texts:
            return
        text = "".join(self._texts)
        self._texts.clear()
        element, children = self._open[-1]
        if not children:
            element.text = text
        elif element.tag in TOKENS:
            self._met()
            children.append(Element(TEXT, text))

    def refuse_document_type(self, *_declaration: object) -> None:
        raise _RefusedError("MathML must not have a document type")
