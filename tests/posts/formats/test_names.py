"""Links between documents: paths, suffixes and labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.formats.names import DocumentNames
from mathamr.posts.formats.outline import OutlinePart, labelled
from tests.posts.reading import read_files

DOCUMENTS = {
    "a/one.md": [
        OutlinePart("note", inside=["sec:late"]),
        OutlinePart("section", label="sec:late", id="late-work"),
    ],
    "a/two.html": [],
    "top.md": [],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", "a/one.md"),
        ("two.html", "a/two.html"),
        ("../top.md", "top.md"),
        ("/top", "top.md"),
        ("one.html", "a/one.md"),
        ("three", None),
        ("../../top.md", None),
    ],
)
def test_a_path_leads_to_a_document_from_another(path: str, found: str | None) -> None:
    assert DocumentNames(DOCUMENTS, DOCUMENTS.__getitem__, (".md",)).document(path, "a/one.md") == found


@pytest.mark.parametrize(
    ("anchor", "found"),
    [
        ("", "a/one.md"),
        ("sec:late", "a/one.md#late-work"),
        ("Late work", "a/one.md#late-work"),
        ("Early#Late work", "a/one.md#late-work"),
        ("nowhere", "a/one.md"),
        ("#", "a/one.md"),
    ],
)
def test_an_anchor_leads_to_the_post_whose_own_label_it_is(anchor: str, found: str) -> None:
    assert DocumentNames(DOCUMENTS, DOCUMENTS.__getitem__).post("a/one.md", anchor) == found


def test_a_document_is_read_again_only_once() -> None:
    read: list[str] = []

    def parts(document: str) -> list[OutlinePart]:
        read.append(document)
        return DOCUMENTS[document]

    names = DocumentNames(DOCUMENTS, parts)
    assert [names.post("a/one.md", anchor) for anchor in ("", "x", "y")] == ["a/one.md"] * 3
    assert read == ["a/one.md"]


def test_the_first_of_several_parts_has_a_label() -> None:
    first, second = (
        OutlinePart("section", label="x", inside=["y"]),
        OutlinePart("section", label="x", inside=["y", ""]),
    )
    assert labelled([first, second]) == {"x": first, "y": first}


def test_a_page_may_name_another_from_the_root_of_its_folder(tmp_path: Path) -> None:
    page = '<p>See <a href="/docs/b.html">b</a>.</p>'
    posts, _ = read_files(tmp_path, docs__a_html=page, docs__b_html="<p>Words</p>")
    assert [link.target for link in posts["docs/a.html"].links] == ["docs/b.html"]
