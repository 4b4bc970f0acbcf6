"""Tests of `PostContent`: a post is parsed once, and what is derived from it equals what each stage derived by itself."""

from __future__ import annotations

from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.postcontent import parse_post
from tests.cases import cases

NOTE = "# Sets\n\nEvery set $x$ has a power set, see [logic](logic.md).\n"


@cases("markup", ["html", "markdown", "latex", "text", "declaration"])
def test_what_is_derived_equals_what_each_stage_derives(markup: str) -> None:
    post = Post("7", "note", "Let $x > 0$. So $y$.", title="On $z$", markup=markup)  # type: ignore[arg-type]
    read = parse_post(post)
    assert read.passage == passage(post)
    assert read.formulas == formulas_of("7", "On $z$", "Let $x > 0$. So $y$.", markup)
    assert [formula.latex for formula in read.formulas] == ["z", "x > 0", "y"]


def test_repairs_are_reported_every_time() -> None:
    found: list[tuple[str, int]] = []
    for _ in range(2):
        list(pieces("Let $x", "text", lambda message, offset: found.append((message, offset))))
    assert len(found) == 2
    assert found[0] == found[1]
