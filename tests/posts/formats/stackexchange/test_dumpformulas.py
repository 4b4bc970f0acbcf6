from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.formats.stackexchange.dumpformulas import dump_formulas
from mathamr.posts.markup import formulas_of
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

CONTAINER = '<span class="math-container"{}>{}</span>'
CONTENTS = [
    "$x$",
    "$$y=1.$$",
    "$a &lt; b,$",
    "$$",
    "$ $",
    "\\(z\\)",
    "\\[w\\]",
    "bare",
    "",
    "$x\\$",
    "$x \\quad$",
]
SOUP = [
    "<p>", "</p>", "text ", "<em>", "</em>", "<code>", "</code>", "<pre>", "</pre>", "$", "\\", "\\(", "&lt;", "<", "< ", ">",
    '<a href="b">', "</a>", '<img src="a" alt="b">', '<img alt="$v$">', "<math><mi>q</mi></math>", "<!--", "-->", "<script>",
    "</script>", '<div class="math">', "</div>", '"', "'", "\n", "<span>", "</span>", '<span class="math-container">', "<style>",
]  # fmt: skip
PARTS = st.one_of(
    st.sampled_from(SOUP),
    st.builds(
        CONTAINER.format,
        st.sampled_from(["", ' id="5"', ' id="6"', ' id=""', ' class="x"']),
        st.sampled_from(CONTENTS),
    ),
)
BODIES = st.lists(PARTS, max_size=12).map("".join)


def both(title: str, body: str) -> tuple[tuple[object, ...], tuple[object, ...]]:
    short, long = Report(), Report()
    found = dump_formulas("1", title, body, short.note), formulas_of("1", title, body, "html", long.note)
    assert short.to_dict() == long.to_dict()
    return found


@given(st.sampled_from(["", "plain", "On $x$", "<b>&lt;</b>", CONTAINER.format(' id="5"', "$t$")]), BODIES)
def test_the_fast_path_finds_what_reading_the_markup_finds(title, body):
    short, long = both(title, body)
    assert short == long


def test_the_fast_path_is_taken_for_a_plain_body(monkeypatch):
    monkeypatch.setattr("mathamr.posts.formats.stackexchange.dumpformulas.formulas_of", None)
    first, second = CONTAINER.format(' id="7"', "$x &gt; 1,$"), CONTAINER.format("", "$$y$$")
    body = f'<p>Let {first} <a href="u">u</a> {second}</p>'
    found = dump_formulas("1", "Why?", body, Report().note)
    assert [(f.id, f.latex, f.display) for f in found] == [("7", "x > 1", False), ("1:1", "y", True)]


@pytest.mark.slow
def test_both_paths_agree_on_real_posts(data):
    posts = read_posts(data / "arqmath-mini" / "Posts.xml", Report(), format="stackexchange")
    for post in islice(posts, 0, None, 4):
        short, long = both(post.title, post.body)
        assert short == long
