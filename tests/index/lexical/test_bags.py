"""A bag is the terms of an entry, each as its number, as often as it occurs."""

from __future__ import annotations

from array import array
from collections import Counter

from mathamr.index.lexical.bags import (
    NUMBER,
    TREES,
    Bag,
    formula_bag,
    post_bag,
    term_number,
)
from mathamr.index.lexical.terms import Terms, formula_terms, post_terms
from mathamr.posts.post import Formula, Post
from tests.cases import cases
from tests.models import sample_posts


def counts(bag: Bag) -> dict[str, Counter[int]]:
    return {field: Counter(array(NUMBER, numbers)) for field, numbers in bag.items() if field != TREES}


def numbered(terms: Terms) -> dict[str, Counter[int]]:
    return {field: Counter(map(term_number, found)) for field, found in terms.items()}


def test_the_bag_of_a_post_is_its_terms_counted() -> None:
    unlisted = Post("1", "question", "Is $x^2+x^2$ even?", title="Why $x$", markup="text")
    for post in (*sample_posts(20), unlisted):
        assert counts(post_bag(post)) == numbered(post_terms(post))


@cases(
    "formula",
    [
        Formula("f", "x^2+x^2"),
        Formula("f", ""),
        Formula("f", "{" * 3000 + "x" + "}" * 3000),
        Formula("f", "", presentation_mathml="<math><msup><mi>x</mi><mn>2</mn></msup></math>"),
    ],
)
def test_the_bag_of_a_formula_is_its_terms_counted(formula: Formula) -> None:
    assert counts(formula_bag(formula)) == numbered(formula_terms(formula))


def test_a_formula_is_read_with_the_macros_of_its_post() -> None:
    formula = Formula("f", r"\mine")
    bags = [formula_bag(formula, macros) for macros in ((), (r"\newcommand{\mine}{x^2}",))]
    assert bags[0] != bags[1]


def test_numbers_are_the_same_on_every_machine() -> None:
    assert term_number("$x") == int.from_bytes(bytes.fromhex("edc6e22b5f6a0f2d"), "little", signed=True)
