"""Hostile texts of every format are read in time linear in their length, in a process with limits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest

from mathamr.posts.format import FORMATS, Collection
from mathamr.posts.reader import read_format, read_posts
from mathamr.posts.report import Report
from tests.posts.hostile import read_bounded

N, MANY = 60_000, 150_000
HOSTILE = {
    "rst": ["`" * N, "*" * N, ":math:`" * (N // 7), "|a" * (N // 2), "`a <" * (N // 4), "\n".join("- " * n for n in range(40)),
            ".. |a0| replace:: " + "lol " * 9 + "".join(f"\n.. |a{n}| replace:: " + f"|a{n - 1}| " * 9 for n in range(1, 12)) + "\n\n|a11|\n",
            "\n".join(" " * n + "x" for n in range(400)), "=\n" * 500, ".. note::\n" * 1000, ".. math::\n\n   x\n\n" * 1000],
    "org": ["[[" * (N // 2), "*" * N, "=a" * (N // 2), "/a" * (N // 2), "$" * N, "\\begin{a}\n" * (N // 10), "#+begin_theorem\n" * (N // 16),
            "* a\n" * (N // 4), "<<" * (N // 2), ":PROPERTIES:\n" * (N // 13), "- " * N, "#+begin_src\n" * 2000],
    "adoc": ["stem:[" * (N // 6), "<<" * (N // 2), "*a" * (N // 2), "`a" * (N // 2), "====\n" * (N // 5), "[[" * (N // 2), "a::" * (N // 3),
             "xref:a[" * (N // 7), "asciimath:[" + "(" * 4000 + "]", "stem:[sqrt" * (N // 10), "= a\n" * (N // 4), "[stem]\n++++\n" + "((a)," * 20_000 + "\n++++\n"],
    "txt": ["$" * N, "\n \n" * (N // 3), "\\(" * (N // 2), "{" * N, "a\n\n" * (N // 3)],
    "lean": ["\n@[" * (N // 3), "theorem a (" * (N // 11), "variable (x : x)\ntheorem a : x\n" * (N // 40), "namespace a\n" * (N // 12),
             'r#"' * (N // 3), "\n| a" * (N // 4), "def a := let " * (N // 13), "structure A where\n  a : b\n" * (N // 30), "/-" * (N // 2), "/-- a -/" * 2000, '"' * N, "--" * (N // 2), "/-- a -/ @[" * 2000, "/--" + "`a" * (N // 20) + "-/ theorem a", '"\\' * (N // 2)],
    "v": ["(*" * (N // 2), "(** a *)" * 2000, '(** a *)"' + '"' * N, "(** [a" * (N // 6), "(**" + "%a" * (N // 2) + "*) Lemma a.", "(** * a\n" * (N // 8),
          "Require Import b.\n" + "Module a.\n" * 5000 + "End b.\n" * 5000 + "Lemma c : True.\n"],
    "tex": ['\\usepackage' + ' ' * MANY + 'x', '\\section' + ' ' * MANY + 'x',
            '\\newcommand{\\a}' + ' ' * MANY + 'x', '\\newtheorem{a}' + ' ' * MANY + 'x',
            '\\begin' + ' ' * MANY + 'x', '\\input' + ' ' * MANY, '\\cref' + ' ' * MANY + 'x',
            '\\%' * MANY, '\\' * MANY, '\\section[' * (MANY // 9), '\\section{' * (MANY // 9),
            '\\newcommand{\\a}{' * (MANY // 16), '\\ref{' * (MANY // 5), '\\begin{theorem}[' * (MANY // 16),
            '\\begin{theorem}\\label{a}x\\end{theorem}' + '\\begin{proof}[of \\ref{a}]y\\end{proof}' * 4000,
            ''.join(f'\\begin{{lemma}}\\label{{l{n}}}x\\end{{lemma}}\\begin{{proof}}[\\ref{{l0}}]y\\end{{proof}}' for n in range(4000)),
            '\n' * MANY + '\\section{a}x' * 4000,
            "".join(f"\\numberwithin{{a{chr(97 + n)}}}{{a{chr(97 + (n + 1) % 26)}}}" for n in range(26)) + "\\stepcounter{aa}" * 2000,
            "".join(f"\\newtheorem{{t{chr(97 + n)}}}[t{chr(97 + (n + 1) % 26)}]{{T}}" for n in range(26)) + "\\begin{ta}\\label{x}" * 20_000,
            "\\begin{enumerate}\\item" * 50_000, "\\begin{align}" * 50_000 + "\\\\" * 50_000 + "\\end{align}" * 50_000,
            "\\renewcommand{\\thea}{\\thea\\thea}" + "\\stepcounter{a}" * 1000, "\\tag{" * 100_000 + "\\section[" * 100_000,
            "\\setcounter{a}{999999}\\label{b}" * 50_000],
    "html": ['<div>' * 50000, '<div>' * 1000 + '</p>' * 50000, '<main>' * 30000, '<a>' * 50000, '<h2>x</h2>' * 20000,
            '<p>' + 'w ' * 500 + '<h2></h2>' * 20000, '<h2>x</h2>' + 'w ' * 100 + '<h2>y</h2>w' * 20000, '<script>' * 30000, '<nav>x</nav>' * 50000,
            "<a href='" * 30000, '<title>' * 30000, '<meta ' * 30000, '<math>' * 20000, '<!--' * 30000, '<br>' * 50000],
    "md": ['.' * 5000 + '\n', 'a' + ' ' * 15000 + '\nb', '```\n' * 3750, ''.join('`' * (40 - n) + '{note}\n' for n in range(37)) + 'x ' * 5000,
            '[' * 7500, '[a](' * 2500, '> ' * 7500, '> - ' * 2500, '\n'.join('  ' * (n % 60) + '- a' for n in range(750)), '*a **b ' * 2000,
            ''.join('`' * (n % 200) + ' ' for n in range(600)), '$$ a\n\n' * 2500 + '# end', '\\begin{align}\n' * 1000, '{a}`' * 3750,
            '{#a ' * 3750, '<span>' * 2500, '%%\n' * 5000, '[[a|' * 3750, '[^a]: x\n\n' + '[^' * 5000, '::: {.theorem}\n' * 1000,
            '|a' * 5000 + '\n' + '|-' * 5000 + '\n' + '|b\n' * 500, '```{prf:theorem}\nx\n```\n# h\n' * 750, '# \n' * 5000, '[a]: b\n' * 2000],
    "ptx": ['<p>' * 50000, '<article>' + '<theorem><statement>' * 12500, '<article>' + '<section>' * 120 + '<p>x</p>',
            '<article><p>' + '<em>' * 240 + 'x', '<article>' + '<ul><li>' * 100 + 'x',
            '<article>' + '<p xml:id="a"><xref ref="' + 'a ' * 25000 + '"/></p></article>', '<article>' + '<m>x</m>' * 25000 + '</article>',
            '<article><macros>' + '\\newcommand{\\a}{' * 12500 + '</macros></article>'],
    "bib": ['@book{a, title = ' + '{' * 200000, '@book{a, title = {x\n' * 20000,
            '@string{a = {' + 'x' * 1000 + '}}\n' + '@string{a = a # a}\n' * 60 + '@book{b, title = a # a}', '@book{a, title = ' + '"' * 200000,
            '@book{a, ' + 'x = y, ' * 50000 + '}', '@' * 300000, '@book{a, title={' + '\\{' * 100000],
    "typ": ['[' * 75000, '#a(' * 50000, '#theorem[' * 15000, '#a[' * 50000 + ']' * 50000, '$' * 75001, '`' * 75001, '/*' * 50000, '@a' * 50000,
            '<a>' * 25000, '= a\n' * 15000, '#if x {' * 15000, '#let a = $' * 12500, '*_' * 50000, '#figure(caption: [' * 12500, '- ' * 50000,
            '\\' * 75000, 'é' * 75000],
    "ipynb": ['{"cells": ' + '[' * 500000, '{"a":' * 200000, '{"cells": [' + '{},' * 3000000 + '{}]}',
            json.dumps({'cells': [{'cell_type': 'markdown', 'source': f'# {n}\\n\\n'} for n in range(5000)]}),
            '{"cells": [' + ','.join(['{"cell_type": "markdown", "source": "\\u0041 b"}'] * 20000) + ']}',
            json.dumps({'cells': [{'cell_type': 'code', 'outputs': ['x' * 20000000], 'source': '$c$'}]}), '{"cells": ' + '9' * 1000000 + '}'],
}  # fmt: skip
WIKITEXT = ["{{" * (N // 2), "[[" * (N // 2), "'" * N, "{|" * (N // 2), "{{a|" * 50 + "}}" * 50, "=" * N, "&lt;math&gt;" * (N // 12),
            "&lt;ref&gt;" * (N // 11), "{{math|" + "|" * N + "}}", "[http://" * (N // 8), "* " * (N // 2), "&lt;div&gt;" * (N // 11)]  # fmt: skip


@pytest.mark.parametrize("suffix", HOSTILE)
def test_hostile_texts_are_read_in_linear_time(tmp_path: Path, suffix: str) -> None:
    words = "" if suffix in ("ptx", "ipynb") else "(** a *) Words.\n\n"
    for number, text in enumerate(HOSTILE[suffix]):
        (tmp_path / f"{number}.{suffix}").write_text(f"{words}{text}\n", encoding="utf-8")
    posts, report = read_bounded(tmp_path, seconds=(12 if suffix == "ipynb" else 3) * len(HOSTILE[suffix]))
    assert posts
    assert len(posts) + report["skipped"] + report["ignored"] >= len(HOSTILE[suffix]) // 2
    assert sum(length for _, _, length, _ in posts) < 5 * sum(map(len, HOSTILE[suffix])), "nothing multiplies"


@contextmanager
def counted_calls() -> Iterator[list[int]]:
    """Counts the calls of functions: work that does not depend on how fast or busy a machine is."""
    calls = [0]

    def called(_: FrameType, event: str, __: object) -> None:
        calls[0] += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize(
    ("head", "repeated", "most"),
    [("", "![", 30), ("", "[", 30), ("", "![](", 90), ("", "[a](", 60), ("---\n", "a: b\n", 25), ("", "a *b_ `c\n", 20)],
)  # fmt: skip
def test_a_character_of_markdown_takes_few_calls(tmp_path: Path, head: str, repeated: str, most: int) -> None:
    note = tmp_path / "a.md"
    note.write_text("Words.")
    list(read_posts(note, Report()))  # what is imported and cached by the first reading is not counted
    used = []
    for length in (2_000, 8_000):
        note.write_text(head + repeated * (length // len(repeated)))
        with counted_calls() as calls:
            list(read_posts(note, Report()))
        used.append(calls[0])
    assert used[1] < most * 8_000
    assert used[1] < 5 * used[0], "linear in the length"


def test_docutils_is_stopped_where_it_works_too_long(tmp_path: Path) -> None:
    (tmp_path / "b.rst").write_text("Words.\n")
    assert list(read_posts(tmp_path, Report())), "docutils is loaded before its time is taken"
    (tmp_path / "a.rst").write_text("=\n" * 50_000)
    report, files = Report(), (tmp_path / "a.rst", tmp_path / "b.rst")
    posts = read_format(replace(FORMATS["rst"], seconds=0.5), Collection(tmp_path, files), report)
    assert [post.id for post in posts] == ["b.rst"]
    assert report.skipped == {"too slow": 1}


@pytest.mark.parametrize("cells", [(1000, 200), (350, 350)])
def test_docutils_is_stopped_inside_a_grid_table(tmp_path: Path, cells: tuple[int, int]) -> None:
    columns, rows = cells
    rule, row = "+-" * columns + "+\n", "| " * columns + "|\n"
    (tmp_path / "a.rst").write_text(rule + (row if columns > rows else row + rule) * rows + rule)
    (tmp_path / "b.rst").write_text("Words.\n\n" + "+---+---+\n| a | b |\n" * 500 + "+---+---+\n")
    posts, report = read_bounded(tmp_path, seconds=15)
    assert [id for id, *_ in posts] == ["b.rst"]
    assert report["skipped_by_cause"] == {"too slow": 1}


def test_hostile_articles_are_read_in_linear_time(tmp_path: Path) -> None:
    pages = "".join(
        f"<page><title>{n}</title><revision><text>Words. {text}</text></revision></page>"
        for n, text in enumerate(WIKITEXT)
    )
    (tmp_path / "dump.xml").write_text(f"<mediawiki>{pages}</mediawiki>")
    posts, _ = read_bounded(tmp_path, seconds=3 * len(WIKITEXT))
    assert len({post[0].partition("#")[0] for post in posts}) >= len(WIKITEXT) - 3


def test_a_dump_with_entities_or_without_an_end_gives_what_comes_before(tmp_path: Path) -> None:
    page = "<page><title>A</title><revision><text>Words.</text></revision></page>"
    (tmp_path / "a.xml").write_text(f'<!DOCTYPE m [<!ENTITY a "{"x" * 1000}">]><mediawiki>{page}&a;&a;<page>')
    posts, report = read_bounded(tmp_path, megabytes=600)
    assert [post[0] for post in posts] == ["A"]
    assert report["skipped_by_cause"] == {"truncated XML": 1}


@pytest.mark.parametrize("number", [0, 99])
def test_an_article_cannot_forge_the_mark_of_a_formula(tmp_path: Path, number: int) -> None:
    forged = f"&amp;#xe000;{number}&amp;#xe001;" * 1000
    text = f"&lt;math&gt;{'x+' * 1000}y&lt;/math&gt; and {forged}, \ue002theorem|A\n[[B|{forged}]]"
    page = f"<page><title>A</title><revision><text>{text}</text></revision></page>"
    (tmp_path / "dump.xml").write_text(f"<mediawiki>{page}</mediawiki>", encoding="utf-8")
    (post,) = read_posts(tmp_path, Report())
    assert len(post.formulas) == 1
    assert len(post.body) < 3 * len(text)


def test_joined_values_of_a_bibliography_are_measured_once(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text("@a{b, title=" + '"a"#' * 150_000 + "}")
    assert read_bounded(tmp_path)[0] == [["a.bib#b", "reference", 0, 0]]


def test_headings_that_are_never_closed_end_at_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<h2>" + "a " * 50 + "<p>" + "b " * 50, encoding="utf-8")
    (tmp_path / "b.html").write_text(("<h2>" + "a " * 50) * 1000, encoding="utf-8")
    posts = list(read_posts(tmp_path, Report()))
    assert sum(len(post.title) + len(post.body) for post in posts) < 400_000


@pytest.mark.parametrize(
    ("suffix", "text"), [("lean", "/-- a -/\ntheorem a :\n"), ("v", "(** a *)\nLemma a :\n")]
)
def test_a_statement_ends_before_the_next_documentation_comment(
    tmp_path: Path, suffix: str, text: str
) -> None:
    (tmp_path / f"a.{suffix}").write_text(text * 500)
    posts = list(read_posts(tmp_path, Report()))
    assert len(posts) == 500
    assert sum(len(post.body) for post in posts) < 5 * len(text * 500)
