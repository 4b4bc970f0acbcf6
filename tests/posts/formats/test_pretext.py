"""PreTeXt documents: details, damage and entities."""

from __future__ import annotations

from pathlib import Path

from mathamr.posts.format import detect
from tests.folders import write_files
from tests.posts.reading import read_files


def test_xml_is_pretext_only_if_it_looks_like_it(tmp_path: Path) -> None:
    texts = {
        "a.xml": '<?xml version="1.0"?><!-- x --><section xml:id="a"><p>x</p></section>',
        "b.xml": "<book><author>A</author></book>",
        "c.xml": "<article><p>x</p></article>",
        "d.xml": "<pretext><article/></pretext>",
    }
    write_files(tmp_path, texts)
    assert [detect(tmp_path / name) for name in texts] == ["pretext", None, None, "pretext"]


def test_comments_are_not_read_and_damage_ends_the_file(tmp_path: Path) -> None:
    text = "<article><title>T</title><p>Let <!-- no --><m>x</m> be.</p><p>More"
    assert (
        read_files(tmp_path, a_ptx=text)[0]["a.ptx"].body
        == '<p>Let <span class="math-container">$x$</span> be.</p>\n<p>More</p>'
    )


def test_entities_are_refused(tmp_path: Path) -> None:
    text = '<!DOCTYPE a [<!ENTITY x SYSTEM "/etc/passwd">]><article><p>&x;</p></article>'
    posts, report = read_files(tmp_path, a_ptx=text)
    assert posts == {}
    assert report.skipped == {"XML with entities": 1}
