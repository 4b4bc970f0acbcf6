"""Front matter: the common forms are read, the rest is reported, and no note is lost to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.frontmatter import FrontMatter
from mathamr.posts.report import Report


@pytest.mark.parametrize(
    ("head", "title", "tags", "date"),
    [
        (
            "---\ntitle: On limits\ntags: [a, 'b c']\ndate: 2024-05-01 # then\n---\n",
            "On limits",
            ("a", "b c"),
            "2024-05-01",
        ),
        ("---\nTitle: 'It: works'\ntags:\n  - x\n- '#y'\n---\n", "It: works", ("x", "y"), None),
        ("---\ntags: one, two three\n...\n", "", ("one", "two", "three"), None),
        ("---\n# a comment\nkeywords: k\nnested:\n  deep: 1\n---\n", "", ("k",), None),
        ('+++\ntitle = "T"\ndate = 2024-05-01\n[taxonomies]\ntags = ["a"]\n+++\n', "T", ("a",), "2024-05-01"),
        ("---\r\ntitle: T\r\ntags: [a]\r\n---\r\n", "T", ("a",), None),
        ("---\n---\n", "", (), None),
    ],
)
def test_front_matter_is_read(head: str, title: str, tags: tuple[str, ...], date: str | None) -> None:
    report = Report()
    found = FrontMatter.read(head + "text", report)
    assert (found.title, found.tags, found.date) == (title, tags, date)
    assert (head + "text")[found.end :] == "text"
    assert not report.mended


@pytest.mark.parametrize("text", ["text", "---\nnever closed", "---\nJust a rule.\n---\nmore", "", "--- x"])
def test_what_is_no_front_matter_stays_text(text: str) -> None:
    assert FrontMatter.read(text, Report()) == FrontMatter()


def test_lines_that_are_not_understood_are_reported() -> None:
    report = Report()
    assert FrontMatter.read("---\ntitle: t\n{odd\n---\n", report).title == "t"
    assert FrontMatter.read("+++\nnot toml\n+++\n", report).title == ""
    assert report.mended["front matter"] == 2


@given(
    st.lists(
        st.sampled_from(["---\n", "a: b\n", "- c\n", "[", "x", " ", ":", "'", "\n", "+++\n", "= 1\n"])
    ).map("".join)
)
def test_any_head_gives_front_matter_inside_the_text(text: str) -> None:
    assert 0 <= FrontMatter.read(text, Report()).end <= len(text)
