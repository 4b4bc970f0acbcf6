from __future__ import annotations

from mathamr.formulas.latex.node import TEXT, TOKEN, Node, dual
from mathamr.formulas.semantics.nodes import words


def test_words_are_those_of_the_text_and_of_the_formulas_in_it_as_shown() -> None:
    formula = dual(Node(TOKEN, text="hidden"), Node(TOKEN, text="x"))
    text = Node(TEXT, children=(Node(TEXT, text="if "), formula, Node(TEXT, text=" is odd")))
    assert words(text).text == "if x is odd"


def test_shared_text_is_not_written_out_without_end() -> None:
    node = Node(TEXT, text="a")
    for _ in range(22):
        node = Node(TEXT, children=(node, node))
    assert 0 < len(words(node).text.split()) <= 1_000
