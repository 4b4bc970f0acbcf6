"""`docs/passages.md` shows what the code does."""

from __future__ import annotations

import doctest
from typing import get_args

from mathamr.posts.formats.markdown.outline import SECTION_FROM, WHOLE_BELOW
from mathamr.posts.passage import SentenceKind
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "passages.md"


def test_the_example_runs() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 5
    assert found.failed == 0


def test_the_numbers_are_those_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"{WHOLE_BELOW} words or more" in text
    assert f"fewer than {SECTION_FROM} words" in text
    assert all(f"`{kind}`" in text for kind in get_args(SentenceKind))
