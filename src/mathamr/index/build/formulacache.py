"""`ParsedPost`: all that is made of a post's formulas when it is taken in, of one parse each, and kept for later stages.

The visual classes of formulas are asked for at once, their terms when words are written, their trees when graphs are made, by
other processes. What is not kept, or of another content of the post, these stages make themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from mathamr.formulas.trees import written_trees
from mathamr.index.lexical.bags import PostBags
from mathamr.index.build.visualkeys import visual_keys
from mathamr.posts.post import Post

KEPT, MOST_KEPT = 12 << 20, 96 << 20
"""Bytes that are kept of first looks for every process that makes them, and altogether. They are in memory alone: a kill
loses them, and a process makes those of a thousand posts with a dozen formulas each in less than five seconds."""
REFUSED = 5
"""Posts for which there was no room before no more of them are tried."""


@dataclass(frozen=True, slots=True)
class ParsedPost:
    """The keys of the visual classes of a post's formulas, its terms, and the trees of its formulas as text."""

    keys: list[str]
    bags: PostBags
    trees: str = ""

    @classmethod
    def of(cls, post: Post, with_trees: bool) -> Self:
        """What a post says; terms first, whose parse has the trees of both readings."""
        bags = PostBags.of(post)
        keys = visual_keys(post)
        return cls(keys, bags, written_trees(post.formulas, post.macros) if with_trees else "")

    def to_json(self) -> list[Any]:
        """The look for another process of this machine."""
        return [self.keys, self.bags.to_json(), self.trees]

    @classmethod
    def from_json(cls, row: Sequence[Any]) -> Self:
        """The inverse of `to_json`."""
        keys, bags, trees = row
        return cls([*map(str, keys)], PostBags.from_json(bags), str(trees))


class FormulaCache:
    """First visual classes that later stages take, each once; there is room for so many bytes, and what comes then is not kept."""

    def __init__(self, size: int = KEPT) -> None:
        self.room = size
        self._refused = 0
        self._bags: dict[str, tuple[int, PostBags]] = {}
        self._trees: dict[str, tuple[int, str]] = {}
        # by the post's id, with a hash of the post as it was read

    def put(self, post: Post, visual: ParsedPost) -> None:
        """Keeps what fits; a post that comes again was changed, and is made anew."""
        size = visual.bags.size + len(visual.trees)
        if size > self.room:
            self._refused += 1
        elif post.id not in self._bags and post.id not in self._trees:
            self.room -= size
            self._bags[post.id] = hash(post), visual.bags
            if visual.trees:
                self._trees[post.id] = hash(post), visual.trees

    @property
    def is_full(self) -> bool:
        """Whether so many posts found no room that it is not the size of some of them: more need not be made."""
        return self._refused >= REFUSED

    def bags(self, post: Post) -> PostBags | None:
        """The terms that were kept of this very post."""
        known, bags = self._bags.pop(post.id, (0, None))
        if bags is not None:
            self.room += bags.size
        return bags if known == hash(post) else None

    def trees(self, post: Post) -> str:
        """The trees that were kept of this very post, or nothing."""
        known, trees = self._trees.pop(post.id, (0, ""))
        self.room += len(trees)
        return trees if known == hash(post) else ""
