"""Formulas that would cost far more than they are long; each is drawn or refused within a small budget."""

from __future__ import annotations

import pytest

from tests.bounded import bounded

BOMBS = {
    "short lines to be filled up": "'&' * 49_000 + r'\\\\' * 25_000",
    "rules over many cells": "r'\\begin{array}{c}' + r'\\hline' * 8_000 + '&' * 40_000 + r'\\end{array}'",
    "parts of rules": "r'\\begin{array}{c}' + r'\\cline{1-2}' * 6_000 + '&' * 30_000 + r'\\end{array}'",
    "delimiters within each other": "r'\\left(' * 490 + 'x' * 90_000 + r'\\right)' * 490",
    "a long number": "'7' * 100_000",
    "a long word": "r'\\mathrm{' + 'a' * 99_000 + '}'",
    "primes": "'x' + chr(39) * 99_000",
    "scripts of parentheses": "'(' * 450 + 'x' + ')^2' * 450",
    "groups with scripts": "'{' * 490 + 'x' + '}^2' * 490",
    "columns times columns": "r'\\begin{array}{' + '*{999}{' * 3 + 'c' + '}' * 3 + '}a' + r'\\end{array}'",
    "colours": "r'\\color{red}' * 8_000 + 'x'",
    "outer products": "r'\\ketbra{' * 40 + 'x' + '}' * 40",
}
SCRIPT = """
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.display.formula import display_mathml
try:
    print(len(display_mathml({bomb})) // 1_000_000)
except FormulaError as error:
    print("refused:", error.message[:60])
"""


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.slow
def test_a_bomb_is_drawn_or_refused_within_limits(name: str) -> None:
    ended = bounded(SCRIPT.format(bomb=BOMBS[name]), megabytes=2048)
    assert ended.returncode == 0, ended.stderr[-500:]
    assert ended.stdout.startswith(("refused", *map(str, range(31))))
