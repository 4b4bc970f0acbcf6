"""Small input that asks for much work: every bomb ends in a `FormulaError` or a tree, in little time and memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mathamr.formulas.budget import Budget, SpentError
from mathamr.formulas.parse import FormulaError, parse

_LIMITED = """
import resource, sys
from mathamr.formulas.mathml.markup import opt_from_mathml, slt_from_mathml
from mathamr.formulas.mathml.writing import sanitised
from mathamr.formulas.parse import FormulaError, parse
from mathamr.core.errors import MathAMRError

resource.setrlimit(resource.RLIMIT_CPU, (6, 6))
resource.setrlimit(resource.RLIMIT_AS, (500 << 20, 500 << 20))
bomb, latex = sys.stdin.read(), sys.argv[1] == "latex"
readers = [lambda text: parse(text, reading="mathematician").presentation_mathml()] if latex else [slt_from_mathml, opt_from_mathml, sanitised]
for reader in readers:
    try:
        reader(bomb)
        print("read")
    except (FormulaError if latex else MathAMRError) as error:
        print(type(error).__name__)
"""
"""Reads one bomb with the processor and the memory that a careless reader would use up."""


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
}


@pytest.mark.parametrize("latex", BOMBS.values(), ids=BOMBS.keys())
@pytest.mark.slow
def test_bombs_of_latex_end_in_a_formula_error_or_a_tree(latex: str) -> None:
    assert _outcomes("latex", latex)[0] in ("read", "FormulaError")


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
