"""Bibliographies: citations lead to entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.serve.relatedposts import references
from tests.folders import write_files
from tests.posts.reading import read


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.tex", "\\documentclass{article}\\begin{document}See \\cite[p. 3]{zippel}.\\end{document}"),
        ("note.md", "# Note\n\nAs shown in [@zippel, p. 3].\n"),
        ("note.org", "#+TITLE: Note\nAs in cite:zippel it was shown.\n"),
    ],
)
def test_a_citation_leads_to_the_entry(tmp_path: Path, name: str, text: str) -> None:
    posts, _ = read(write_files(tmp_path, {"all.bib": "@book{zippel, title={Polynomials}}", name: text}))
    with Catalogue(tmp_path / CATALOGUE, create=True) as catalogue:
        with catalogue.transaction():
            for post in posts.values():
                catalogue.put(post, "", [])
        found = references(catalogue, posts[name])
        assert {target: each.id for target, each in found.items()} == {"#zippel": "all.bib#zippel"}
        assert catalogue.labelled("zippel") == ["all.bib#zippel"]


def test_the_same_entry_of_two_folders_is_one_post(tmp_path: Path) -> None:
    same, other = "@book{a, title={Sets}, year=1914}\n", "@book{b, title={Rings}}\n"
    files = {"one/all.bib": same + other, "two/all.bib": f"{same}@book{{b, title={{Fields}}}}\n"}
    posts, report = read(write_files(tmp_path, files))
    assert list(posts) == ["one/all.bib#a", "one/all.bib#b", "two/all.bib#b"]
    assert report.skipped["same entry in another file"] == 1


def test_an_entry_that_does_not_begin_its_line_is_read(tmp_path: Path) -> None:
    inside = "@book{d, title={D}, note={write to me@book{x, y} or l@{}r}}\n"
    text = "@book{a, title={A}} @book{b, title={B}}\nSee also: @article{c,\n  title={C}}\n" + inside
    posts, report = read(write_files(tmp_path, {"all.bib": text}))
    assert [post.title for post in posts.values()] == ["A", "B", "C", "D"]
    assert not report.skipped
