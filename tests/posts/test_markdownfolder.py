"""Folders of notes become posts: whole or by section, with their links."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.noteoutline import slug
from mathamr.posts.post import Link, Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report

LONG = "Some words about $x$ that fill a section, one after the other, until it is long enough. " * 10


def notes(folder: Path, **files: str) -> tuple[dict[str, Post], Report]:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    report = Report()
    return {post.id: post for post in read_posts(folder, report)}, report


def test_a_short_note_is_one_post(tmp_path: Path) -> None:
    posts, report = notes(
        tmp_path,
        sub__limits="---\ntags: [analysis]\ndate: 2024-01-02\n---\n# Limits\n\nLet $x$.\n\n## More\n$y$",
    )
    (post,) = posts.values()
    assert (post.id, post.title, post.kind, post.markup) == ("sub/limits.md", "Limits", "note", "markdown")
    assert (post.tags, post.date) == (("analysis",), "2024-01-02")
    assert post.body == "\nLet $x$.\n\n## More\n$y$"
    assert [(f.id, f.latex) for f in post.formulas] == [("sub/limits.md:0", "x"), ("sub/limits.md:1", "y")]
    assert not report.skipped
    assert not report.mended


def test_a_long_note_is_a_post_a_section(tmp_path: Path) -> None:
    text = f"# Book\n\nIntro.\n\n## One\n{LONG}\n### Deep\n{LONG}\n## Two\n{LONG}\n```\n# no heading\n```\n## One\n{LONG}"
    posts, _ = notes(tmp_path, book=text)
    assert [(post.id, post.title) for post in posts.values()] == [
        ("book.md", "Book"),
        ("book.md#deep", "Book: One: Deep"),
        ("book.md#two", "Book: Two"),
        ("book.md#one", "Book: One"),
    ]
    assert all(Link("book.md") in post.links for name, post in posts.items() if "#" in name)
    whole = "".join(post.body for post in posts.values())
    assert whole.count("$x$") == text.count("$x$")
    assert "# no heading" in whole


def test_links_between_notes_are_links_of_the_posts(tmp_path: Path) -> None:
    long = f"# C\n{LONG}\n## Part two\n{LONG}\n{LONG}\n{LONG}"
    posts, report = notes(
        tmp_path,
        a="[[B]] [[c#Part two|x]] [rel](sub/c.md) [again](b.md) [out](http://x.org) [[gone]] `[[no]]` [self](#a)",
        b="plain [up](../b.md)",
        sub__c=long,
    )
    assert posts["a.md"].links == (
        Link("b.md", "mention", "B"),
        Link("sub/c.md#part-two", "mention", "x"),
        Link("sub/c.md", "mention", "rel"),
        Link("b.md", "mention", "again"),
    )
    assert all(link.target in posts for post in posts.values() for link in post.links)
    assert report.missing["link to no note"] == 2


def test_a_title_comes_from_front_matter_or_heading_or_name(tmp_path: Path) -> None:
    posts, _ = notes(
        tmp_path, a="---\ntitle: Front\n---\n# Head\ntext", b="Set\n===\ntext", c="text\n# Later"
    )
    assert {name: post.title for name, post in posts.items()} == {"a.md": "Front", "b.md": "Set", "c.md": "c"}
    assert posts["a.md"].body == "# Head\ntext"


def test_what_is_no_note_is_skipped_and_said(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "a.md").write_text("secret")
    (tmp_path / "binary.md").write_bytes(b"\x00\x01\x02")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9 $x$")
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_text("outside")
    (tmp_path / "link.md").symlink_to(outside)
    posts, report = notes(tmp_path, good="fine")
    assert set(posts) == {"good.md", "latin.md"}
    assert posts["latin.md"].body == "caf\ufffd $x$"
    assert (report.skipped.total(), report.ignored.total()) == (1, 1)
    assert report.mended.total() == 1


def test_slugs_are_as_on_github() -> None:
    assert [slug(text) for text in ("A b", "Über $x$?", "!")] == ["a-b", "über-x", "section"]
