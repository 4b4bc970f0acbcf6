"""Which commands of a formula are unknown, without parsing it: its macros are expanded and each command is looked up."""

from __future__ import annotations

from collections.abc import Iterable

from mathamr.formulas.budget import Budget
from mathamr.formulas.errors import FormulaError
from mathamr.formulas.latex.commands import COMMANDS, ENVIRONMENTS, TRANSPARENT
from mathamr.formulas.latex.lexer import MAX_LENGTH, tokenize
from mathamr.formulas.latex.macros import Macros, expanded
from mathamr.formulas.latex.rowreader import STRUCTURAL
from mathamr.formulas.latex.symbols import SPACES, SYMBOLS
from mathamr.formulas.latex.text import CHARACTERS, TEXT_ACCENTS, TEXT_FONTS

_KNOWN = frozenset().union(COMMANDS, SYMBOLS, SPACES, STRUCTURAL, CHARACTERS, TEXT_ACCENTS, TEXT_FONTS) | {
    "\\ref",
    "\\eqref",
    "\\cite",
}


def unknown_commands(latex: str, macros: Macros | Iterable[str] = ()) -> tuple[str, ...]:
    r"""Return the commands and environments of a formula that neither a macro nor a table explains, each once.

    Of a formula that is too long, or whose macros expand without end, there are none: it cannot be read at all.

    >>> unknown_commands(r"\Gal(K) \in \R \begin{prooftree}x\end{prooftree}", [r"\def\R{\mathbb R}"])
    ('\\Gal', '\\begin{prooftree}')
    """
    if "\\" not in latex or len(latex) > MAX_LENGTH:
        return ()
    try:
        tokens, _, _ = expanded(*tokenize(latex), latex, Macros.of(macros), Budget(len(latex)))
    except FormulaError:
        return ()
    found: dict[str, None] = {}
    for place, token in enumerate(tokens):
        if token == "\\begin":
            name = "".join(tokens[place + 1 : place + 60]).lstrip()[1:].partition("}")[0].strip()
            if name not in ENVIRONMENTS and name not in TRANSPARENT:
                found[f"\\begin{{{name}}}"] = None
        elif token[0] == "\\" and token[-1].isalpha() and token not in _KNOWN:
            found[token] = None
    return tuple(found)
