"""Folders of notes become posts: whole or by section, with their links."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr.posts.formats.markdown.outline import slug
from mathamr.posts.markup import pieces
from mathamr.posts.passage import passage
from mathamr.posts.post import Link, Post
from mathamr.posts.report import Report
from tests.posts.reading import read_files

LONG = "Some words about $x$ that fill a section, one after the other, until it is long enough. " * 10


def notes(folder: Path, **files: str) -> tuple[dict[str, Post], Report]:
    return read_files(folder, **{f"{name}_md": text for name, text in files.items()})


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
        Link("b.md", "mention", "B", "B"),
        Link("sub/c.md#part-two", "mention", "x", "c#Part two"),
        Link("sub/c.md", "mention", "rel", "sub/c.md"),
        Link("b.md", "mention", "again", "b.md"),
    )
    assert all(link.target in posts for post in posts.values() for link in post.links)
    assert report.missing["link to no note"] == 2


def test_slugs_are_as_on_github() -> None:
    assert [slug(text) for text in ("A b", "Über $x$?", "!")] == ["a-b", "über-x", "section"]


def test_no_line_of_a_formula_cuts_a_long_note(tmp_path: Path) -> None:
    formulas = ["a\n=\nb", "\\begin{align}\nc\n---\nd\n\\end{align}", "u\n- v\n== w"]
    displayed = "\n\n".join(f"$$\n{formula}\n$$\n---" for formula in formulas)
    posts, _ = notes(
        tmp_path, long=f"# Title\n{LONG}\n\nWe have $$\np\n=\nq\n$$\n\n{displayed}\n\n## Next\n{LONG * 5}"
    )
    assert [(name, post.title) for name, post in posts.items()] == [
        ("long.md", "Title"),
        ("long.md#next", "Title: Next"),
    ]
    found = [formula.latex for formula in posts["long.md"].formulas if formula.display]
    assert found == ["p\n=\nq", "a\n=\nb", "\\begin{align}\nc\n---\nd\\end{align}", "u\n- v\n== w"]


@pytest.mark.parametrize("entry", ["single: Markov; chain", "pair: a; b", "see: x; y"])
def test_entries_of_an_index_are_not_read_but_indexed_words_are(entry: str) -> None:
    found = [
        piece.text
        for piece in pieces(
            f"{{index}}`{entry}`The {{index}}`chain <chain>` and {{{{ name }}}} mix.", "markdown"
        )
    ]
    assert "".join(found) == "The chain and  mix.paragraph"


def test_links_by_label_are_resolved_where_another_section_defines_them(tmp_path: Path) -> None:
    filler = "word " * 90
    note = (
        f"# Laws\n\n{filler}\n\n## The [Weibull][weibull-distribution] law\n\n{filler}\n\nA [Weibull][weibull-distribution] law,"
        f" a [Gamma][] law and [none][nowhere].\n\n## Others\n\n{filler}\n\n```{{prf:theorem}} Named\nAs [gamma] says.\n```\n\n"
        f"## Last\n\n{filler}{filler}\n\n[weibull-distribution]: weibull.md 'Title'\n[gamma]: https://example.org/gamma"
    )
    posts, _ = notes(tmp_path, laws=note, weibull="# Weibull\n\nText.")
    section, theorem = posts["laws.md#the-weibull-law"], posts["laws.md#named"]
    assert section.title == "Laws: The Weibull law"
    assert Link("weibull.md", "mention", "Weibull", "weibull.md") in section.links
    shown = [sentence.text for sentence in passage(section).sentences]
    assert shown[-1] == "A Weibull law, a Gamma law and [none][nowhere]."
    assert [sentence.text for sentence in passage(theorem).sentences][-1] == "As gamma says."
    assert (
        "example.org" not in posts["laws.md#others"].body
    )  # definitions are repeated only where they are used
    assert section.place is not None
    assert section.place.line == 5


def test_a_readme_is_called_by_its_only_first_heading(tmp_path: Path) -> None:
    about = "<details>\n<p>About the project.</p>\n</details>\n\n"
    posts, _ = notes(
        tmp_path,
        a__README=f"{about}# Weibull\n\n{LONG}\n\n## Use\n\n{LONG}\n\n{LONG}\n",
        b__README=f"{about}# One\n\nText\n\n# Two\n\nText",
        c__notes=f"{about}# Weibull\n\nText",
    )
    assert posts["a/README.md"].title == "Weibull"
    assert posts["a/README.md#use"].title == "Weibull: Use"
    assert posts["b/README.md"].title == "README"
    assert posts["c/notes.md"].title == "notes"


def test_a_target_of_myst_belongs_to_what_follows_it(tmp_path: Path) -> None:
    text = (
        f"(sec:top)=\n(sec:first)=\n\n# Top\n\n{LONG}{LONG}\n\n(sec:basis)=\n\n(sec:alias)=\n## Basis\n\n{LONG}\n\n(thm:rank)=\n"
        f"```{{prf:theorem}} Rank\n:label: thm-own\n\n$r = s$.\n```\n\n(lem:one)=\n:::{{prf:lemma}}\n$q$\n:::\n\n(par)=\n"
        f"A paragraph.\n\n(eq:one)=\n$$\nx\n$$\n\n## Last\n\n{LONG}\n"
    )
    posts, _ = notes(
        tmp_path, book=text, other="See {ref}`sec:basis`, {prf:ref}`lem:one`, {ref}`thm:rank`, {ref}`par`."
    )
    leads = {label: post.title for post in posts.values() if post.place for label in post.place.labels}
    assert leads == {
        "sec:top": "Top",
        "sec:first": "Top",
        "sec:basis": "Top: Basis",
        "sec:alias": "Top: Basis",
        "par": "Top: Basis",
        "eq:one": "Top: Basis",
        "thm-own": "Top: Basis: Rank",
        "thm:rank": "Top: Basis: Rank",
        "lem:one": "Top: Basis: Lemma",
    }
    titles = [posts[link.target].title for link in posts["other.md"].links]
    assert titles == ["Top: Basis", "Top: Basis: Lemma", "Top: Basis: Rank", "Top: Basis"]
    assert "(thm:rank)=" not in posts["book.md#basis"].body


def test_boxes_of_quarto_that_state_theorems_are_statements(tmp_path: Path) -> None:
    text = (
        "# Algebra\n\n::: {.callout-note icon=false}\n## Theorem 2.1 (Lagrange)\n$|H|$ divides $|G|$.\n:::\n\n"
        '::: {.callout-tip title="Definition: coset"}\n$gH$\n:::\n\n:::{admonition} Lemma\n$a$\n:::\n\n'
        "```{admonition} Corollary 3 – orders\n$b$\n```\n\n::: {#thm-cauchy .callout-important}\n## Cauchy\n$p$\n:::\n\n"
        "::: {.callout-note}\n## Theorem proving\nwith computers\n:::\n\n::: {.callout-tip}\n## Example\n$1+1$\n:::\n\n"
        "::: {.callout-note collapse=true}\n## Proof\nCount.\n:::\n"
    )
    posts, _ = notes(tmp_path, algebra=text)
    assert [(post.kind, post.title) for post in posts.values()] == [
        ("note", "Algebra"),
        ("theorem", "Algebra: Theorem 2.1 (Lagrange)"),
        ("definition", "Algebra: Definition: coset"),
        ("lemma", "Algebra: Lemma"),
        ("corollary", "Algebra: Corollary 3 – orders"),
        ("theorem", "Algebra: Cauchy"),
        ("proof", "Algebra: Proof"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```{exercise-start} Halves\n:label: ex1\n```\nProve $x>1$.\n```{code-cell}\na = 1\n```\nSo.\n```{exercise-end}\n```\n"
        "```{solution-start} ex1\n:class: dropdown\n```\nClear.\n```{solution-end}\n```\nAfter.\n",
        ":::{exercise-start} Halves\n:label: ex1\n:::\nProve $x>1$.\n```{code-cell}\na = 1\n```\nSo.\n:::{exercise-end}\n:::\n"
        ":::{solution-start} ex1\n:class: dropdown\n:::\nClear.\n:::{solution-end}\n:::\nAfter.\n",
    ],
)
def test_what_stands_between_a_start_and_an_end_is_the_exercise(tmp_path: Path, text: str) -> None:
    posts, _ = notes(tmp_path, a=f"# Note\n\nWords.\n\n{text}")
    assert [(each.id, each.kind, each.title) for each in posts.values()] == [
        ("a.md", "note", "Note"),
        ("a.md#ex1", "exercise", "Note: Halves"),
        ("a.md#ex1/solution", "solution", "Note: Solution"),
    ]
    said = {name: [each.text for each in passage(post).sentences[1:]] for name, post in posts.items()}
    assert said["a.md#ex1"] == ["Prove FORMULA_0.", "a = 1", "So."]
    assert said["a.md#ex1/solution"] == ["Clear."]
    assert said["a.md"] == ["Words.", "After."]


def test_a_heading_in_italics_that_says_theorem_begins_one(tmp_path: Path) -> None:
    text = "# Note\n\nWords.\n\n##### _theorem:_\nAll $x$.\n\n##### **Proof.**\nClear.\n\n##### _lemma (Zorn):_\nSome.\n\n"
    text += "##### **Definition** (*Ring*)\nA ring.\n\n##### next\nEnd.\n"
    posts, _ = notes(tmp_path, a=text)
    assert [(each.kind, each.title) for each in posts.values()] == [
        ("note", "Note"),
        ("theorem", "Note: Theorem"),
        ("proof", "Note: Proof"),
        ("lemma", "Note: lemma (Zorn)"),
        ("definition", "Note: Definition (Ring)"),
    ]
    assert posts["a.md"].body.split() == ["Words.", "#####", "next", "End."]


def test_html_directly_above_the_end_of_a_div_ends_with_it(tmp_path: Path) -> None:
    """A list in HTML swallowed the colons, and with them all later theorems of the note."""
    text = "# Note\n\n::: {#thm-one}\n<ol>\n<li>a</li>\n</ol>\n:::\n\n::: {#thm-two}\nTwo.\n:::\n\n<pre>\n::: code\n</pre>\n"
    posts, _ = notes(tmp_path, a=text)
    assert [each.place.label for each in posts.values() if each.kind == "theorem" and each.place] == [
        "thm-one",
        "thm-two",
    ]
    assert [
        each.text for post in posts.values() for each in passage(post).sentences if each.kind == "code"
    ] == ["::: code"]
