from __future__ import annotations

import pytest

from tests.formulas.latex.display.drawing import drawn, first, shown, spaces, text_of


def test_sizes_of_delimiters_grow() -> None:
    heights = [
        first(drawn(rf"\{name}l("), "mo").attributes.get("minsize") for name in ("Big", "bigg", "Bigg")
    ]
    assert heights == ["1.8em", "2.4em", "3em"]
    assert first(drawn(r"\bigl("), "mo").attributes["mathsize"] == "1.2em"
    assert text_of(drawn(r"\bigl. x \bigr|_0^1")) == "x|01"
    assert shown(r"\Big{(}x") == shown(r"\Big(x")


def test_names_of_functions_are_upright_words() -> None:
    assert shown(r"\operatorname{tr}") == "<mi>tr</mi>"
    assert shown(r"\operatorname{d}") == '<mi mathvariant="normal">d</mi>'
    with_limits = drawn(r"\operatorname*{argmax}_x")
    assert (with_limits.tag, with_limits.children[0].attributes["movablelimits"]) == ("munder", "true")


def test_a_modulus_stands_apart_in_parentheses() -> None:
    shown_text = shown(r"a\equiv b\pmod{n}")
    assert '<mspace width="1em">' in shown_text
    assert text_of(drawn(r"a\equiv b\pmod{n}")) == "a≡b(modn)"
    assert '<mspace width="0.4444em">' in shown(r"a\equiv b\pmod{n}", display=False)
    assert spaces(r"a\bmod b", "mod") == ("0.2222em", "0.2222em")


@pytest.mark.parametrize(("latex", "sign"), [(r"\not=", "≠"), (r"\not\in", "∉"), (r"\not\to", "→\u0338")])
def test_negations_are_one_sign(latex: str, sign: str) -> None:
    assert text_of(drawn(latex)) == sign


def test_dots_are_raised_between_operators() -> None:
    assert text_of(drawn(r"1+\dots+n")) == "1+⋯+n"
    assert text_of(drawn(r"1,\dots,n")) == "1,…,n"


def test_scripts_at_four_corners_keep_the_limits() -> None:
    made = drawn(r"\sideset{_a^b}{_c^d}\sum_{i}^n")
    assert made.tag == "munderover"
    assert [text_of(part) for part in made.children[0].children] == ["∑", "c", "d", "", "a", "b"]
    assert [text_of(part) for part in drawn(r"\prescript{14}{6}{C}").children] == ["C", "", "6", "14"]


def test_what_is_no_script_stands_beside_a_big_operator() -> None:
    assert text_of(drawn(r"\sideset{a_0}{b}\sum")) == "a0∑b"


def test_classes_by_hand_are_spaced_as_such() -> None:
    assert spaces(r"a\mathrel{+}b", "+") == ("0.2778em", "0.2778em")
    assert spaces(r"a\mathord{+}b", "+") == ("0em", "0em")


def test_implication_has_more_space_than_an_arrow() -> None:
    assert shown(r"p\implies q").count('<mspace width="0.2778em">') == 2
    assert "mspace" not in shown(r"p\Longrightarrow q")


def test_wildcards_are_shown_as_typed() -> None:
    assert shown(r"\qvar{x}") == "<mi>?x</mi>"
