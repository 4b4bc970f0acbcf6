from __future__ import annotations

import pytest

from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex import nodes
from mathamr.formulas.latex.commands import COMMANDS, ENVIRONMENTS
from mathamr.formulas.latex.display import formula, typesetter
from mathamr.formulas.latex.rowreader import RESOLVED
from mathamr.formulas.latex.syntax import CommandSyntax
from tests.formulas.latex.display.drawing import drawn, first, shown, text_of


def test_every_kind_of_piece_has_nodes_and_is_drawn() -> None:
    assert formula.VOCABULARY  # fills the table of what is drawn
    commands = [
        each for each in (*COMMANDS.values(), *ENVIRONMENTS.values()) if isinstance(each, CommandSyntax)
    ]
    kinds = {each.kind for each in commands} - {""} - set(RESOLVED)
    kinds |= {"infix fraction", "closing", "stray alignment"}
    assert set(nodes.MAKERS) == set(typesetter.MAKERS) == kinds


def test_a_group_is_one_ordinary_piece() -> None:
    assert shown("1{,}000") == '<mrow><mn>1</mn><mo lspace="0em" rspace="0em">,</mo><mn>000</mn></mrow>'
    assert shown("{}^{14}C") == "<mrow><msup><mrow></mrow><mn>14</mn></msup><mi>C</mi></mrow>"


def test_scripts_in_either_order_are_the_same() -> None:
    assert shown("x_1^2") == shown("x^2_1") == "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>"
    assert (
        shown("x^a^b") == "<mrow><msup><mi>x</mi><mi>a</mi></msup><msup><mrow></mrow><mi>b</mi></msup></mrow>"
    )


def test_primes_stand_at_the_letter_and_above_its_index() -> None:
    assert shown("f'") == '<mrow><mi>f</mi><mo lspace="0em" rspace="0em">′</mo></mrow>'
    assert shown("f'''").count("‴") == 1
    assert shown(r"f^{\prime\prime}") == shown("f''")
    assert shown(r"y_0^{\prime}") == shown("y_0'")
    assert text_of(drawn(r"x^{\prime 2}")) == "x′2"
    assert first(drawn("y'_0"), "msubsup").children[1].text == "0"
    assert text_of(first(drawn("h'^2"), "msup").children[1]) == "′2"


def test_delimiters_grow_around_what_is_high_only() -> None:
    assert shown(r"\left(x\right)").count('stretchy="false"') == 2
    assert shown(r"\left(\frac ab\right)").count('stretchy="true"') == 2
    assert text_of(drawn(r"\left.\frac ab\right|")) == "ab|"
    assert 'stretchy="true"' in repr(first(drawn(r"\left\{x\middle|\frac x2\right\}"), "mo", "|"))


def test_over_makes_fractions() -> None:
    assert shown(r"{a\over b}") == "<mfrac><mi>a</mi><mi>b</mi></mfrac>"
    assert shown(r"{a\above 0.1em b}") == '<mfrac linethickness="0.1em"><mi>a</mi><mi>b</mi></mfrac>'
    assert text_of(drawn(r"n\choose k")) == "(nk)"


@pytest.mark.parametrize(
    "latex", ["{a", "a}", r"\left(a", r"a\right)", r"\frac{a", "x^", r"\begin{pmatrix}a", r"a&b", r"a\sqrt["]
)
def test_what_is_malformed_is_drawn_as_far_as_it_goes(latex: str) -> None:
    assert "a" in text_of(drawn(latex.replace("^", "a^")))


def test_an_unknown_command_is_shown_as_an_error() -> None:
    assert first(drawn(r"a\nosuchcommand b"), "merror").children[0].text == r"\nosuchcommand"


@pytest.mark.parametrize("latex", ["{" * 600 + "x" + "}" * 600, r"\sqrt{" * 70 + "x" + "}" * 70])
def test_too_deep_is_an_error(latex: str) -> None:
    with pytest.raises(FormulaError):
        drawn(latex)


def test_braces_within_each_other_cost_no_recursion() -> None:
    assert shown("{" * 400 + "x" + "}" * 400) == "<mi>x</mi>"


@pytest.mark.parametrize("opening", [r"\pdv[", r"\ketbra{", r"\ev{a}{", r"\dv{x}{", r"\vb{"])
def test_notation_that_repeats_its_argument_is_paid_for(opening: str) -> None:
    with pytest.raises(FormulaError):
        drawn(opening * 40 + "x" + "}" * 40)
