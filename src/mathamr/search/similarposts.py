"""`similar_to`: posts that say something similar to one."""

from __future__ import annotations

from dataclasses import replace

from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.post import Post
from mathamr.search.hits import Hit
from mathamr.search.query import MAX_CHARACTERS, MAX_FORMULAS, EmptyQueryError
from mathamr.search.searcher import Index

BELONGING = 10
"""About how many posts belong to one: its answers, its proof."""
LONGEST_TITLE, FIRST_CHARACTERS, FIRST_FORMULAS = 1_000, 10_000, 100
"""What of a post is searched with, if it is too long for a query: characters of its title and body, and formulas."""


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
    """Return posts that say something similar to one, the most similar first, without those that belong to it; none if it says nothing."""
    with index.archive.reading():
        try:
            hits = index.search(beginning(post), k=most + BELONGING)
        except EmptyQueryError:
            return []
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
