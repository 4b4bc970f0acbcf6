from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import ParseError
from mathamr.formulas.mathml.element import TEXT, Element
from mathamr.formulas.mathml.markupreader import MAX_CHARACTERS, MAX_DEPTH, read
from tests.cases import cases


@cases(
    ("markup", "element"),
    [
        # namespaces and prefixes are left out
        ('<m:mi mathvariant="bold">x</m:mi>', Element("mi", "x", (), {"mathvariant": "bold"})),
        # names of characters are those of HTML
        ("<mi>&alpha;&InvisibleTimes;&amp;&lt;&#955;&#x3bc;</mi>", Element("mi", "α\u2062&<λμ")),
        # comments and instructions are skipped, and a declared encoding does not matter
        ("<?xml version='1.0'?><mi>a<!-- no -->b<?no no?></mi>", Element("mi", "ab")),
        ('<?xml version="1.0" encoding="utf-16"?><mi>é</mi>', Element("mi", "é")),
        # text between the children of a token is kept, elsewhere it is not
        (
            "<mtext>if <b>x</b> then</mtext>",
            Element("mtext", "if ", [Element("b", "x"), Element(TEXT, " then")]),
        ),
        ("<mrow>\n <mi>x</mi> stray </mrow>", Element("mrow", "\n ", [Element("mi", "x")])),
    ],
)
def test_markup_is_read(markup: str, element: Element) -> None:
    assert read(markup) == element


@cases(
    ("text", "offset", "reason"),
    [
        ("", 0, "no element"),
        ("x", 0, "syntax error"),
        ("<math><mi>x</mo></math>", 13, "mismatched tag"),
        ("<math><mi>é&nosuch;</mi></math>", 11, "undefined entity"),
        ("<mi>a</mi><mi>b</mi>", 10, "junk after"),
        ("<mi>\x00</mi>", 4, "invalid token"),
        ("<mi>\ud800</mi>", 4, "surrogate"),
    ],
)
def test_bad_markup_is_an_error_with_a_caret(text: str, offset: int, reason: str) -> None:
    with pytest.raises(ParseError, match=reason) as caught:
        read(text, source="slt.tsv:3")
    assert caught.value.offset == offset
    assert str(caught.value).encode().startswith(b"slt.tsv:3: ")


@pytest.mark.parametrize(
    "declaration",
    ['<!DOCTYPE math [<!ENTITY a "b">]>', '<!DOCTYPE math SYSTEM "file:///etc/passwd">', "<!DOCTYPE math>"],
)
def test_document_types_are_refused(declaration: str) -> None:
    with pytest.raises(ParseError, match="document type"):
        read(f"{declaration}<math>&a;</math>")


def test_size_and_depth_are_limited() -> None:
    with pytest.raises(ParseError, match="limit"):
        read(" " * (MAX_CHARACTERS + 1))
    with pytest.raises(ParseError, match="deeper"):
        read("<mrow>" * (MAX_DEPTH + 1) + "</mrow>" * (MAX_DEPTH + 1))


@given(st.text("<>/&;\"'= mimo!-[]\u00e9\ud800", max_size=40))
def test_any_text_is_an_element_or_a_parse_error(text: str) -> None:
    try:
        element = read(text)
    except ParseError as error:
        shown = str(error)
    else:
        shown = repr(element)
    assert shown.encode()
