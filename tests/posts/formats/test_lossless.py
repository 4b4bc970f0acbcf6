"""Text that readers lost in silence is read, or counted as left out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from mathamr.posts.format import detect
from mathamr.posts.passage import passage
from tests.cases import cases
from tests.folders import write_files
from tests.posts.documents import zipped
from tests.posts.reading import read


@cases(
    ("name", "text"),
    [
        ("a.ipynb", json.dumps({"title": "A", "cells": [{"cell_type": "markdown", "source": "needle"}]})),
        ("a.md", '{"title": "A", "date": "2020"}\n\nneedle\n'),
        ("a.org", '{"title": "A"}\n\nneedle\n'),
        ("a.md", 'A dump has rows: `<row Id="1" PostTypeId="1"/>`.\n\nneedle\n'),
        ("a.tex", '% <row Id="1" PostTypeId="1"/>\nneedle\n'),
        ("a.md", "Dumps of wikis begin with `<mediawiki>`.\n\nneedle\n"),
        ("a.rst", "A file begins with ``%PDF-1.7``.\n\nneedle\n"),
        ("a.adoc", "<html> is a tag.\n\nneedle\n"),
    ],
)  # fmt: skip
def test_a_file_with_the_marks_of_another_format_is_read_by_its_name(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    posts, report = read(tmp_path / name)
    assert "needle" in "".join(post.body for post in posts.values())
    assert not report.skipped


UNCLOSED = {
    "adoc": ["----", "....", "////", "++++", "====", "|===", "```", "[stem]\n++++", "--", "[theorem]\n===="],
    "org": [
        "#+begin_src", "#+begin_comment", "#+begin_export html", "#+begin_theorem", ":PROPERTIES:\n:a: b", ":LOGBOOK:\nCLOCK: 1",
        "* a\n:PROPERTIES:", "\\[ x", "\\begin{align}",
    ],
    "md": ["```", "~~~", "$$", "<!--", "%%", "::: theorem", "---\na: b\n", "<div>", "<script>", "\\["],
    "rst": ["::", ".. note::", "\"\"\"", "+--"],
    "html": ["<!--", "<script>", "<nav>", "<math>", "<form>", "<style>", "<svg>", "<select>", "<p hidden>"],
    "typ": ["/*", "```", "$", "#theorem[", "#let a = ["],
    "tex": ["\\begin{theorem}", "\\begin{verbatim}", "\\begin{comment}", "\\[", "$", "\\footnote{", "\\iffalse"],
    "txt": ["$$", "\\["],
    "bib": ["@book{b, title={"],
    "lean": ["/-", '"'],
    "v": ["(*", '"'],
}  # fmt: skip


@cases(
    ("suffix", "opening"),
    [(suffix, opening) for suffix, openings in UNCLOSED.items() for opening in openings],
)
def test_text_behind_what_is_never_closed_is_read_or_counted(
    tmp_path: Path, suffix: str, opening: str
) -> None:
    before = {"lean": "/-- Words. -/\ntheorem a : b := c\n", "v": "(** Words. *)\nLemma a : b.\n"}.get(
        suffix, ""
    )
    before = before or (
        "@book{a, title={A}}\n" if suffix == "bib" else "---" * opening.startswith("---") or "Words.\n"
    )
    before = "" if opening.startswith("---\n") else before
    (tmp_path / f"a.{suffix}").write_text(f"{before}\n{opening}\n\nneedle\n\nmore words\n")
    posts, report = read(tmp_path / f"a.{suffix}")
    said = " ".join(passage(post).text for post in posts.values())
    assert "needle" in said or report.skipped, (said, report.lines())


@cases(
    ("name", "source"),
    [
        ("a.adoc", "A footnote:[needle] here."),
        ("a.adoc", ".needle\nA paragraph."),
        ("a.adoc", ".needle\n----\ncode\n----"),
        ("a.adoc", "image::a.png[needle]"),
        ("a.adoc", ".needle\nimage::a.png[]"),
        ("a.adoc", "Press kbd:[needle]."),
        ("a.adoc", "= Title\nAuthor\n1.0\nneedle"),
        ("a.org", "A[fn:: needle] here."),
        ("a.org", "#+caption: needle\n[[file:a.png]]"),
        ("a.org", ":PROPERTIES:\n:a: b\nneedle\n:END:"),
        ("a.org", ":LOGBOOK:\n- needle\n:END:"),
    ],
)  # fmt: skip
def test_notes_captions_and_titles_of_blocks_are_read(tmp_path: Path, name: str, source: str) -> None:
    (tmp_path / name).write_text(f"{source}\n\nWords.\n")
    posts, _ = read(tmp_path / name)
    assert "needle" in " ".join(passage(post).text for post in posts.values())
    assert ":END:" not in " ".join(post.body for post in posts.values())


CONTAINER = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
PACKAGE = (
    '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)


@pytest.mark.parametrize("is_listed", [True, False])
def test_an_encrypted_page_is_counted_and_not_read_as_noise(tmp_path: Path, is_listed: bool) -> None:
    noise = random.Random(1).randbytes(38_000)
    members: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "b.opf": PACKAGE,
        "a.xhtml": "<html><body><p>Words.</p></body></html>",
        "b.xhtml": noise,
    }
    if is_listed:
        reference = '<encryption><EncryptedData><CipherData><CipherReference URI="b.xhtml"/></CipherData></EncryptedData></encryption>'
        members["META-INF/encryption.xml"] = reference
    (tmp_path / "a.epub").write_bytes(zipped(members))
    posts, report = read(tmp_path / "a.epub")
    assert sum(len(post.body) for post in posts.values()) < 100
    assert report.skipped == {"encrypted page" if is_listed else "damaged page": 1}
    assert report.incomplete


def test_a_document_with_a_password_is_explained(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "Words."})
    (tmp_path / "b.docx").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
    assert detect(tmp_path / "b.docx") is None
    _, report = read(tmp_path)
    assert "password" in str(report.examples["not posts: .docx files"][0])
