"""Traits against the questions they answer, asked of every node of the gold set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mathamr.formulas.budget import Budget
from mathamr.formulas.latex.grammar.rules import role_of
from mathamr.formulas.latex.node import HINT, TEXT, TOKEN, Node
from mathamr.formulas.parse import NO_MACROS, _read
from mathamr.formulas.semantics import traits
from mathamr.formulas.semantics.items import Group, grouped, is_sign
from mathamr.formulas.semantics.traits import item_traits, traits_of
from tests.formulas.semantics.gold import gold

RARE = [
    r"A \land B \lor C",
    r"p \bmod q",
    r"\text{for } x : y",
    r"a\quad b",
    r"H \trianglelefteq G",
    r"\sup_x |d x|",
]


@pytest.fixture(scope="module")
def nodes() -> list[Node]:
    formulas = [row.latex for row in gold("seen")[::3]] + RARE
    found = {
        id(node): node
        for latex in formulas
        for node in _within(_read(latex, NO_MACROS, False, Budget(len(latex)))[0])
    }
    return list(found.values())


def _within(node: Node) -> Iterator[Node]:
    yield node
    for part in (*node.children, *node.source):
        yield from _within(part)


def _role(node: Node) -> str:
    return "RELOP" if node.kind == TOKEN and node.text in "⊴⊵⊲⊳◁▷" and node.text else role_of(node)


QUESTIONS = {
    traits.PUNCTUATION: lambda node: _role(node) in ("PUNCT", "PERIOD"),
    traits.COMMA: lambda node: _role(node) == "PUNCT",
    traits.WIDE: lambda node: node.kind == HINT and node.role == "PUNCT",
    traits.RELATION: lambda node: _role(node) in ("RELOP", "ARROW", "METARELOP", "VERTBAR", "MIDDLE"),
    traits.ARROW: lambda node: _role(node) == "ARROW",
    traits.MIDDLE: lambda node: _role(node) in ("VERTBAR", "MIDDLE"),
    traits.SCRIPTED: lambda node: _role(node).endswith(("SUPERSCRIPT", "SUBSCRIPT")),
    traits.SUM: lambda node: _role(node) == "ADDOP" and node.meaning not in ("top", "bottom"),
    traits.FACTOR: lambda node: _role(node) in ("MULOP", "BINOP"),
    traits.WORDS: lambda node: node.kind == TEXT,
    traits.CONJUNCTION: lambda node: is_sign(node, "and", "or"),
    traits.COLON: lambda node: is_sign(node, "colon", ":"),
    traits.SLASH: lambda node: is_sign(node, "/"),
    traits.DIVISION: lambda node: is_sign(node, "/", "divide"),
    traits.CROSS: lambda node: is_sign(node, "×"),
    traits.MOD: lambda node: node.kind == TOKEN and node.text == "mod",
    traits.INTEGRAL: lambda node: _role(node) == "INTOP",
    traits.DELIMITER: lambda node: role_of(node) in ("OPEN", "CLOSE", "VERTBAR"),
}


@pytest.mark.parametrize("trait", QUESTIONS)
def test_a_trait_answers_its_question_of_every_node(trait: int, nodes: list[Node]) -> None:
    answers = [bool(item_traits(node) & trait) for node in nodes]
    assert answers == [bool(QUESTIONS[trait](node)) for node in nodes]
    assert any(answers)
    assert not all(answers)


def test_a_list_has_the_traits_of_all_its_items(nodes: list[Node]) -> None:
    together = 0
    for node in nodes:
        together |= item_traits(node)
    assert traits_of(nodes) == together
    assert traits_of([]) == 0
    assert traits_of([Group("(", ")", list(nodes))]) == traits.GROUP


def test_a_list_without_delimiters_is_its_own_grouping() -> None:
    plain = [Node(TOKEN, "UNKNOWN", "x"), Node(TOKEN, "ADDOP", "+", "plus"), Node(TOKEN, "NUMBER", "1")]
    assert grouped(plain) == plain
    (group,) = grouped([Node(TOKEN, "OPEN", "("), *plain, Node(TOKEN, "CLOSE", ")")])
    assert isinstance(group, Group)
    assert group.items == plain
