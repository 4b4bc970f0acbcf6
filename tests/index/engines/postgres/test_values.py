"""Texts that Postgres cannot store."""

from __future__ import annotations

import pytest

from mathamr.index.engines.postgres.values import escaped, unescaped


@pytest.mark.parametrize(
    "word", ["", "a", "\0", "\ue000", "\ue000\ue001", "\0\ue000\ue000\0", "\ue001\0\ue001"]
)
def test_every_text_comes_back_from_what_can_be_kept(word: str) -> None:
    assert "\0" not in escaped(word)
    assert unescaped(escaped(word)) == word
