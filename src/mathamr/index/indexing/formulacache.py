"""`FormulaCache`: the results of parsing a post's formulas while it is read, kept for later stages.

Visual keys are needed at once, terms when words are written, and trees when graphs are made, by other processes. What
is not cached, or belongs to another version of the post, these stages compute themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from mathamr.formulas.trees import written_trees
from mathamr.index.indexing.visualkeys import visual_keys
from mathamr.index.lexical.bags import PostBags
from mathamr.posts.post import Post

KEPT, MOST_KEPT = 12 << 20, 96 << 20
"""Size of the cache in bytes, per process and in total. It is in memory only: if the build is killed, a process computes the
results for a thousand posts with a dozen formulas each again in less than five seconds."""
REFUSED = 5
"""Posts without room after which the cache counts as full."""


@dataclass(frozen=True, slots=True)
class ParsedPost:
    """The visual keys of a post's formulas, its terms, and the trees of its formulas as text."""

    keys: list[str]
    bags: PostBags
    trees: str = ""

    @classmethod
    def of(cls, post: Post, with_trees: bool) -> Self:
        """Parses a post; terms come first, since their parse yields the trees of both readings."""
        bags = PostBags.of(post)
        keys = visual_keys(post)
        return cls(keys, bags, written_trees(post.formulas, post.macros) if with_trees else "")

    def to_json(self) -> list[Any]:
        """For another process of this machine."""
        return [self.keys, self.bags.to_json(), self.trees]

    @classmethod
    def from_json(cls, row: Sequence[Any]) -> Self:
        """The inverse of `to_json`."""
        keys, bags, trees = row
        return cls([*map(str, keys)], PostBags.from_json(bags), str(trees))


class FormulaCache:
    """Parsed posts that later stages take once; when the bytes are used up, further posts are not kept."""

    def __init__(self, size: int = KEPT) -> None:
        self.room = size
        self._refused = 0
        self._bags: dict[str, tuple[int, PostBags]] = {}
        self._trees: dict[str, tuple[int, str]] = {}
        # by the post's id, with a hash of the post as it was read

    def put(self, post: Post, parsed: ParsedPost) -> None:
        """Stores results while there is room; a post that arrives again was changed, so its results are dropped."""
        size = parsed.bags.size + len(parsed.trees)
        if size > self.room:
            self._refused += 1
        elif post.id not in self._bags and post.id not in self._trees:
            self.room -= size
            self._bags[post.id] = hash(post), parsed.bags
            if parsed.trees:
                self._trees[post.id] = hash(post), parsed.trees

    @property
    def is_full(self) -> bool:
        """True if there was no room for several posts, which rules out a single large one."""
        return self._refused >= REFUSED

    def bags(self, post: Post) -> PostBags | None:
        """The terms of this version of the post, if they are cached."""
        known, bags = self._bags.pop(post.id, (0, None))
        if bags is not None:
            self.room += bags.size
        return bags if known == hash(post) else None

    def trees(self, post: Post) -> str:
        """The trees of this version of the post, or an empty text."""
        known, trees = self._trees.pop(post.id, (0, ""))
        self.room += len(trees)
        return trees if known == hash(post) else ""
