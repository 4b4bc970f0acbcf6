"""`similar_posts`: pairs of posts that say nearly the same, in other words or with renamed variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.posts.post import Post
from mathamr.search.fragment import plain
from mathamr.search.hitbuilder import titled
from mathamr.search.searcher import Index
from mathamr.search.snippet import title
from mathamr.systems.ranking import Nearest

SIMILAR = 0.9
"""The cosine from which two posts are taken to say nearly the same."""
MOST_POSTS = 50_000
"""Posts that are compared, each with each."""
_BLOCK = 1_000


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two posts and the cosine of their document vectors."""

    first: Post
    second: Post
    similarity: float

    def to_json(self, parents: Mapping[str, Post]) -> dict[str, Any]:
        """The ids, titles and places of both, and their similarity; a proof has the title of its theorem."""
        return {
            "similarity": round(self.similarity, 4),
            "posts": [
                {
                    "id": post.id,
                    "kind": post.kind,
                    "title": plain(title(titled(post, parents))),
                    "source": post.source,
                    "place": post.place.to_dict() if post.place else None,
                }
                for post in (self.first, self.second)
            ],
        }


def similar_posts(index: Index, least: float = SIMILAR, most: int = 100) -> list[SimilarPair]:
    """The most similar pairs of posts, the most similar first; a theorem and its own proof are not compared."""
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
        found: list[tuple[float, int, int]] = []
        for start in range(0, len(ids), _BLOCK):
            cosines = vectors[start : start + _BLOCK] @ vectors.T
            for row, column in np.argwhere(cosines >= least).tolist():
                if column > start + row:
                    found.append((float(cosines[row, column]), start + row, column))
        found.sort(key=lambda each: (-each[0], each[1], each[2]))
        pairs: list[SimilarPair] = []
        for similarity, one, other in found:
            posts = catalogue.posts([ids[one], ids[other]])
            if len(posts) == 2 and not _belong_together(*posts.values()):
                pairs.append(SimilarPair(posts[ids[one]], posts[ids[other]], similarity))
            if len(pairs) == most:
                break
        return pairs


def _belong_together(one: Post, other: Post) -> bool:
    """True for a statement and its proof, a question and its answer, and for two answers of one question."""
    return (
        one.parent == other.id
        or other.parent == one.id
        or (one.parent is not None and one.parent == other.parent)
    )
