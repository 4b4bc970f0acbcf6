"""A long name and many short sections do not multiply: what posts hold is in proportion to what was read, and what is cut is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.bounds import FREELY, LONGEST_TITLE, bounded_title, cut_title, keep_bounds
from mathamr.posts.post import Post
from mathamr.posts.report import Report
from tests.posts.documents import zipped
from tests.posts.reading import read

NAME = "a long name $x$ " * 2000
WORDS = "one two three four five six seven eight " * 6
MANY = 150
CONTAINER = '<container><rootfile full-path="b.opf"/></container>'
PACKAGE = '<package><manifest><item id="a" href="a.html" media-type="text/html"/></manifest><spine><itemref idref="a"/></spine></package>'
SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PAGE = f"<h1>{NAME}</h1>" + f"<h2>b</h2><p>{WORDS}</p>" * MANY


def styled(style: str, words: str) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{words}</w:t></w:r></w:p>'


BODY = styled("heading 1", NAME) + (styled("heading 2", "b") + styled("", WORDS)) * MANY
DOCUMENTS: dict[str, str | bytes] = {
    "a.html": PAGE,
    "a.epub": zipped({"META-INF/container.xml": CONTAINER, "b.opf": PACKAGE, "a.html": PAGE}),
    "a.docx": zipped({"word/document.xml": f"<w:document {SPACE}><w:body>{BODY}</w:body></w:document>"}),
    "a.md": f"# {NAME}\n\n" + f"## b\n\n{WORDS}\n\n" * MANY,
    "tags.md": f"---\ntags: [{', '.join(f'tag{n}' for n in range(6000))}]\n---\n" + f"## b\n\n{WORDS}\n\n" * MANY,
    "a.org": f"#+title: {NAME}\n" + f"* b\n{WORDS}\n" * MANY,
    "a.adoc": f"= {NAME}\n\n" + f"== b\n\n{WORDS}\n\n" * MANY,
    "a.ptx": f"<article><title>{NAME}</title>" + f"<section><title>b</title><p>{WORDS}</p></section>" * MANY + "</article>",
    "references.ptx": f"<article><section xml:id='s'><title>{NAME}</title><p>" + "<xref ref='s'/>" * 1000 + "</p></section></article>",
    "a.xml": f"<mediawiki><page><title>{NAME}</title><revision><text>" + f"== b ==\n{WORDS}\n" * MANY + "</text></revision></page></mediawiki>",
    "a.bib": f"@string{{a={{{NAME}}}}}\n" + "".join(f"@book{{k{n}, title=a, abstract=a # a}}\n" for n in range(MANY)),
    "names.lean": f"namespace {'a' * 30_000}\n" + "theorem b : c := d\n" * MANY,
    "parts.lean": f"namespace {'.'.join('a' * 4000)}\n" + "theorem b : c := d\n" * MANY,
    "variables.lean": f"variable (x : {'y' * 2900})\n" * 30 + "theorem b : x = x := d\n" * MANY,
    "a.v": f"(** Words. *)\nModule {'a' * 30_000}.\n" + "Lemma b : c.\n" * MANY,
    "a.tex": f"\\newcommand{{\\a}}{{{'x' * 900}}}" + f"\\section{{b}} {WORDS} $\\a$\n\n" * MANY,
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_names_do_not_multiply(tmp_path: Path, name: str) -> None:
    source = DOCUMENTS[name]
    (tmp_path / name).write_bytes(source if isinstance(source, bytes) else source.encode())
    posts, report = read(tmp_path / name)
    written = sum(
        len(post.title) + len(post.body) + sum(map(len, (*post.tags, *post.macros, *post.keywords)))
        for post in posts.values()
    )
    assert posts
    assert written < 3 * (len(source) if isinstance(source, str) else len(PAGE) + len(BODY)) + 3 * FREELY
    whole = name in ("tags.md", "variables.lean", "a.tex", "references.ptx")
    assert whole or set(report.skipped) <= {"title too long", "repeated names", "output too large"}
    assert whole or report.skipped


def test_the_headings_above_are_left_out_of_a_title_before_its_own() -> None:
    report = Report()
    assert bounded_title(["Limits", "Series"], report) == "Limits: Series"
    assert bounded_title(["Limits " * 100, "Series"], report) == "Series"
    assert bounded_title([f"<math>{'<mi>x</mi>' * 100}</math>", "Series"], report).endswith(": Series"), (
        "tags are not seen"
    )
    assert report.skipped == {"title too long": 1}


def test_a_title_is_cut_between_words_and_not_in_a_tag() -> None:
    report = Report()
    assert cut_title("word " * 2000, report) == "word " * 799 + "word"
    assert cut_title("x" * (LONGEST_TITLE - 3) + "<mi>x</mi>", report) == "x" * (LONGEST_TITLE - 3)
    assert report.skipped == {"title too long": 2}


def test_a_reader_that_writes_more_than_it_reads_is_stopped_and_counted(tmp_path: Path) -> None:
    file, report = tmp_path / "a.md", Report()
    file.write_text("Words.")

    def posts():
        for number in range(100):
            report.at(str(file))
            yield Post(f"a{number}", "note", "x" * 100_000)

    assert len(list(keep_bounds(posts(), report))) == 10
    assert report.skipped == {"output too large": 90}
    assert report.incomplete == {str(file)}
