"""`similar_posts`: pairs of posts that say nearly the same, in other words or with renamed variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.post import Post
from mathamr.search.fragment import plain
from mathamr.search.hitbuilder import titled
from mathamr.search.hits import Hit
from mathamr.search.query import MAX_CHARACTERS, MAX_FORMULAS
from mathamr.search.searcher import Index
from mathamr.search.snippet import title_of
from mathamr.systems.ranking import Nearest

if TYPE_CHECKING:
    import numpy.typing as npt

SIMILAR = 0.9
"""The cosine from which two posts are taken to say nearly the same."""
MOST_POSTS = 50_000
"""Posts that are compared, each with each."""
MOST_BELONGING = 10_000
"""Pairs that are left out because they belong together, a theorem and its proof, beyond which none is looked for."""
BELONGING = 10
"""About how many posts belong to one: its answers, its proof."""
LONGEST_TITLE, FIRST_CHARACTERS, FIRST_FORMULAS = 1_000, 10_000, 100
"""What of a post is searched with, if it is too long for a query: characters of its title and body, and formulas."""
_BLOCK = 1_000


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two posts and the cosine of their document vectors."""

    first: Post
    second: Post
    similarity: float

    def to_json(self, parents: Mapping[str, Post]) -> dict[str, Any]:
        """Return the ids, titles and places of both, and their similarity; a proof has the title of its theorem."""
        return {
            "similarity": round(self.similarity, 4),
            "posts": [
                {
                    "id": post.id,
                    "kind": post.kind,
                    "title": plain(title_of(titled(post, parents))),
                    "source": post.source,
                    "place": post.place.to_dict() if post.place else None,
                }
                for post in (self.first, self.second)
            ],
        }


def similar_posts(index: Index, least: float = SIMILAR, most: int = 100) -> list[SimilarPair]:
    """Return the most similar pairs of posts, the most similar first; a theorem and its own proof are not compared."""
    field = next((each.field for each in index.rankings().values() if isinstance(each, Nearest)), None)
    if field is None:
        raise MathAMRError(
            f"the index {index.archive.folder} has no vectors of whole posts, so posts cannot be compared;"
            " use an index of another model"
        )
    with index.archive.reading():
        catalogue = index.archive.catalogue
        if len(catalogue) > MOST_POSTS:
            raise MathAMRError(
                f"{len(catalogue):,} entries are too many to compare; at most {MOST_POSTS:,} are"
            )
        rows = index.archive.engine[field].fetch(list(catalogue.ids()))
        ids = [each for each, own in rows.items() if len(own)]
        if len(ids) < 2:
            return []
        vectors = np.stack([rows[each].vectors[0] for each in ids]).astype(np.float32)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        pairs: list[SimilarPair] = []
        for similarity, one, other in _nearest_pairs(vectors, least, most + MOST_BELONGING):
            posts = catalogue.posts([ids[one], ids[other]])
            if len(posts) == 2 and not _belong_together(*posts.values()):
                pairs.append(SimilarPair(posts[ids[one]], posts[ids[other]], similarity))
            if len(pairs) == most:
                break
        return pairs


def _nearest_pairs(
    vectors: npt.NDArray[np.float32], least: float, most: int
) -> Iterator[tuple[float, int, int]]:
    """Yield the cosine and the rows of the nearest pairs, the nearest first; at most `most` are held at a time."""
    best, ones, others = np.empty(0, np.float32), np.empty(0, np.int64), np.empty(0, np.int64)
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        rows, columns = np.nonzero(np.triu(cosines >= least, start + 1))
        best = np.concatenate([best, cosines[rows, columns]])
        ones, others = np.concatenate([ones, rows + start]), np.concatenate([others, columns])
        kept = np.lexsort((others, ones, -best))[:most]
        best, ones, others = best[kept], ones[kept], others[kept]
    yield from zip(best.tolist(), ones.tolist(), others.tolist(), strict=True)


def beginning(post: Post) -> Post:
    """Return a post to search with: the whole of it, or only its beginning if it is too long for a query."""
    if len(post.title) + len(post.body) <= MAX_CHARACTERS and len(post.formulas) <= MAX_FORMULAS:
        return post
    title, body = post.title[:LONGEST_TITLE], post.body[:FIRST_CHARACTERS]
    left = FIRST_FORMULAS - len(formulas_of(post.id, title, "", post.markup))
    starts = [piece.start for piece in pieces(body, post.markup) if piece.kind == "formula"]
    end = starts[left] if len(starts) > left else len(body)
    return replace(post, title=title, body=body[:end], formulas=())


def similar_to(index: Index, post: Post, most: int) -> list[Hit]:
    """Return posts that say something similar to one, the most similar first, without those that belong to it."""
    with index.archive.reading():
        hits = index.search(beginning(post), k=most + BELONGING)
        posts = index.archive.catalogue.posts([hit.id for hit in hits])
        others = [hit for hit in hits if hit.id in posts and hit.id != post.id]
        return [hit for hit in others if not _belong_together(post, posts[hit.id])][:most]


def _belong_together(one: Post, other: Post) -> bool:
    """Return True for a statement and its proof, a question and its answer, and for two answers of one question."""
    return (
        one.parent == other.id
        or other.parent == one.id
        or (one.parent is not None and one.parent == other.parent)
    )
