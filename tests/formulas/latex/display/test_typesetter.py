"""Formulas as they are drawn, and the limits of drawing them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex import nodes
from mathamr.formulas.latex.commands import COMMANDS, ENVIRONMENTS
from mathamr.formulas.latex.display import formula, typesetter
from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.latex.display.glyphs import glyph
from mathamr.formulas.latex.display.tablelines import columns_of
from mathamr.formulas.latex.fonts import MATH
from mathamr.formulas.latex.rowreader import RESOLVED
from mathamr.formulas.latex.symbols import SYMBOLS
from mathamr.formulas.latex.syntax import CommandSyntax
from mathamr.formulas.mathml.styles import STYLES
from tests.cases import cases
from tests.formulas.latex.display.drawing import drawn, shown, styles_of, text_of

with Path(__file__).with_name("drawings.tsv").open(encoding="utf-8", newline="") as lines:
    DRAWINGS = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
"""What a formula shows, its style, its LaTeX, and how it is drawn; look at it in a browser before you change a row."""


def test_formulas_are_drawn_as_latex_prints_them() -> None:
    drawings = [row | {"markup": shown(row["latex"], display=row["style"] == "display")} for row in DRAWINGS]
    assert drawings == DRAWINGS


def test_every_kind_of_piece_has_nodes_and_is_drawn() -> None:
    assert formula.VOCABULARY  # fills the table of what is drawn
    commands = [
        each for each in (*COMMANDS.values(), *ENVIRONMENTS.values()) if isinstance(each, CommandSyntax)
    ]
    kinds = {each.kind for each in commands} - {""} - set(RESOLVED)
    kinds |= {"infix fraction", "closing", "stray alignment"}
    assert set(nodes.MAKERS) == set(typesetter.MAKERS) == kinds


def test_every_symbol_of_the_table_is_drawn() -> None:
    """Also the contract with the reader: a command that makes trees is never an error on the page."""
    symbols = [name for name in SYMBOLS if name not in COMMANDS and name != "\\not"]
    assert [name for name in symbols if glyph(name, MATH) is None] == []


@cases(
    "latex", ["{a", "a}", r"\left(a", r"a\right)", r"\frac{a", "x^", r"\begin{pmatrix}a", r"a&b", r"a\sqrt["]
)
def test_what_is_malformed_is_drawn_as_far_as_it_goes(latex: str) -> None:
    assert "a" in text_of(drawn(latex.replace("^", "a^")))


@pytest.mark.parametrize("latex", ["{" * 600 + "x" + "}" * 600, r"\sqrt{" * 70 + "x" + "}" * 70])
def test_too_deep_is_an_error(latex: str) -> None:
    with pytest.raises(FormulaError):
        drawn(latex)


def test_braces_within_each_other_cost_no_recursion_and_columns_are_counted() -> None:
    assert shown("{" * 400 + "x" + "}" * 400) == "<mi>x</mi>"
    assert len(columns_of("*{999}{*{999}{c}}")[0]) <= 200


@cases("opening", [r"\pdv[", r"\ketbra{", r"\ev{a}{", r"\dv{x}{", r"\vb{"])
def test_notation_that_repeats_its_argument_is_paid_for(opening: str) -> None:
    with pytest.raises(FormulaError):
        drawn(opening * 40 + "x" + "}" * 40)


@cases("value", ["red;x", '"><script>', "url(x)", "expression(1)", "[rgb]", "a" * 50])
def test_what_names_no_colour_is_none(value: str) -> None:
    written = display_mathml(rf"\color{{{value}}}x \textcolor[rgb]{{{value}}}{{y}}")
    assert "mathcolor" not in written.partition("<semantics>")[2].partition("<annotation")[0]


def test_no_formula_can_walk_over_the_page_by_negative_space() -> None:
    steps = [
        float(STYLES[name].split("-")[-1].removesuffix("em"))
        for element in drawn(r"\kern-3em\!" * 50 + "x").iterate()
        for name in styles_of(element)
    ]
    assert 0 < sum(steps) <= typesetter.MOST_BACK + 1 / 18
    assert "pulled-left" not in shown(rf"\llap{{{'x' * 100}}}")
