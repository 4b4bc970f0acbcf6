"""LaTeX to both trees of a formula: `parse` is the one way in for LaTeX."""

from __future__ import annotations

from mathamr.formulas.latex import commands, environments
from mathamr.formulas.latex.content import mean
from mathamr.formulas.latex.expression import expression
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.latex.presentation import present
from mathamr.formulas.latex.reader import NOTHING, Reader


def elements(latex):
    tokens, offsets = tokenize(latex)
    reader = Reader(tokens, offsets, latex)
    node = expression(reader.read(NOTHING), trailing=True)
    return present(node), mean(node), reader.repairs, node
