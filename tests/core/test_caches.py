"""What is remembered has an end: a server that answers for months must not grow with what it was asked."""

from __future__ import annotations

import pytest

from mathamr.formulas.trees import LONGEST_REMEMBERED
from mathamr.index.lexical import bags, terms
from mathamr.posts.post import Formula
from mathamr.posts.rendering import drawing


@pytest.mark.parametrize(
    ("remembered", "ask"),
    [
        (terms._terms_of_latex, terms.formula_terms),
        (bags._bag_of_latex, bags.formula_bag),
        (drawing._remembered, lambda formula: drawing.draw_formula(formula, ())),
    ],
)
def test_only_short_formulas_are_remembered(remembered, ask) -> None:  # type: ignore[no-untyped-def]
    assert remembered.cache_info().maxsize <= 20_000
    before = remembered.cache_info().currsize
    ask(Formula("", "x+" * LONGEST_REMEMBERED + "1"))
    assert remembered.cache_info().currsize == before
    remembered.cache_clear()
    ask(Formula("", "x^{17}+1"))
    assert remembered.cache_info().currsize == 1
