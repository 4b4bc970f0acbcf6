"""PreTeXt documents: details, damage and entities."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.format import detect
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


def test_xml_is_pretext_only_if_it_looks_like_it(tmp_path: Path) -> None:
    texts = {
        "a.xml": '<?xml version="1.0"?><!-- x --><section xml:id="a"><p>x</p></section>',
        "b.xml": "<book><author>A</author></book>",
        "c.xml": "<article><p>x</p></article>",
        "d.xml": "<pretext><article/></pretext>",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert [detect(tmp_path / name) for name in texts] == ["pretext", None, None, "pretext"]


def test_comments_are_not_read_and_damage_ends_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text("<article><title>T</title><p>Let <!-- no --><m>x</m> be.</p><p>More")
    (post,) = read_posts(tmp_path, Report())
    assert post.body == '<p>Let <span class="math-container">$x$</span> be.</p>\n<p>More</p>'


def test_entities_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(
        '<!DOCTYPE a [<!ENTITY x SYSTEM "/etc/passwd">]><article><p>&x;</p></article>'
    )
    report = Report()
    assert list(read_posts(tmp_path, report)) == []
    assert report.skipped == {"XML with entities": 1}
