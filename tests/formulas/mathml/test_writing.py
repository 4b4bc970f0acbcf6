from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given

from mathamr.core.errors import MathAMRError
from mathamr.formulas.mathml.core import core, is_core
from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.layouttree import slt
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.styles import STYLE, STYLES
from mathamr.formulas.mathml.writing import NAMESPACE, sanitised, to_mathml
from tests.cases import cases
from tests.formulas.generated import PRESENTATION

CORE = {
    "math", "semantics", "annotation", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup",
    "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "mtable", "mtr", "mtd", "mstyle", "mpadded",
    "mphantom", "merror",
}  # fmt: skip
ARITY = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3}


def is_ours(style: str) -> bool:
    """Whether a style is made of our own declarations, letter for letter."""
    for declarations in sorted(STYLES.values(), key=len, reverse=True):
        style = style.replace(declarations, "")
    return not style.strip("; ")


def check(markup: str) -> None:
    """Well-formed MathML Core, and nothing in it that could act or reach out."""
    root = ElementTree.fromstring(markup)
    for element in root.iter():
        tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
        assert tag in CORE
        assert len(element) == ARITY.get(tag, len(element))
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert name not in ("href", "src", "id", "class", "actiontype")
            assert name != "style" or is_ours(value)


def body(markup: str) -> str:
    return re.sub("^<math[^>]*>|</math>$", "", sanitised(f"<math>{markup}</math>"))


def test_latex_goes_along_as_text_and_annotation() -> None:
    written = to_mathml(Element("mi", "x"), display=True, latex='a<b & "c"')
    check(written)
    root = read(written)
    assert root.attributes["display"] == "block"
    assert root.attributes["alttext"] == 'a<b & "c"'
    assert root.children[0].children[1].text == 'a<b & "c"'


@cases(
    ("markup", "expected"),
    [
        (
            '<mi href="javascript:a()" onclick="a()" style="position:fixed" id="x" class="y">x</mi>',
            "<mi>x</mi>",
        ),
        ("<script>a()</script><mi>x</mi>", "<mi>x</mi>"),
        ("<mrow><foo><mi>x</mi></foo><svg><mi>y</mi></svg></mrow>", "<mrow><mi>x</mi><mi>y</mi></mrow>"),
        ("<mtext>if <b onclick='a()'>x &lt; 1</b> then</mtext>", "<mtext>if x &lt; 1 then</mtext>"),
        ("<maction actiontype='statusline'><mi>x</mi><mtext>a</mtext></maction>", "<mi>x</mi>"),
        ("<mi mathvariant='bold'>R</mi>", "<mi>𝐑</mi>"),
        ("<mi mathvariant='normal'>R</mi>", '<mi mathvariant="normal">R</mi>'),
        ("<mspace width='1em' linebreak='newline'/>", '<mspace width="1em"></mspace>'),
        ("<mspace width='99999em'/>", "<mspace></mspace>"),
        ("<mspace width='-9em'/>", "<mspace></mspace>"),
        ("<mspace width='60em'/>", "<mspace></mspace>"),
        ("<mspace width='expression(a())'/>", "<mspace></mspace>"),
        ("<mi mathcolor='red'>x</mi>", '<mi mathcolor="red">x</mi>'),
        ("<mi mathcolor='red;x'>x</mi>", "<mi>x</mi>"),
        ("<msup><mi>x</mi></msup>", "<mrow><mi>x</mi></mrow>"),
        ("<mtable><mi>x</mi></mtable>", "<mtable><mtr><mtd><mi>x</mi></mtd></mtr></mtable>"),
        (
            "<mtable><mlabeledtr><mtd><mtext>(1)</mtext></mtd><mtd columnalign='left'><mi>x</mi></mtd></mlabeledtr></mtable>",
            '<mtable><mtr><mtd style="text-align: left; text-align: -webkit-left"><mi>x</mi></mtd></mtr></mtable>',
        ),
        (
            "<menclose notation='box'><mi>x</mi></menclose>",
            '<mrow style="border: 0.06em solid; padding: 0.3em"><mi>x</mi></mrow>',
        ),
        ("<none/>", "<mrow></mrow>"),
        ("<qvar name='x'/>", "<mi>?x</mi>"),
    ],
)
def test_only_listed_markup_passes(markup: str, expected: str) -> None:
    check(sanitised(f"<math>{markup}</math>"))
    assert body(markup) == expected


