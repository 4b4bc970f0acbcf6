"""Tests of `PostContent`: a post is parsed once, and what is derived from it equals what each stage derived by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.lexical.terms import post_text
from mathamr.posts.formats.html import pieces as html
from mathamr.posts.formats.markdown import pieces as markdown
from mathamr.posts.markup import formulas_of, pieces
from mathamr.posts.passage import passage
from mathamr.posts.post import Post
from mathamr.posts.postcontent import parse_post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

NOTE = "# Sets\n\nEvery set $x$ has a power set, see [logic](logic.md).\n"


@pytest.mark.parametrize(
    ("name", "text", "module"),
    [("a.md", NOTE, markdown), ("a.html", "<title>A</title><p>Every set $x$.</p>", html)],
)
def test_the_body_of_a_note_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, module: object
) -> None:
    (tmp_path / name).write_text(text)
    parse, parsed = module.pieces, []  # type: ignore[attr-defined]

    def count(source: str, note: object) -> object:
        parsed.append(source)
        return parse(source, note)

    monkeypatch.setattr(module, "pieces", count)
    for post in read_posts(tmp_path, Report()):
        read = parse_post(post)
        assert read.passage == passage(post)
        assert read.text == post_text(post)
    assert parsed.count(post.body) == 1


@pytest.mark.parametrize("markup", ["html", "markdown", "latex", "text", "declaration"])
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
