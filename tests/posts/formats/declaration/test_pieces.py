"""The pieces of declarations."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mathamr.posts.formats.declaration import pieces as declaration
from mathamr.posts.formats.markdown import pieces as markdown
from mathamr.posts.markup.piece import ignore

LINES = st.lists(st.text("ab:= \t`~|∀{}\\$<>-#*1.", max_size=12), min_size=1, max_size=4)


@given(LINES)
@example(["theorem a (x : ℕ) :", "    x = x + 0"])
@example(["\tindented", "", "~~~"])
def test_code_alone_is_read_as_markdown_reads_it(lines: list[str]) -> None:
    text = "```lean\n" + "\n".join(lines) + "\n```\n"
    found = list(declaration.pieces(text, ignore))
    expected = list(markdown.pieces(text, ignore))
    assert [piece for piece in found if piece.kind != "formula" and piece.text != "paragraph"] == expected


@pytest.mark.parametrize("text", ["```lean\na\n```\nMore.\n", "Words.\n\n```lean\na\n```\n", "```lean\na\n"])
def test_other_texts_are_left_to_markdown(text: str) -> None:
    assert list(declaration.pieces(text, ignore)) == list(markdown.pieces(text, ignore))