def test_fences_are_written_out() -> None:
    check(sanitised("<mfenced open='&lt;' separators=';'><mi>a</mi><mi>b</mi></mfenced>"))
    assert re.sub("<[^>]*>", "", body("<mfenced separators=';'><mi>a</mi><mi>b</mi></mfenced>")) == "(a;b)"


def test_characters_that_no_page_may_hold_are_replaced() -> None:
    written = to_mathml(Element("mi", "a\x00\x1b\ud800"), latex="\x00")
    check(written)
    assert "a\ufffd\ufffd\ufffd" in written


@given(PRESENTATION)
def test_whatever_goes_in_safe_markup_comes_out(element: Element) -> None:
    check(to_mathml(element, latex="</annotation><script>"))


@given(PRESENTATION)
def test_what_is_safe_stays_as_it_is(element: Element) -> None:
    once = core(element)
    assert core(once) == once


def test_a_box_stays_a_box_and_foreign_styles_go() -> None:
    boxed = core(Element("menclose", "", [Element("mi", "x")], {"notation": "box"}))
    assert core(boxed) == boxed
    assert boxed.attributes == {STYLE: "boxed"}
    assert not core(Element("mrow", "", [], {"style": "position: fixed"})).attributes
    assert not core(Element("mtd", "", [], {"style": "text-align: left; color: red"})).attributes
    assert not core(Element("mtd", "", [], {STYLE: "left dialog"})).attributes


def test_markup_from_outside_cannot_name_our_styles() -> None:
    for attribute in ("class='math-pulled-left'", "class='pulled-left'", "style='margin-left: -1em'"):
        assert body(f"<mspace {attribute}/>") == "<mspace></mspace>"
    with pytest.raises(MathAMRError):
        body(f"<mspace {STYLE}='back-em'/>")


def test_what_moves_up_or_down_stays_near() -> None:
    assert 'voffset="3em"' in body("<mpadded voffset='3em'><mi>x</mi></mpadded>")
    assert "voffset" not in body("<mpadded voffset='9em'><mi>x</mi></mpadded>")


def test_depth_costs_no_recursion() -> None:
    assert sanitised("<mrow>" * 9000 + "</mrow>" * 9000).count("<mrow>") == 9000


@pytest.mark.slow
def test_formulas_of_the_collection_keep_their_tree(data: Path) -> None:
    """Making LaTeXML's markup safe does not change what it says."""
    with (data / "arqmath-mini/presentation_mathml.tsv").open(encoding="utf-8") as lines:
        next(lines)
        sample = [line.rstrip("\n").split("\t")[2] for number, line in enumerate(lines) if number % 20 == 0]
    kept = 0
    for mathml in sample:
        written = sanitised(mathml)
        check(written)
        kept += slt(read(written)) == slt(read(mathml))
    assert len(sample) > 1500
    assert kept / len(sample) > 0.97


def test_blanks_at_the_ends_of_a_text_are_kept() -> None:
    assert body("<mtext> if x </mtext>") == "<mtext>\u00a0if x\u00a0</mtext>"
    assert body("<mtext>\u00a0\u00a0</mtext>") == "<mtext>\u00a0\u00a0</mtext>"


@given(PRESENTATION)
def test_what_is_reduced_once_is_written_as_it_is(element: Element) -> None:
    assert all(is_core(each) for each in core(element).iterate())
