"""Payloads of posts and formulas computed from the posts themselves, even if an engine has no entry for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Payload
from mathamr.posts.post import Post


def is_tagged_by_question(post: Post) -> bool:
    """Return True if a post gets the tags of its question, since forums tag questions only."""
    return post.role == "answer" and not post.tags


def payload_of(post: Post, tags: tuple[str, ...] | None = None) -> Payload:
    """Return the payload of a post; `tags` replaces its own tags with those of its question."""
    return Payload(
        kind=post.kind,
        tags=post.tags if tags is None else tags,
        date=post.date,
        score=post.score,
        source=post.source,
    )


def post_payloads(catalogue: Catalogue, ids: Sequence[str]) -> dict[str, Payload]:
    """Return the payloads of posts; unknown ids are left out."""
    posts = catalogue.posts(ids)
    tags = question_tags(catalogue, list(posts.values()))
    return {post_id: payload_of(post, tags.get(post_id)) for post_id, post in posts.items()}


def question_tags(catalogue: Catalogue, posts: Sequence[Post]) -> dict[str, tuple[str, ...]]:
    """Return the tags that answers among some posts get from their questions, by the answers' ids."""
    asked = {post.id: post.parent for post in posts if post.parent and is_tagged_by_question(post)}
    questions = catalogue.posts(sorted(set(asked.values())))
    return {name: questions[parent].tags for name, parent in asked.items() if parent in questions}


def formula_payloads(catalogue: Catalogue, ids: Sequence[str]) -> dict[str, Payload]:
    """Return the payloads of formulas, which are those of their posts; unknown ids are left out."""
    formulas = catalogue.formulas(ids)
    posts = post_payloads(catalogue, list({entry.post for entry in formulas.values()}))
    return {
        formula_id: replace(posts[entry.post], post=entry.post, visual=entry.visual)
        for formula_id, entry in formulas.items()
        if entry.post in posts
    }
