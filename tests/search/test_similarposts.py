"""Posts that a search starts from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mathamr import Index
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.query import Query
from mathamr.search.similarposts import (
    FIRST_CHARACTERS,
    FIRST_FORMULAS,
    LONGEST_TITLE,
    beginning,
    similar_to,
)
from tests.models import build_sample_index, sample_posts


def test_a_post_too_long_for_a_query_is_searched_by_its_beginning() -> None:
    short = Post("a", "note", "A group.", title="Groups")
    long = Post("a", "note", "A zebra is $x$. " * 5_000, title="t" * 60_000)
    many = Post("a", "note", " ".join(f"$x_{{{n}}}$" for n in range(900)), title="On $y$", formulas=())
    many = replace(many, formulas=formulas_of("a", many.title, many.body, many.markup))
    assert beginning(short) is short
    assert len(Query.of_post(beginning(long)).text) <= FIRST_CHARACTERS + LONGEST_TITLE + 1
    assert len(Query.of_post(beginning(many)).formulas) == FIRST_FORMULAS


def test_a_post_that_says_nothing_is_similar_to_none(tmp_path: Path, model_folder: Path) -> None:
    silent = Post("silent", "note", "—", title="...")
    folder = build_sample_index(tmp_path / "index", model_folder, [*sample_posts(3), silent])
    with Index.open(folder, device="cpu") as index:
        assert similar_to(index, silent, 5) == []
