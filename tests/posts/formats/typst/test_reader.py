from __future__ import annotations

from pathlib import Path

from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


def test_items_of_a_list_are_items_and_what_follows_is_a_paragraph(tmp_path: Path) -> None:
    (tmp_path / "a.typ").write_text("= Title\n\nWords.\n\n- one\n- two\n\nAfter.\n")
    (post,) = read_posts(tmp_path / "a.typ", Report())
    assert [each in post.body for each in ("<li>one</li>", "<li>two</li>", "<p>After.</p>")] == [True] * 3
