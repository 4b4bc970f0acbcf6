"""Small input that asks for much work: every bomb ends in a `FormulaError` or a tree, in little time and memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.parse import FormulaError, parse

_LIMITED = """
import resource, sys
from mathamr.core.errors import MathAMRError
from mathamr.formulas.latex.display.formula import display_mathml
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.mathml.writing import sanitised
from mathamr.formulas.parse import FormulaError, parse

def read(latex):
    formula = parse(latex, reading="mathematician")
    assert len(formula.slt) <= 300 + len(latex)  # no more symbols than were typed, but for those of macros
    formula.presentation_mathml()

def draw(latex):
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    assert len(display_mathml(latex)) < 31_000_000

resource.setrlimit(resource.RLIMIT_CPU, (12, 12))
resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 2 << 30))
bomb, latex = sys.stdin.read(), sys.argv[1] == "latex"
for reader in [read, draw] if latex else [slt_from_mathml, opt_from_mathml, sanitised]:
    try:
        reader(bomb)
        print("read")
    except (FormulaError if latex else MathAMRError) as error:
        print(type(error).__name__)
"""
"""Reads and draws one bomb with the processor and the memory that a careless reader would use up."""


def _outcomes(kind: str, bomb: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, kind], input=bomb, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr[-500:]}"
    return done.stdout.split()


BOMBS = {
    "derivatives in their own order": r"\pdv[" * 20,
    "derivatives as deep as may be": r"\pdv[" * 58 + "x" + "]{f}{x}" * 58,
    "outer products of one argument": r"\ketbra{" * 20,
    "expectations in their own state": r"\ev{a}{" * 18,
    "differentials in outer products": r"\dd[\ketbra{" * 25,
    "relations between relations": "a=(" * 30 + "x" + ")=b" * 30,
    "a template wider than its rows": rf"\begin{{array}}{{{'c' * 40_000}}}" + r"a\\" * 15_000,
    "limits behind limits": r"\sum\limits_{a}^{b}\nolimits_{" * 25 + "x" + "}" * 25,
    "accents heaped on one letter": r"\text{a" + "\u0300\u0323" * 49_000 + "}",
    "macros that double": "".join(
        rf"\def\{a}{{\{b}\{b}}}" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + r"\def\i{\frac{x}{y}\frac{x}{y}\frac{x}{y}}\a\a\a",
    "braces": "{" * 100_000,
    "closing braces": "}" * 20_000,
    "parentheses": "(" * 20_000 + ")" * 20_000,
    "fractions": r"\frac{" * 16_000,
    "scripts": "x^{" * 33_000,
    "roots": r"\sqrt" * 20_000,
    "left": r"\left(" * 16_000,
    "matrices": r"\begin{matrix}" * 7_000,
    "digits": "1" * 100_000,
    "words": r"\mathrm{" + "x" * 99_000 + "}",
    "sum": "x+" * 10_000 + "x",
    "bars": "|x" * 500,
    "angles": "<a|" * 500,
    "text": r"\text{$" * 14_000,
    "primes": "x" + "'" * 90_000,
    # what is drawn could be far longer than what is read
    "short lines to be filled up": "&" * 49_000 + r"\\" * 25_000,
    "rules over many cells": r"\begin{array}{c}" + r"\hline" * 8_000 + "&" * 40_000 + r"\end{array}",
    "parts of rules": r"\begin{array}{c}" + r"\cline{1-2}" * 6_000 + "&" * 30_000 + r"\end{array}",
    "delimiters within each other": r"\left(" * 490 + "x" * 90_000 + r"\right)" * 490,
    "scripts of parentheses": "(" * 450 + "x" + ")^2" * 450,
    "groups with scripts": "{" * 490 + "x" + "}^2" * 490,
    "columns times columns": r"\begin{array}{" + "*{999}{" * 3 + "c" + "}" * 3 + "}a" + r"\end{array}",
    "colours": r"\color{red}" * 8_000 + "x",
}


@pytest.mark.parametrize("latex", BOMBS.values(), ids=BOMBS.keys())
@pytest.mark.slow
def test_bombs_of_latex_end_in_a_formula_error_or_a_tree_and_a_drawing(latex: str) -> None:
    assert set(_outcomes("latex", latex)) <= {"read", "FormulaError"}


_DOUBLING = "".join(
    f"<apply id='s{level + 1}'><plus/><share href='#s{level}'/><share href='#s{level}'/></apply>"
    for level in range(60)
)
_WIDE = "<matrix>" + "<matrixrow/>" * 440 + "<matrixrow>" + "<ci/>" * 440 + "</matrixrow></matrix>"
MATHML_BOMBS = {
    "tables without cells side by side": "<math>" + "<mtable/>" * 60_000 + "</math>",
    "text in many pieces": "<math><mi>" + "a<!---->" * 400_000 + "</mi></math>",
    "more elements than a formula has": "<math>" + "<mi/>" * 700_000 + "</math>",
    "shares of shares": f"<list><ci id='s0'>x</ci>{_DOUBLING}</list>",
    "matrices of one long row": f"<list>{_WIDE * 100}</list>",
}


@pytest.mark.parametrize("text", MATHML_BOMBS.values(), ids=MATHML_BOMBS.keys())
@pytest.mark.slow
def test_bombs_of_mathml_end_in_an_error_or_a_tree(text: str) -> None:
    assert set(_outcomes("mathml", text)) <= {"read", "FormulaError", "MathMLError"}


@pytest.mark.parametrize("latex", [r"\pdv[" * 20, r"\ketbra{" * 20, r"\ev{a}{" * 18])
def test_what_repeats_itself_too_often_is_said_to(latex: str) -> None:
    with pytest.raises(FormulaError, match="repeats itself too often") as caught:
        parse(latex)
    assert caught.value.text == latex


def test_a_budget_grows_with_the_formula_and_ends() -> None:
    budget, larger = Budget(10), Budget(1_000)
    assert larger.limit > budget.limit
    budget.spend(budget.limit)
    with pytest.raises(SpentError):
        budget.spend()


def test_notation_that_repeats_its_argument_is_still_read() -> None:
    assert parse(r"\ketbra{\pdv[2]{f}{x}}").slt == parse(r"|\pdv[2]{f}{x}\rangle\langle\pdv[2]{f}{x}|").slt
