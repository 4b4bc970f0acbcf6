"""The builder of the sample corpus: every mistake of a contributor is found and named."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from tests.conftest import ROOT

GOOD = r"""A remark before the first heading.

## question 1
title: Is $a*b$ the same as $b*a$?
tags: group-theory, notation
score: 3
date: 2024-02-01
accepted: 11
related: 2

Say $a < b$ & *so* **on**. It costs \$5:
$$\begin{pmatrix} a & b \\
c & d \end{pmatrix}.$$

## question 2
title: Another one
tags: notation
score: 0
date: 2024-02-02

Is it $\frac{1}{2}$?

## answer 11
to: 1
score: -1
date: 2024-02-01

No, see [the other one](#2) and $ \frac12 $.

## topic A.1
title: New
tags: notation

Body.

### judgments
11 3
12 0  # a remark

## topic B.1
title: New
tags: notation
formula: \frac 1 2

Is it $\frac12$?

### judgments
3 `\frac12`
0 `a*b`  # a remark

## answer 12
to: 2
score: 1
date: 2024-02-03

Yes.
"""


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("build_sample")


def compiled(builder: ModuleType, folder: Path, text: str) -> dict[str, str]:
    (folder / "area.md").write_text(text, encoding="utf-8")
    files: dict[str, str] = builder.compile_sample(folder)
    return files


def body(builder: ModuleType, folder: Path, markdown: str) -> str:
    """The HTML that question 2 gets for a body, as it stands in the XML."""
    posts = compiled(builder, folder, GOOD.replace(r"Is it $\frac{1}{2}$?", markdown))["Posts.xml"]
    return ElementTree.fromstring(posts.encode())[1].attrib["Body"]


def test_a_good_source_compiles_to_arqmath_files(builder: ModuleType, tmp_path: Path) -> None:
    files = compiled(builder, tmp_path, GOOD)
    assert files["PostLinks.tsv"] == "post_id\trelated_post_id\tlink_type\n1\t2\t1\n"
    assert files["qrels/task1.qrels"] == "A.1 0 11 3\nA.1 0 12 0\n"
    table = [line.split("\t") for line in files["formulas.tsv"].splitlines()[1:]]
    assert [row[:4] for row in table] == [
        ["1001", "1", "1", "title"],
        ["1002", "1", "1", "title"],
        ["1003", "1", "1", "question"],
        ["1004", "1", "1", "question"],
        ["2001", "2", "2", "question"],
        ["11001", "11", "1", "answer"],
    ]
    assert table[3][5] == r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}."
    assert table[4][4] == table[5][4]
    assert files["qrels/task2.qrels"] == f"B.1 0 {table[4][4]} 3\nB.1 0 {table[0][4]} 0\n"
    assert "<Formula_Id>q_1</Formula_Id>\n    <Latex>\\frac12</Latex>" in files["topics/task2.xml"]


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("## question 2", "## question 1", "area.md:15: the id 1 is taken by area.md:3"),
        ("## question 2", "## query 2", "area.md:15: expected '## question N'"),
        ("to: 1", "to: 9", "answer 11 is to '9', which is no question"),
        ("accepted: 11", "accepted: 12", "the accepted answer 12 is no answer to question 1"),
        ("related: 2", "related: 11", "related: 11 is no other question"),
        ("related: 2", "duplicate: 1", "duplicate: 1 is no other question"),
        ("12 0  #", "99 0  #", "99 is no answer of the corpus"),
        ("12 0  #", "2 0  #", "2 is no answer of the corpus"),
        ("11 3\n12 0", "11 3\n11 0", "11 is judged twice"),
        ("11 3\n12 0", "11 3\n12 7", "a grade is 0, 1, 2 or 3, not 7"),
        ("11 3\n12 0", "11 1\n12 0", "topic A.1 needs a judgment of grade 2 or 3"),
        ("11 3\n12 0", "11: 3\n12 0", "expected a judgment 'ANSWER GRADE', not '11: 3'"),
        ("0 `a*b`", r"0 `a \cdot b`", r"no post of the corpus has the formula 'a \\cdot b'"),
        ("Is it $\\frac12$?", "Is it a half?", "the formula of topic B.1 occurs 0 times in it"),
        ("Is it $\\frac12$?", "$\\frac12$ or $\\frac 12$?", "the formula of topic B.1 occurs 2 times in it"),
        ("Say $a < b$", "Say $a < b", "a $ without its partner"),
        ("Say $a < b$", "Say $ $", "an empty formula"),
        ("Say $a < b$", "Say $a_{b$", "braces, or \\begin and \\end, do not match"),
        ("Say $a < b$", r"Say $\begin{cases} a$", "braces, or \\begin and \\end, do not match"),
        ("Say $a < b$", r"Say $\left( a$", r"\left and \right do not match"),
        ("Say $a < b$", "Say $a\n\nb$", "a formula over a blank line"),
        ("Say $a < b$", "Say \ue0001\ue001", "may not stand here"),
        ("group-theory, ", "Group Theory, ", "a tag is lower-case words with hyphens, not 'Group Theory'"),
        ("group-theory, ", "notation, ", "a tag occurs twice"),
        ("score: 3", "score: many", "the score is a whole number, not 'many'"),
        ("score: 3", "scores: 3", "expected a field"),
        ("score: 3", "score: 3\nscore: 4", "the field 'score' occurs twice"),
        ("title: Another one\n", "", "question 2 has no 'title'"),
        ("date: 2024-02-02", "date: 2024-13-02", "the date is YYYY-MM-DD"),
        (
            "score: -1\ndate: 2024-02-01",
            "score: -1\ndate: 2023-02-01",
            "answer 11 is older than its question 1",
        ),
        ("\nYes.\n", "", "answer 12 has no body"),
        ("\nYes.\n", "\nYes.\n\n### judgments\n1 1\n", "only topics have judgments"),
        ("(#2)", "(#99)", "a link to #99, which is no post"),
        ("\nYes.\n", "\n| a | b |\n|---|---|\n| c |\n", "the rows of a table differ in length"),
    ],
)
def test_a_mistake_is_named(
    builder: ModuleType, tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    assert GOOD.count(right) >= 1
    with pytest.raises(builder.SampleError) as caught:
        compiled(builder, tmp_path, GOOD.replace(right, wrong, 1))
    assert message in str(caught.value)


def test_all_mistakes_are_named_at_once_with_their_lines(builder: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(builder.SampleError) as caught:
        compiled(builder, tmp_path, GOOD.replace("$a < b$", "$a < b").replace("to: 2", "to: 3"))
    assert "area.md:11: a $ without its partner" in str(caught.value)
    assert "answer 12 is to '3'" in str(caught.value)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("one\ntwo\n\nthree", "<p>one two</p>\n\n<p>three</p>"),
        ("- a\n- *b*\n  goes on", "<ul>\n<li>a</li>\n<li><em>b</em> goes on</li>\n</ul>"),
        ("1. a\n\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("- a\n\n1. b", "<ul>\n<li>a</li>\n</ul>\n\n<ol>\n<li>b</li>\n</ol>"),
        ("> a\n> b\n>\n> - c", "<blockquote>\n<p>a b</p>\n\n<ul>\n<li>c</li>\n</ul>\n</blockquote>"),
        ("```python\nx = a < $b$  # *\n```", "<pre><code>x = a &lt; $b$  # *\n</code></pre>"),
        ("`$x$ *` costs \\$5", "<p><code>$x$ *</code> costs $5</p>"),
        ("**a** & <b>", "<p><strong>a</strong> &amp; &lt;b&gt;</p>"),
        ('[x](http://e.org/?a=1&b="2")', '<p><a href="http://e.org/?a=1&amp;b=&quot;2&quot;">x</a></p>'),
        ("[*q*](#1), [a](#11)", '<p><a href="/questions/1"><em>q</em></a>, <a href="/a/11">a</a></p>'),
        (
            "| $|x|$ | b |\n|---|:-:|\n| c | d |",
            '<table>\n<tr><th><span class="math-container" id="2001">$|x|$</span></th><th>b</th></tr>\n'
            "<tr><td>c</td><td>d</td></tr>\n</table>",
        ),
        ("$a*b < c*d$", '<p><span class="math-container" id="2001">$a*b &lt; c*d$</span></p>'),
        ("so\n$$ x\n+y $$", '<p>so <span class="math-container" id="2001">$$x +y$$</span></p>'),
    ],
)
def test_markdown_becomes_html(builder: ModuleType, tmp_path: Path, markdown: str, expected: str) -> None:
    assert body(builder, tmp_path, markdown) == expected


def test_the_examples_in_the_docstrings_hold(builder: ModuleType) -> None:
    results = doctest.testmod(importlib.import_module("sample_markdown"))
    assert results.attempted >= 3
    assert results.failed == 0


def test_visual_ids_of_other_formulas_stay_when_one_is_added(builder: ModuleType) -> None:
    before = builder.number_visually(["a+b", "c"])
    after = builder.number_visually(["0", "a+b", "c", "z"])
    assert {key: after[key] for key in before} == before
