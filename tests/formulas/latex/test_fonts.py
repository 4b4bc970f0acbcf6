from __future__ import annotations

import pytest

from mathamr.formulas.latex.fonts import (
    ALPHABETS,
    MATH,
    PLAIN,
    Font,
    emboldened,
    specialized,
    styled,
    variant,
)


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
    assert styled("hBRZ", "italic") == "ℎ𝐵𝑅𝑍"
    assert styled("B", "script") == "ℬ"
    assert styled("H", "fraktur") == "ℌ"


def test_a_text_is_styled_as_a_whole_or_not_at_all() -> None:
    assert styled("ab", "bold") == "𝐚𝐛"
    assert styled("a b", "bold") is None
    assert styled("a", "no such variant") is None
