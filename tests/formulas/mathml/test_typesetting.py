from __future__ import annotations

import pytest

from mathamr.formulas.mathml.element import Element
from mathamr.formulas.mathml.markupreader import read
from mathamr.formulas.mathml.styles import STYLE
from mathamr.formulas.mathml.typesetting import typeset
from mathamr.formulas.parse import parse


def typeset_text(markup: str) -> Element:
    return typeset(read(markup))


FRACTION = "<mfrac><mi>a</mi><mi>b</mi></mfrac>"


def test_fences_grow_only_around_what_is_higher_than_a_line() -> None:
    flat = typeset_text("<mrow><mo>(</mo><mi>x</mi><mo>)</mo></mrow>")
    tall = typeset_text(f"<mrow><mo>(</mo><mrow><mi>x</mi>{FRACTION}</mrow><mo>)</mo></mrow>")
    assert [fence.attributes for fence in (flat.children[0], flat.children[2])] == [
        {"form": "prefix", "stretchy": "false"},
        {"form": "postfix", "stretchy": "false"},
    ]
    assert [fence.attributes for fence in (tall.children[0], tall.children[2])] == [
        {"form": "prefix"},
        {"form": "postfix"},
    ]


def test_bars_are_fences_only_at_the_ends() -> None:
    row = typeset_text("<mrow><mo>|</mo><mi>x</mi><mo>|</mo><mi>y</mi><mo>|</mo></mrow>")
    assert [bar.attributes.get("form") for bar in row.children[::2]] == ["prefix", None, "postfix"]


def test_attributes_that_are_there_stay() -> None:
    fence = typeset_text('<mrow><mo stretchy="true" form="infix">(</mo><mi>x</mi></mrow>').children[0]
    assert fence.attributes == {"form": "infix", "stretchy": "true"}


@pytest.mark.parametrize(
    ("text", "expected"), [("if ", "if\u00a0"), (" if", "\u00a0if"), ("if", "if"), (" ", "\u00a0"), ("", "")]
)
def test_blanks_at_the_ends_of_a_text_are_kept(text: str, expected: str) -> None:
    assert typeset(Element("mtext", text)).text == expected


def test_names_are_spaced_as_names_and_the_differential_as_a_letter() -> None:
    assert typeset(Element("mo", "lim")).attributes["rspace"] == "0.1667em"
    assert typeset(Element("mo", "𝑑")).attributes["rspace"] == "0em"
    assert not typeset(Element("mo", "+")).attributes


def test_accents_stay_small_over_one_letter_and_bars_cover_several() -> None:
    letter = typeset_text("<mover><mi>x</mi><mo>¯</mo></mover>").children[1]
    word = typeset_text("<mover><mrow><mi>A</mi><mi>B</mi></mrow><mo>¯</mo></mover>").children[1]
    assert (letter.text, letter.attributes) == ("¯", {"stretchy": "false"})
    assert (word.text, dict(word.attributes)) == ("―", {})


def cell_styles(table: Element) -> list[list[str | None]]:
    return [[cell.attributes.get(STYLE) for cell in row.children] for row in table.children]


def test_alignments_alternate_right_and_left() -> None:
    rows = "<mtr><mtd><mi>a</mi></mtd><mtd><mrow><mi></mi><mo>=</mo><mi>b</mi></mrow></mtd></mtr>" * 2
    table = typeset_text(f"<mtable>{rows}</mtable>")
    assert cell_styles(table) == [["right", "left"]] * 2
    assert table.attributes == {"displaystyle": "true"}


def test_cases_stand_left_and_matrices_in_the_middle() -> None:
    table = "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable>"
    cases = typeset_text(f"<mrow><mo>{{</mo>{table}</mrow>").children[1]
    matrix = typeset_text(f"<mrow><mo>(</mo>{table}<mo>)</mo></mrow>").children[1]
    assert cell_styles(cases) == [["left"] * 2]
    assert cell_styles(matrix) == [[None] * 2]


def test_a_thin_space_sets_names_of_functions_apart_but_not_from_signs_and_fences() -> None:
    def spaces(latex: str) -> int:
        return repr(typeset(parse(latex).presentation)).count("<mspace")

    assert spaces(r"m\log m") == 2
    assert spaces(r"\ln N+1") == 1
    assert spaces(r"\sin^2 x") == 1
    assert spaces(r"\sin(x)+\cos(y)") == 0
    assert spaces(r"ab+2x") == 0
