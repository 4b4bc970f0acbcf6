from __future__ import annotations

from collections import Counter

from mathamr.posts.post import Post
from mathamr.posts.postcounts import PostCounts


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
