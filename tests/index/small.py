"""Small indexes for the tests of this room: a few posts of the sample, a parser that costs nothing, the tiny model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr.index.indexing.builder import BuildOptions, BuildSummary, build_index
from mathamr.posts.post import Post
from tests.models import PARSER


def options(model: Path, **more: object) -> BuildOptions:
    return BuildOptions(model=model, engine="flat", parser=PARSER, device="cpu", **more)  # type: ignore[arg-type]


def write_posts(path: Path, posts: Sequence[Post]) -> Path:
    path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    return path


def build(
    out: Path, posts: Sequence[Post], model: Path, name: str = "posts.jsonl", **more: object
) -> BuildSummary:
    """An index of these posts, or an update of one to them."""
    return build_index([write_posts(out.parent / name, posts)], out, options(model, **more))


def note(identifier: str, body: str, **more: object) -> Post:
    """A short note as a reader would give it."""
    from mathamr.posts.markup import formulas_of

    formulas = formulas_of(identifier, "", body, "text")
    return Post(identifier, "note", body, markup="text", formulas=formulas, **more)  # type: ignore[arg-type]
