"""`PostCounts`: counts posts while they are read, and keeps a few of them as samples."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from mathamr.posts.post import Post


class PostCounts:
    """Counts posts, formulas, tags and links, and keeps an even random sample of a few posts.

    >>> summary = PostCounts(samples=1)
    >>> posts = [Post("1", "question", "Is $2$ odd?", tags=("parity",)), Post("2", "answer", "No.", parent="1")]
    >>> [post.id for post in summary.each(posts)], summary.to_dict()["questions"], summary.tags["parity"]
    (['1', '2'], 1, 1)
    """

    TAGS_SHOWN = 20

    def __init__(self, samples: int = 3, seed: int = 0, most_tags: int = 100_000) -> None:
        self.kinds: Counter[str] = Counter()
        self.roles: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        self.tags_uncounted = 0
        self.formulas = self.display_formulas = self.visual_ids = self.mathml = 0
        self.titles = self.accepted = self.scored = self.dated = self.links = self.characters = 0
        self.samples: list[Post] = []
        self._wanted, self._random, self._most_tags = samples, random.Random(seed), most_tags

    @property
    def posts(self) -> int:
        """How many posts were counted."""
        return self.kinds.total()

    def each(self, posts: Iterable[Post]) -> Iterator[Post]:
        """Yield the posts, counted as they pass."""
        for post in posts:
            self.add(post)
            yield post

    def add(self, post: Post) -> None:
        """Count a post."""
        self.kinds[post.kind] += 1
        self.roles[post.role] += 1
        self.characters += len(post.title) + len(post.body)
        self.titles += bool(post.title)
        self.accepted += post.accepted_answer is not None
        self.scored += post.score is not None
        self.dated += post.date is not None
        self.links += len(post.links)
        self.formulas += len(post.formulas)
        for formula in post.formulas:
            self.display_formulas += formula.display
            self.visual_ids += formula.visual_id is not None
            self.mathml += formula.presentation_mathml is not None or formula.content_mathml is not None
        for tag in post.tags:
            if tag in self.tags or len(self.tags) < self._most_tags:
                self.tags[tag] += 1
            else:
                self.tags_uncounted += 1
        self._sample(post)

    def to_dict(self) -> dict[str, Any]:
        """Convert to an object for `--json`."""
        return {
            "posts": self.posts,
            "questions": self.roles["question"],
            "answers": self.roles["answer"],
            "notes": self.roles["note"],
            "kinds": dict(self.kinds.most_common()),
            "formulas": self.formulas,
            "display_formulas": self.display_formulas,
            "formulas_with_visual_id": self.visual_ids,
            "formulas_with_mathml": self.mathml,
            "with_title": self.titles,
            "with_accepted_answer": self.accepted,
            "with_score": self.scored,
            "with_date": self.dated,
            "links": self.links,
            "characters": self.characters,
            "distinct_tags": len(self.tags),
            "tags": dict(self.tags.most_common(self.TAGS_SHOWN)),
        }

    def _sample(self, post: Post) -> None:
        """Keep each post so far with the same probability (reservoir sampling)."""
        if len(self.samples) < self._wanted:
            self.samples.append(post)
        elif self._wanted:
            place = self._random.randrange(self.posts)
            if place < self._wanted:
                self.samples[place] = post
