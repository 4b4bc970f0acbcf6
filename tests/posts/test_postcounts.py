from __future__ import annotations

from collections import Counter

from mathamr.posts.post import Formula, Link, Post
from mathamr.posts.postcounts import PostCounts


def test_everything_is_counted():
    summary = PostCounts()
    posts = [
        Post("1", "question", "ab", "t", accepted_answer="2", tags=("x", "y"), links=(Link("9"),), score=0),
        Post(
            "2",
            "answer",
            "c",
            parent="1",
            formulas=(Formula("f", "x", True, "7", "<math/>"), Formula("g", "y")),
        ),
        Post("3", "note", "d", tags=("x",), date="2020"),
    ]
    assert list(summary.each(posts)) == posts
    assert summary.to_dict() == {
        "posts": 3,
        "questions": 1,
        "answers": 1,
        "notes": 1,
        "kinds": {"question": 1, "answer": 1, "note": 1},
        "formulas": 2,
        "display_formulas": 1,
        "formulas_with_visual_id": 1,
        "formulas_with_mathml": 1,
        "with_title": 1,
        "with_accepted_answer": 1,
        "with_score": 1,
        "with_date": 1,
        "links": 1,
        "characters": 5,
        "distinct_tags": 2,
        "tags": {"x": 2, "y": 1},
    }


def test_the_sample_is_even():
    drawn: Counter[str] = Counter()
    for seed in range(600):
        summary = PostCounts(samples=2, seed=seed)
        for n in range(6):
            summary.add(Post(str(n), "note", ""))
        assert len({post.id for post in summary.samples}) == 2
        drawn.update(post.id for post in summary.samples)
    assert all(150 < drawn[str(n)] < 250 for n in range(6)), drawn


def test_tags_are_counted_in_bounded_memory():
    summary = PostCounts(samples=0, most_tags=10)
    for n in range(100):
        summary.add(Post(str(n), "note", "", tags=(f"tag{n}", "common")))
    assert len(summary.tags) == 10
    assert summary.tags["common"] == 100
    assert summary.tags_uncounted == 91
