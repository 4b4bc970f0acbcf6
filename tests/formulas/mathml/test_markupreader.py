from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import ParseError
from mathamr.formulas.mathml.element import TEXT, Element
from mathamr.formulas.mathml.markupreader import MAX_CHARACTERS, MAX_DEPTH, read


def test_namespaces_and_prefixes_are_left_out() -> None:
    expected = Element("math", "", [Element("mi", "x", (), {"mathvariant": "bold"})])
    assert read('<m:math><m:mi mathvariant="bold">x</m:mi></m:math>') == expected


def test_names_of_characters_are_those_of_html() -> None:
    assert read("<mi>&alpha;&InvisibleTimes;&amp;&lt;&#955;&#x3bc;</mi>").text == "α\u2062&<λμ"


def test_comments_and_instructions_are_skipped() -> None:
    assert read("<?xml version='1.0'?><mi>a<!-- no -->b<?no no?></mi>") == Element("mi", "ab")


def test_text_between_the_children_of_a_token_is_kept() -> None:
    assert read("<mtext>if <b>x</b> then</mtext>").children == [Element("b", "x"), Element(TEXT, " then")]
    assert read("<mrow>\n <mi>x</mi> stray </mrow>").children == [Element("mi", "x")]


def test_a_declared_encoding_does_not_matter() -> None:
    assert read('<?xml version="1.0" encoding="utf-16"?><mi>é</mi>').text == "é"


@pytest.mark.parametrize(
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
