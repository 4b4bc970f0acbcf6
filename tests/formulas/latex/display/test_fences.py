from __future__ import annotations

import pytest

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.display.fences import fenced, is_tall, sized
from mathamr.formulas.mathml.element import Element
from tests.formulas.latex.display.drawing import drawn, shown


@pytest.mark.parametrize(
    ("latex", "tall"), [("x^2_i", False), (r"\frac ab", True), (r"\sum x", True), (r"\hat x", False), (r"\overset ab", True),
                        (r"e^{\frac12}", True), (r"\,x", False), (r"\overline{AB}", False)],
)  # fmt: skip
def test_what_is_higher_than_a_line(latex: str, tall: bool) -> None:
    assert is_tall([drawn(latex)], Budget(100)) is tall


def test_fences_may_be_missing_on_either_side() -> None:
    inside = [Element("mi", "x")]
    assert [child.text for child in fenced(None, inside, Element("mo", "|"), Budget(9)).children] == [
        "x",
        "|",
    ]
    assert [child.text for child in fenced(Element("mo", "{"), inside, None, Budget(9)).children] == [
        "{",
        "x",
    ]


def test_small_delimiters_are_drawn_larger_and_big_ones_grow() -> None:
    assert sized(Element("mo", "("), 1.2).children[0].attributes["stretchy"] == "false"
    assert sized(Element("mo", "("), 1.8).children[0].attributes["minsize"] == "1.8em"


def test_delimiters_of_a_fraction_in_a_line_have_its_size() -> None:
    assert shown(r"\left(\frac ab\right)", display=False).count('mathsize="1.2em"') == 2
    assert shown(r"\left(1+\frac ab\right)", display=True).count('stretchy="true"') == 2
    assert shown(r"\left(\frac{\frac ab}{c}\right)", display=False).count('stretchy="true"') == 2
    assert shown(r"\left(\sum x\right)", display=False).count('stretchy="true"') == 2
