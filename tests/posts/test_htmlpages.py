from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.post import Link, Post
from mathamr.posts.reader import detect, read_posts
from mathamr.posts.report import Report


def read(path: Path) -> tuple[dict[str, Post], Report]:
    report = Report()
    return {post.id: post for post in read_posts(path, report)}, report


PAGE = """<!DOCTYPE html>
<html><head><title>Limits &amp; series</title><script>var price = "$5$";</script></head>
<body><nav><a href="index.html">home $n$</a></nav>
<main><h1>Limits</h1><p>Let \\(x&lt;1\\) and <math><mi>y</mi></math>, see
<a href="series/b.html#top">this</a>, <a href='https://example.org/series/b.html'>that</a>, <a href=../out.html>out</a>
and <a href="series/b.html">again</a>.</p></main><footer>$f$</footer></body></html>"""


def test_a_page_becomes_a_note_of_its_main_part(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(PAGE)
    posts, report = read(path)
    post = posts["a.html"]
    assert (post.kind, post.markup) == ("note", "html")
    assert post.title == "Limits &amp; series"
    assert post.body.startswith("<h1>Limits</h1>")
    assert post.formulas[0].latex == "x<1"
    assert len(post.formulas) == 2
    assert "<mi>y</mi>" in (post.formulas[1].presentation_mathml or "")
    assert not report.skipped + report.mended


def test_links_between_pages_of_a_folder_are_kept(tmp_path):
    (tmp_path / "series").mkdir()
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "series" / "b.html").write_text(
        "<html><body><p>Back <a href='../a.html'>up</a></p></body></html>"
    )
    posts, report = read(tmp_path)
    assert list(posts) == ["a.html", "series/b.html"]
    assert posts["a.html"].links == (Link("series/b.html", "mention"),)
    assert posts["series/b.html"].links == (Link("a.html", "mention"),)
    assert not report.skipped


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<html><title> A </title><body><h1>B</h1></body></html>", "A"),
        ("<html><title></title><body><h1 class='x'>B <i>c</i></h1></body></html>", "B <i>c</i>"),
        ("<html><body><p>no title</p></body></html>", ""),
        ("<html><title>never closed", ""),
    ],
)
def test_the_title_is_that_of_the_page_or_its_first_heading(tmp_path, page, title):
    path = tmp_path / "a.html"
    path.write_text(page)
    posts, _ = read(path)
    assert posts["a.html"].title == title


@pytest.mark.parametrize(
    ("page", "body"),
    [
        ("<html><body>all</body></html>", "all"),
        ("<html><body><article>one</article><nav/></body></html>", "one"),
        (
            "<html><body><article>one</article><article>two</article></body></html>",
            "<article>one</article><article>two</article>",
        ),
        ("<html><body>cut off", "cut off"),
        ("<p>a fragment</p>", "<p>a fragment</p>"),
    ],
)
def test_the_body_is_the_part_that_says_something(tmp_path, page, body):
    path = tmp_path / "a.html"
    path.write_text(page)
    posts, _ = read(path)
    assert posts["a.html"].body == body


def test_a_page_in_the_encoding_it_declares_is_read_and_others_are_mended(tmp_path):
    text = '<html><meta charset="iso-8859-2"><body>Erdős</body></html>'
    (tmp_path / "a.html").write_bytes(text.encode("iso-8859-2"))
    (tmp_path / "b.html").write_bytes(text.replace("iso-8859-2", "klingon").encode("iso-8859-2"))
    (tmp_path / "c.html").write_bytes(text.replace("iso-8859-2", "hex").encode("iso-8859-2"))
    posts, report = read(tmp_path)
    assert [post.body for post in posts.values()] == ["Erdős", "Erd\ufffds", "Erd\ufffds"]
    assert dict(report.mended) == {"invalid UTF-8": 2}


def test_pages_are_recognised_without_their_suffix_but_not_for_it_in_other_files(tmp_path):
    page = tmp_path / "page"
    page.write_text("<!-- a --><!-- b --> <!doctype HTML><p>x")
    assert detect(page) == "html"
    hostile = tmp_path / "hostile"
    hostile.write_text("<!-- -->" * 5000 + "{")
    assert detect(hostile) is None
