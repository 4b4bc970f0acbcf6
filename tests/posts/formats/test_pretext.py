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


BOOK = """<pretext xmlns:xi="http://www.w3.org/2001/XInclude"><book><title>B</title>
<frontmatter><preface><p>Words</p></preface></frontmatter>
<chapter xml:id="ch"><title>One</title><introduction><definition xml:id="d"><statement><p>Let <m>x</m> be.</p></statement></definition>
</introduction>
<section xml:id="s1"><title>S</title><theorem xml:id="t"><title>Euler</title><statement><p>So.</p></statement></theorem>
<figure xml:id="f"><caption>C</caption></figure><example xml:id="e"><p>Take <m>a + b</m> and many more words than a title of a page can
hold, all in one line.</p><p><md><mrow xml:id="q" number="yes">x</mrow><mrow>y</mrow></md></p></example>
<exercise xml:id="i"><p>Inline</p></exercise><p><me>z</me></p></section><xi:include href="two.ptx"/>
<exercises xml:id="cx"><exercise xml:id="x"><p>Last</p></exercise></exercises></chapter>
<backmatter><appendix xml:id="a"><title>More</title><lemma xml:id="l"><statement><p>So</p></statement></lemma></appendix></backmatter>
</book></pretext>"""
TWO = """<section xml:id="s2"><title>T</title><lemma xml:id="m"><statement><p>By <xref ref="t"/>, <xref ref="q"/>, <xref ref="s1"/>,
<xref ref="u"/>.</p></statement></lemma><aside xml:id="u"><title>Why</title><p>Because</p></aside>
<exercises><exercise xml:id="y"><p>First</p></exercise><exercisegroup><exercise xml:id="z"><p>Second</p></exercise></exercisegroup>
</exercises></section>"""
PUBLICATION = "<publication><numbering><blocks level='{}'/></numbering></publication>"


def _titles(folder: Path, **files: str) -> dict[str, str]:
    posts, _ = read_files(folder, main_ptx=BOOK, two_ptx=TWO, **files)
    return {
        post.place.label: post.title
        for post in posts.values()
        if post.place and post.kind not in ("note", "section")
    }


def test_blocks_and_exercises_have_the_numbers_of_pretext(tmp_path: Path) -> None:
    titles = _titles(tmp_path, publication__publication_ptx=PUBLICATION.format(2))
    assert titles == {
        "d": "Definition 1.0.1: Let $x$ be",
        "t": "Theorem 1.1.1 (Euler)",
        "e": "Example 1.1.3: Take $a + b$ and many more words than a title of a page can…",
        "i": "Exercise 1.1.4: Inline",
        "m": "Lemma 1.2.1: By",
        "y": "Exercise 1.2.1: First",
        "z": "Exercise 1.2.2: Second",
        "x": "Exercise 1.3.1: Last",
        "l": "Lemma A.0.1: So",
    }
    titles = _titles(tmp_path, publication__publication_ptx=PUBLICATION.format(1))
    assert [titles[label].split(":")[0] for label in "dteiml"] == [
        "Definition 1.1", "Theorem 1.2 (Euler)", "Example 1.4", "Exercise 1.5", "Lemma 1.6", "Lemma A.1",
    ]  # fmt: skip


def test_no_number_is_shown_where_it_is_not_sure(tmp_path: Path) -> None:
    titles = _titles(tmp_path)
    assert titles["t"] == "Theorem (Euler)"
    titles = _titles(
        tmp_path, publication__a_xml=PUBLICATION.format(1), publication__b_xml=PUBLICATION.format(2)
    )
    assert titles["i"] == "Exercise: Inline"


def test_cross_references_show_numbers_or_kind_and_title(tmp_path: Path) -> None:
    posts, _ = read_files(tmp_path, main_ptx=BOOK, two_ptx=TWO, publication__p_ptx=PUBLICATION.format(2))
    lemma = next(post for post in posts.values() if post.place and post.place.label == "m")
    assert [(link.words, link.number) for link in lemma.links] == [
        ("Theorem 1.1.1", "1.1.1"), ("(1.1.1)", "1.1.1"), ("Section 1.1", "1.1"), ("aside (Why)", ""),
    ]  # fmt: skip


def test_xml_with_dollars_says_that_it_is_not_pretext(tmp_path: Path) -> None:
    text = "<article xml:id='a'><p>Let $x$, $y$ and $z_1$ be <m>w</m>, for $5 and 6$.</p></article>"
    assert read_files(tmp_path, a_ptx=text)[1].repaired == {"formulas between dollars": 1}


def test_comments_in_titles_and_paragraphs_are_no_text(tmp_path):
    source = "<section xml:id='s'><title>On <!-- no --> groups</title><p>One<!-- two --> word <xref ref='s'/>.</p></section>"
    posts, report = read_files(tmp_path, a_ptx=f"<article><title>A</title>{source}</article>")
    assert not report.skipped
    assert "On groups" in "".join(f"{post.title} {post.body}" for post in posts.values())


def test_open_problems_are_posts_of_their_own(tmp_path: Path) -> None:
    text = "".join(
        f'<open{each} xml:id="{each}"><p>Is it so?</p></open{each}>' for each in ("problem", "conjecture")
    )
    posts, _ = read_files(tmp_path, a_ptx=f"<article><title>T</title><p>Words</p>{text}</article>")
    assert {post.place.label: post.kind for post in posts.values() if post.place} == {
        "": "note",
        "problem": "problem",
        "conjecture": "conjecture",
    }


def test_a_theorem_that_is_still_to_be_written_is_found_by_its_name(tmp_path):
    sections = "<section><title>A</title><p>Words.</p><theorem><title>Urysohn</title><statement/></theorem><theorem/></section>"
    posts, _ = read_files(tmp_path, a_ptx=f"<pretext><article>{sections}</article></pretext>")
    assert [post.title for post in posts.values()] == ["a", "Theorem (Urysohn)"]


def test_a_last_section_that_is_still_to_be_written_is_found_by_its_title(tmp_path):
    long = (
        f"<section><title>A</title><p>{'Words. ' * 500}</p></section><section><title>Sylow</title></section>"
    )
    posts, _ = read_files(tmp_path, a_ptx=f"<pretext><article>{long}</article></pretext>")
    assert [post.title for post in posts.values()][-1] == "a: Sylow"
