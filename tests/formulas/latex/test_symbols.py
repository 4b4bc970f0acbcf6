from __future__ import annotations

from mathamr.formulas.latex.commands import COMMANDS
from mathamr.formulas.latex.grammar.factors import ENDS_OF_TERMS, READ_AS_FACTORS
from mathamr.formulas.latex.grammar.rules import ADDING, MULTIPLYING
from mathamr.formulas.latex.symbols import DELIMITERS, SYMBOLS
from mathamr.formulas.parse import parse


def test_every_role_is_one_the_grammar_knows() -> None:
    known = {*READ_AS_FACTORS, *ENDS_OF_TERMS, *ADDING, *MULTIPLYING, "UNKNOWN", "NUMBER", "CLOSE", "RELOP"}
    assert {symbol.role for symbol in SYMBOLS.values()} <= known


def test_every_symbol_is_a_formula_of_one_node() -> None:
    for command, symbol in SYMBOLS.items():
        if command not in COMMANDS:
            formula = parse(command + " ")
            assert len(formula.slt) == len(formula.opt) == 1, command
            assert symbol.text


def test_every_delimiter_works_on_both_sides() -> None:
    for delimiter in DELIMITERS:
        assert not parse(rf"\left{delimiter} x\right{delimiter}").repairs
