"""`notation`: what sentences introduce, by patterns and by the roles of meaning graphs; what is used; bounds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mathamr.formulas.formulahead import FormulaHead
from mathamr.posts.post import Post
from mathamr.search import introductions as searched
from mathamr.search.introductions import EXAMPLES
from mathamr.search.notation import MOST_INTRODUCTIONS, glossary, introductions, notation
from tests.cases import cases

NOTES = r"""# Groups

Let $G$ be a finite group and let $p$ be a prime. We write $|G|$ for the order of $G$.

We denote by $\operatorname{rk} A$ the rank of $A$, where $\mu$ denotes the Lebesgue measure.

The kernel of $\varphi$ is denoted by $K$. Consider a graph $G = (V, E)$ with $n$ vertices.
"""


def note(body: str) -> Post:
    return Post("n", "note", body, markup="markdown")


def found(body: str, parser: str | None = None) -> list[tuple[str, str]]:
    return [(each.symbol, each.said) for each in introductions([note(body)], parser)]


@cases(
    ("body", "expected"),
    [
        ("Let $G$ be a group.", [("G", "a group")]),
        (
            "Let $x, y$ and $z_1$ be real numbers.",
            [("x", "real numbers"), ("y", "real numbers"), ("z", "real numbers")],
        ),
        ("Let $f\\colon X \\to Y$.", [("f", "$\\colon X \\to Y$")]),
        ("We write $|G|$ for the order of $G$.", [("|G|", "the order of $G$")]),
        ("Here $\\mu$ denotes the Lebesgue measure.", [("μ", "the Lebesgue measure")]),
        ("Let $a, b \\in A$.", [("a", "$\\in A$"), ("b", "$\\in A$")]),
        ("The sample mean is $\\bar X = S/n$.", [("X\u0304", "The sample mean")]),
        ("The kernel of $f$ is denoted by $K$.", [("K", "The kernel of $f$")]),
        ("Every compact set $K$ is closed.", [("K", "Every compact set")]),
        ("It is prime to $n$, of degree $m$, and $x$ is zero.", []),
        ("Then $x$ is positive and a multiple of $n$.", []),
        ("Let it be a $p$-adic field.", []),
    ],
)
def test_patterns_find_what_is_said_in_a_usual_way(body: str, expected: list[tuple[str, str]]) -> None:
    assert found(body) == expected


def test_graphs_find_what_patterns_miss() -> None:
    body = "Suppose without further comment that $\\Omega$ is a bounded domain."
    assert found(body) == []
    assert found(body, "builtin") == [("Ω", "a bounded domain")]


def test_uses_are_counted_and_symbols_sorted_as_in_a_book() -> None:
    entries = notation([note(NOTES)], parser=None)
    by_symbol = {entry.symbol: entry for entry in entries}
    assert [entry.symbol for entry in entries] == sorted(
        by_symbol, key=lambda each: not each[0].isascii() or not each[0].isalpha() or len(each) > 1
    )
    assert by_symbol["G"].meanings == ["a finite group", "a graph"]
    assert by_symbol["G"].uses == 4
    assert by_symbol["rk"].meanings == ["the rank of $A$"]
    assert not by_symbol["φ"].introductions
    assert by_symbol["φ"].posts == ["n"]


@cases("latex", ["2n", "", "x+1 = 2", "\\{k \\in K", "\\int_0^1 f", "\\begin{pmatrix}a\\end{pmatrix}"])
def test_a_formula_without_a_symbol_of_its_own_introduces_none(latex: str) -> None:
    assert FormulaHead(latex).symbols() == []


def test_introductions_of_a_letter_are_counted_and_not_kept() -> None:
    posts = (note("Let $x$ be a number. " * 100) for _ in range(3))
    (entry,) = notation(posts, parser=None)
    assert entry.introduced == entry.uses == 300
    assert len(entry.introductions) == MOST_INTRODUCTIONS


def test_the_glossary_is_read_by_latex() -> None:
    text = glossary(notation([note("Let $G$ be a group, $x$.")], parser=None))
    assert text.splitlines()[1:] == [r"\nomenclature[00000]{$G$}{a group}"]


def test_a_sentence_of_formulas_and_words_does_not_take_long() -> None:
    hostile = "let " * 300 + "$x$ and " * 150
    assert found(hostile) == [("x", "and")] or len(found(hostile)) <= 150


def test_json_of_an_entry_has_every_introduction() -> None:
    entry = notation([note(NOTES)], parser=None)[0]
    row = json.loads(json.dumps(entry.to_dict()))
    assert {"symbol", "meanings", "uses", "introductions"} <= set(row)


def test_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(NOTES, "utf-8")
    entries = {entry.symbol: entry for entry in notation(tmp_path, parser=None)}
    assert entries["G"].introductions[0].place == "a.md:1"


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_pattern_finds_its_example(example: str) -> None:
    own = re.compile(EXAMPLES[example], re.I)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searched, "PATTERNS", (own,))
        assert found(example)


def test_the_text_of_a_pdf_introduces_nothing() -> None:
    told = "Let $G$ be a group."
    posts = [Post(name, "page", told, markup="markdown", source=name) for name in ("a.pdf", "a.md")]
    assert [each.post for each in introductions(posts, None)] == ["a.md"]


@pytest.mark.parametrize(
    "sentence",
    [
        "This forces $x = 0$.",
        "The relation demands $f(0) = 1$ again.",
        "The original domain already excludes $x = 1$.",
        "Apply the chain rule to every term involving $F$ or its partials.",
        "The two branches start at $g = 0$.",
        "For $0 < t < 1$ it is attracting.",
    ],
)
def test_a_verb_before_a_formula_says_nothing_of_it(sentence: str) -> None:
    assert found(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("For each $1 \\leq i \\leq n$ it holds.", ["i"]),
        ("Let ${\\mathbf r}$ be a received word.", ["𝐫"]),
        ("Let ${x_{n}}$ be a sequence.", ["x"]),
        ("Suppose $A$ is a matrix and $b$ is a vector in it.", ["A", "b"]),
        ("Thus if $V \\subset Z$ is open, it ends.", ["V"]),
        ("There exist $q(x)$ and $r(x)$ in $F$ such that it holds.", ["q", "r"]),
    ],
)
def test_symbols_in_the_middle_or_behind_others_are_introduced(sentence: str, expected: list[str]) -> None:
    assert [symbol for symbol, *_ in found(sentence)] == expected
