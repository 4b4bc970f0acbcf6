from __future__ import annotations

from mathamr.index.crew import FEW, Crew
from mathamr.index.entries import visual_keys
from mathamr.index.terms import formula_terms, post_terms
from tests.models import sample_posts


def test_workers_give_what_is_made_here_in_the_same_order() -> None:
    posts = sample_posts(FEW + 10)
    looks = [(formula, post.macros) for post in posts for formula in post.formulas][: FEW + 40]
    with Crew(2) as crew:
        assert list(crew.visual_keys(posts)) == [visual_keys(post) for post in posts]
        assert [dict(terms) for terms in crew.post_terms(posts)] == [dict(post_terms(post)) for post in posts]
        found = [dict(terms) for terms in crew.formula_terms(looks)]
    assert found == [{field: list(terms) for field, terms in formula_terms(*look).items()} for look in looks]


def test_a_few_posts_start_no_worker() -> None:
    with Crew(8) as crew:
        posts = sample_posts(3)
        assert list(crew.visual_keys(posts)) == [visual_keys(post) for post in posts]
        assert "_pool" not in crew.__dict__
