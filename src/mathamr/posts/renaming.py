"""Other names for the same: what refers to a post or to its formulas when the post gets another id.

Readers make the ids of formulas from that of their post: `topology.md:3` is the fourth formula of `topology.md`.
"""

from __future__ import annotations

from dataclasses import replace

from mathamr.posts.post import Post


def renamed(reference: str, old: str, new: str) -> str:
    """A reference to a post or to one of its formulas, under the post's new id; any other stays.

    >>> renamed("a.md:3", "a.md", "b.md"), renamed("a.md", "a.md", "b.md"), renamed("17", "a.md", "b.md")
    ('b.md:3', 'b.md', '17')
    """
    return new + reference[len(old) :] if reference == old or reference.startswith(f"{old}:") else reference


def with_id(post: Post, identifier: str) -> Post:
    """The same post under another id, its formulas too."""
    formulas = tuple(replace(each, id=renamed(each.id, post.id, identifier)) for each in post.formulas)
    return replace(post, id=identifier, formulas=formulas)
