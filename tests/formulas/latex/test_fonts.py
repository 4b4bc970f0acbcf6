from __future__ import annotations

import pytest

from mathamr.formulas.latex.fonts import ALPHABETS, MATH, PLAIN, Font, emboldened, specialized, variant
from mathamr.formulas.mathml.alphabets import styled_completely


@pytest.mark.parametrize(
    ("font", "text", "expected"),
    [
        (MATH, "x", "italic"),
        (MATH, "7", ""),
        (MATH, "+", ""),
        (MATH, "α", "italic"),
        (MATH, "Γ", ""),
        (PLAIN, "x", ""),
        (ALPHABETS["bf"], "x", "bold"),
        (ALPHABETS["bf"], "α", "italic"),
        (ALPHABETS["bf"], "7", "bold"),
        (ALPHABETS["bb"], "R", "double-struck"),
        (ALPHABETS["cal"], "A", "script"),
        (emboldened(MATH), "α", "bold-italic"),
        (emboldened(MATH), "∇", "bold"),
    ],
)
def test_the_font_a_symbol_really_gets(font: Font, text: str, expected: str) -> None:
    assert variant(specialized(font, text)) == expected


def test_letters_that_unicode_had_before_its_alphabets() -> None:
    assert styled_completely("hBRZ", "italic") == "ℎ𝐵𝑅𝑍"
    assert styled_completely("B", "script") == "ℬ"
    assert styled_completely("H", "fraktur") == "ℌ"


def test_a_text_is_styled_as_a_whole_or_not_at_all() -> None:
    assert styled_completely("ab", "bold") == "𝐚𝐛"
    assert styled_completely("a b", "bold") is None
    assert styled_completely("a", "no such variant") is None
