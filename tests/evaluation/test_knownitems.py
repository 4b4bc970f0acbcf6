"""Queries made of a collection's own titles, links, answers and formulas."""

from __future__ import annotations

from mathamr.evaluation.knownitems import KnownItem, draw_known_items, unique_formulas
from mathamr.posts.post import Formula, Link, Post


def formula(latex: str) -> tuple[Formula, ...]:
    return (Formula(f"f:{latex}", latex),)


SUM, SAME, SIDE = "x_1^2+y_2^2=z", "a_1^2+b_2^2=c", "\\int_0^1 f(t)\\,dt"
OTHER = f"{SIDE}=F"
POSTS = [
    Post("q", "question", "How?", title="Sums of squares", formulas=formula(SUM)),
    Post("a", "answer", f"By ${SAME}$.", parent="q", formulas=formula(SAME)),
    Post(
        "n",
        "note",
        f"Continuity matters for ${OTHER}$.",
        title="Integrals",
        markup="markdown",
        links=(
            Link("q", words="Sums of Squares"),
            Link("q", words="sum theorem"),
            Link("gone", words="gone"),
        ),
        formulas=formula(OTHER),
    ),
]


def test_every_form_asks_for_the_post_that_it_was_made_of() -> None:
    found = draw_known_items(POSTS, 10)
    assert {
        (item.query if isinstance(item.query, str) else item.query.id, *item.right, item.form)
        for item in found
    } == {
        ("Sums of squares", "a", "title"),  # not the question itself, which has just these words
        ("Integrals", "n", "title"),
        ("sum theorem", "q", "link"),  # not by its title again, and not to what is not there
        ("q", "a", "question"),
        (f"${SIDE}$", "n", "formula"),
        *(
            (f"{word} ${SIDE}$", "n", "formula, one word")
            for word in ("continuity", "matters")
            if any(word in str(item.query) for item in found)
        ),
    }
    assert {item.made_of for item in found if item.right == {"a"}} == {"q"}
    assert sum(item.form == "formula, one word" for item in found) == 1
    assert draw_known_items(reversed(POSTS), 10) == found, "the order of the posts decides nothing"


def test_a_formula_that_two_posts_have_in_other_letters_is_not_asked_for() -> None:
    assert [post.id for post, _ in unique_formulas(POSTS)] == ["n"]


def test_as_many_of_each_form_as_asked_for() -> None:
    forms = [item.form for item in draw_known_items(POSTS, 1)]
    assert sorted(forms) == ["formula", "formula, one word", "link", "question", "title"]
    assert isinstance(draw_known_items(POSTS, 1)[0], KnownItem)
