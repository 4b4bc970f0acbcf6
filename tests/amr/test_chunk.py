"""Chunks lose nothing and keep their limit."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.chunk import chunks


def test_a_short_sentence_is_one_chunk() -> None:
    assert chunks("Let FORMULA_0 be prime.") == ["Let FORMULA_0 be prime."]


def test_the_cut_stands_behind_the_strongest_mark() -> None:
    assert chunks("a b c; d e, f g h i j", limit=10) == ["a b c; d e,", "f g h i j"]
    assert chunks("a b c d e; f g, h i j k", limit=10) == ["a b c d e;", "f g, h i j k"]


def test_without_marks_the_limit_cuts() -> None:
    assert [len(piece.split()) for piece in chunks("word " * 1200)] == [500, 500, 200]


def test_text_without_blanks_is_cut_too() -> None:
    pieces = chunks("数" * 50_000)
    assert "".join(pieces) == "数" * 50_000
    assert max(map(len, pieces)) <= 500 * 40


@given(st.text(), st.integers(2, 12))
def test_no_character_but_blanks_is_lost(text: str, limit: int) -> None:
    pieces = chunks(text, limit)
    assert re.sub(r"\s", "", "".join(pieces)) == re.sub(r"\s", "", text)
    assert all(len(re.findall(r"\w{1,40}|[^\w\s]", piece)) <= limit for piece in pieces)
