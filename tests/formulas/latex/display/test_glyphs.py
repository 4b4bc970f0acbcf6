from __future__ import annotations

import pytest

from mathamr.formulas.latex.commands import COMMANDS
from mathamr.formulas.latex.display.atom import BIN, ORD, REL
from mathamr.formulas.latex.display.glyphs import class_of, symbol_atom
from mathamr.formulas.latex.fonts import MATH
from mathamr.formulas.latex.symbols import SYMBOLS
from tests.formulas.latex.display.drawing import shown


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("x", "<mi>x</mi>"),
        (r"\Gamma", '<mi mathvariant="normal">Γ</mi>'),
        (r"\varGamma", "<mi>Γ</mi>"),
        (r"\gamma", "<mi>γ</mi>"),
        (r"\mathrm{d}", '<mi mathvariant="normal">d</mi>'),
        (r"\mathbf{v}", "<mi>𝐯</mi>"),
        (r"\boldsymbol{\alpha}", "<mi>𝜶</mi>"),
        (r"\mathbb{R}", "<mi>ℝ</mi>"),
        (r"\mathbf{1}", "<mn>𝟏</mn>"),
        (r"\nabla", '<mi mathvariant="normal">∇</mi>'),
        (r"\infty", "<mi>∞</mi>"),
        (r"\lozenge", "<mi>◊</mi>"),
        (r"\upalpha", '<mi mathvariant="normal">α</mi>'),
    ],
)
def test_letters_are_slanted_and_upright_as_in_latex(latex: str, expected: str) -> None:
    assert shown(latex) == expected


def test_a_quotient_is_tight_and_a_bar_keeps_its_size() -> None:
    assert (
        shown("a/b")
        == '<mrow><mi>a</mi><mo stretchy="false" lspace="0em" rspace="0em">/</mo><mi>b</mi></mrow>'
    )
    assert shown("|x|").count('stretchy="false"') == 2


def test_characters_are_read_as_the_commands_that_stand_for_them() -> None:
    for character, command in [
        ("≤", r"\leq"),
        ("∑", r"\sum"),
        ("α", r"\alpha"),
        ("→", r"\to"),
        ("ℝ", r"\mathbb{R}"),
        ("−", "-"),
    ]:
        assert shown(f"a{character} b") == shown(f"a{command} b")


def test_classes_follow_tex_where_the_grammar_differs() -> None:
    assert [class_of(name) for name in ("/", r"\mid", "+", r"\forall", r"\top")] == [ORD, REL, BIN, ORD, ORD]


def test_every_symbol_of_the_table_is_drawn() -> None:
    """Also the contract with the reader: a command that makes trees is never an error on the page."""
    lost = [
        name
        for name in SYMBOLS
        if name not in COMMANDS and symbol_atom(name, MATH, 0) is None and name != "\\not"
    ]
    assert lost == []
