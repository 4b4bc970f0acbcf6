"""Hits say where they stand, as `file:line`, in every format that people open at a line."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from tests.cases import cases

EXAMPLES = Path(__file__).parent / "examples"
TABLES = {"arqmath", "stackexchange", "jsonl"}
"""Tables of posts, which have ids and sources of their own instead of places."""


@cases("folder", sorted(each.name for each in EXAMPLES.iterdir() if each.is_dir()))
def test_every_post_of_a_document_has_a_file_and_a_line(folder: str) -> None:
    for post in read_posts(EXAMPLES / folder, Report()):
        if folder in TABLES and post.place is None:
            assert post.source
            continue
        assert post.place is not None, post.id
        assert post.place.path.endswith(tuple("abcdefghijklmnopqrstuvwxyz"))
        assert str(post.place) in (
            f"{post.place.path}:{post.place.line}",
            f"{post.place.path}, cell {post.place.cell}",
        )
