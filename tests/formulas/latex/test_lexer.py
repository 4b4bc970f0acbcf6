from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.formulas.latex.lexer import tokenize


def test_commands_end_where_letters_end() -> None:
    assert tokenize(r"\alpha1\,x")[0] == [r"\alpha", "1", r"\,", "x"]


def test_comments_are_dropped_but_not_escaped_percent_signs() -> None:
    assert tokenize("a% b\nc\\%d")[0] == ["a", "c", r"\%", "d"]


def test_a_backslash_at_the_end_is_a_token() -> None:
    assert tokenize("a\\")[0] == ["a", "\\"]


@given(st.text(alphabet=st.characters(exclude_characters="%")))
def test_tokens_are_the_text_in_order(text: str) -> None:
    tokens, offsets = tokenize(text)
    assert "".join(tokens) == text
    assert all(text.startswith(token, offset) for token, offset in zip(tokens, offsets, strict=True))


@given(st.text(alphabet="a\\%\n {}"))
def test_offsets_point_at_the_tokens_also_with_comments(text: str) -> None:
    tokens, offsets = tokenize(text)
    assert all(text.startswith(token, offset) for token, offset in zip(tokens, offsets, strict=True))
