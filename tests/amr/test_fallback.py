"""Minimal graphs keep formulas and content words of any text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.fallback import EMPTY, MAX_WORDS, minimal_graph
from mathamr.amr.placeholder import placeholders


def test_formulas_and_content_words_stand_under_one_root() -> None:
    concepts = [
        concept for _, concept in minimal_graph("Let FORMULA_0 be the Cauchy–Schwarz bound of it").instances
    ]
    assert concepts == ["and", "let", "FORMULA_0", "cauchy", "schwarz", "bound"]


def test_one_word_is_its_own_graph() -> None:
    assert minimal_graph("FORMULA_3").to_penman() == "(f / FORMULA_3)"


def test_nothing_gives_an_empty_graph() -> None:
    assert minimal_graph("the \x00 …").to_penman() == f"(a / {EMPTY})"


def test_words_are_bounded_and_formulas_are_not() -> None:
    text = " ".join(f"word{n} FORMULA_{n}" for n in range(400))
    concepts = minimal_graph(text).concepts().values()
    assert sum(concept.startswith("FORMULA") for concept in concepts) == 400
    assert sum(concept.startswith("word") for concept in concepts) == MAX_WORDS


@given(st.text())
def test_any_text_gives_a_graph_with_all_its_formulas(text: str) -> None:
    assert set(placeholders(text)) <= set(minimal_graph(text).concepts().values())
