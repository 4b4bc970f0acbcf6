"""The study of famous names finds posts with a formula by itself and knows those that do not say its name."""

from __future__ import annotations

from mathamr.posts.post import Post
from mathamr_lab.studies.famousnames import COUNT, famous_names, nameless_holders

POSTS = [
    Post(
        "bell",
        "question",
        r"Why is $\int_{-\infty}^{\infty}e^{-t^{2}}\,\mathrm{d}t$ a root?",
        "An area",
        "text",
    ),
    Post(
        "says", "question", r"The Gaussian integral is $\int_{-\infty}^\infty e^{-x^2}dx$.", "Exams", "text"
    ),
    Post(
        "tagged", "question", r"What is $\int_0^\infty e^{-x^2}dx$?", "", "text", tags=("gaussian-integral",)
    ),
    Post(
        "slope",
        "answer",
        r"So $\frac{f(b)-f(a)}{b-a}=f^{\prime}(c)$ and $f'(c)=\frac{f(b)-f(a)}{b-a}$.",
        "",
        "text",
    ),
]


def test_posts_that_say_the_name_do_not_count() -> None:
    assert nameless_holders(POSTS, famous_names()) == {
        "gaussian integral": {"bell"},
        "mean value theorem": {"slope"},
    }


def test_half_of_the_names_is_kept_from_every_choice() -> None:
    names = famous_names()
    assert len(names) >= COUNT
    assert len({each.names[0] for each in names}) == len(names)
    assert 0.4 < sum(each.is_kept for each in names) / len(names) < 0.6
