from __future__ import annotations

from tests.formulas.latex.display.drawing import drawn, first, shown, text_of

LARGE = '<mstyle displaystyle="true" scriptlevel="0">'
TEXT_SIZE = '<mstyle displaystyle="false" scriptlevel="0">'


def test_styles_of_fractions_are_honoured() -> None:
    plain = "<mfrac><mi>a</mi><mi>b</mi></mfrac>"
    assert shown(r"\frac ab") == plain
    assert shown(r"\dfrac ab", display=False) == f"{LARGE}{plain}</mstyle>"
    assert shown(r"\tfrac ab") == f"{TEXT_SIZE}{plain}</mstyle>"


def test_the_parts_of_a_continued_fraction_are_as_large_as_the_whole() -> None:
    whole = drawn(r"\cfrac{1}{1+\cfrac{1}{x}}", display=False)
    assert repr(whole).count(LARGE) == 6
    assert text_of(whole) == "11+1x"


def test_binomials_have_parentheses_and_no_line() -> None:
    binomial = drawn(r"\binom nk")
    assert first(binomial, "mfrac").attributes == {"linethickness": "0em"}
    assert text_of(binomial) == "(nk)"
    assert first(drawn(r"\binom nk", display=False), "mo").attributes["mathsize"] == "1.2em"


def test_genfrac_says_everything_by_itself() -> None:
    made = drawn(r"\genfrac{[}{]}{0pt}{1}{a}{b}")
    assert (made.tag, dict(made.attributes)) == ("mstyle", {"displaystyle": "false", "scriptlevel": "0"})
    assert first(made, "mfrac").attributes == {"linethickness": "0em"}
    assert text_of(made) == "[ab]"


def test_roots_have_their_degree_and_room_under_the_line() -> None:
    assert shown(r"\sqrt{\frac ab}") == "<msqrt><mfrac><mi>a</mi><mi>b</mi></mfrac></msqrt>"
    assert shown(r"\sqrt[3]{x}") == '<mroot #style="small-root"><mi>x</mi><mn>3</mn></mroot>'
    assert [text_of(part) for part in drawn(r"\root n+1\of x").children] == ["x", "n+1"]
    assert '<mspace height="0.75em">' in shown(r"\frac{\sqrt\pi}{2}")


def test_slanted_fractions_are_small() -> None:
    assert repr(drawn(r"\nicefrac{1}{2}")).count('scriptlevel="1"') == 2
    assert text_of(drawn(r"\flatfrac{a}{b}")) == "a/b"
