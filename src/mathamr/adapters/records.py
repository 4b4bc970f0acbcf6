"""Posts, hits and explanations as plain data with provenance, for language models and tool chains."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.search.alignment import Alignment
from mathamr.search.fragment import formulas_by_id, fragments, plain
from mathamr.search.hits import Hit

LONGEST_TEXT = 20_000
"""Characters of a post; a note says that the rest is missing."""


def readable(post: Post, longest: int = LONGEST_TEXT) -> str:
    """Return a post as text without markup, title first, formulas between dollar signs.

    >>> readable(Post("1", "note", "<p>Let <b>all</b> be.</p>", "On sums"))
    'On sums\\n\\nLet all be.'
    """
    formulas = formulas_by_id(post)
    title: list[str] = []
    body: list[str] = []
    room = longest
    for sentence in passage(post).sentences:
        text = plain(fragments(sentence, formulas, post))
        if len(text) > room:
            body.append("… (the rest of this post is left out)")
            break
        room -= len(text)
        (title if sentence.field == "title" else body).append(text)
    return "\n\n".join(part for part in (" ".join(title), " ".join(body)) if part)


def within_budget(rows: Iterable[dict[str, Any]], longest: int) -> Iterator[dict[str, Any]]:
    """Yield rows while they have at most so many characters as JSON, and the first in any case.

    >>> [row["a"] for row in within_budget([{"a": 1}, {"a": 2}, {"a": 3}], 20)]
    [1, 2]
    """
    room = longest
    for number, row in enumerate(rows):
        room -= len(json.dumps(row, ensure_ascii=False))
        if number and room < 0:
            return
        yield row


def provenance(hit: Hit) -> dict[str, Any]:
    """Return where a hit comes from and why it was found."""
    found: dict[str, Any] = {
        "id": hit.id,
        "rank": hit.rank,
        "match": hit.match,
        "reason": hit.reason,
        "score": round(float(hit.score), 6),
        "evidence": {name: round(float(score), 6) for name, score in hit.evidence.items()},
        "kind": hit.kind,
        "title": plain(hit.title),
        "snippet": plain(hit.snippet),
        "tags": list(hit.tags),
        "parent": hit.parent,
        "date": hit.date,
        "as_of": hit.as_of,
        "is_deleted": hit.is_deleted,
        "source": hit.source,
        "line": hit.place.line if hit.place else None,
    }
    if hit.formula is not None:
        found["formula"] = {
            "id": hit.formula.id,
            "latex": hit.formula.latex,
            "places": hit.formula.places,
        }
    return found


def explanation(alignment: Alignment) -> dict[str, Any]:
    """Return the part of the post that matches each part of the query best, the most similar pairs first."""
    pairs = [
        {
            "query": {"level": match.query.level, "text": match.query.text},
            "post": {
                "level": match.post.level,
                "text": match.post.text,
                "field": match.post.field,
                "start": match.post.start if match.post.field else None,
                "end": match.post.end if match.post.field else None,
            },
            "similarity": round(match.similarity, 4),
        }
        for match in sorted(alignment.matches, key=lambda match: -match.similarity)
    ]
    return {
        "id": alignment.post_id,
        "title": alignment.title,
        "score": round(alignment.score, 6),
        "matches": pairs,
    }
