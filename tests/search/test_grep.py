"""`grep`: what fits, where it stands, and that no file or formula is passed over that a search of every formula finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.trees import trees_of
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.grep import FormulaPattern, grep
from mathamr.search.renaming import Renaming
from tests.cases import cases

EXAMPLES = Path(__file__).parents[1] / "posts" / "examples"
NOTES = r"""---
title: Norms
---
# On $x$

Let $x^{2} + y^2$ and $\alpha x$ be, `$x^2$` no formula,
with text x^2 in a line.

$$
\norm{v} = \sqrt{\ip{v}{v}}
\quad a^2+b^2
$$

## More about $\Re z$

$\newcommand{\norm}[1]{\lVert #1\rVert}\newcommand{\ip}[2]{\langle #1,#2\rangle}$
We take $\beta ≤ α$.
"""
PAPER = r"""\documentclass{article}
\newcommand{\eps}{\varepsilon}
\begin{document}
Let $\eps > 0$, % $\eps = 1$ in a comment
\begin{align}
  f(x) &= x^2 + y^2, \label{e}\\ % $q$
  \mathcal{F} &\leqslant \operatorname{rk} A.
\end{align}
\verb|$\eps$|
\end{document}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text(NOTES, "utf-8")
    (tmp_path / "paper.tex").write_text(PAPER, "utf-8")
    (tmp_path / "page.html").write_text("<html><body><p>So $x^2+y^2$.</p></body></html>", "utf-8")
    return tmp_path


def places(folder: Path, typed: str, **options: bool) -> list[tuple[str, int, int | None]]:
    found = grep(FormulaPattern(typed, **options), folder, Report())
    return sorted((Path(each.path).name, each.line, each.column) for file in found for each in file.found)


def test_line_and_column_lead_to_the_formula(folder: Path) -> None:
    assert places(folder, "x^2 + y^2") == [("notes.md", 6, 5), ("page.html", 1, None), ("paper.tex", 5, 1)]
    for file in grep(FormulaPattern("x"), folder, Report()):
        lines = file.text.split("\n")
        for each in file.found:
            if each.column is not None:
                assert lines[each.line - 1][each.column - 1 :].startswith(each.text.split("\n")[0])


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (r"\varepsilon", [("paper.tex", 4, 5)]),
        (r"\eps", [("paper.tex", 4, 5)]),
        ("α", [("notes.md", 6, 23), ("notes.md", 17, 9)]),
        (r"\mathcal", [("paper.tex", 5, 1)]),
        (r"\norm", [("notes.md", 9, 1), ("notes.md", 16, 1)]),
        (r"\langle ?a, ?a \rangle", [("notes.md", 9, 1)]),
        (r"\le", [("notes.md", 17, 9), ("paper.tex", 5, 1)]),
        ("rank A", []),
        ("q", []),
    ],
)
def test_symbols_commands_and_wildcards_are_found_in_formulas_alone(folder, typed, expected) -> None:
    assert [each for each in places(folder, typed) if each[2]] == expected


def test_other_letters_fit_only_if_asked_for(folder: Path) -> None:
    assert places(folder, "p^2 + q^2") == []
    found = places(folder, "p^2 + q^2", any_letters=True)
    assert {("notes.md", 6, 5), ("notes.md", 9, 1)} <= set(found)
    with pytest.raises(MathAMRError, match="wildcard"):
        FormulaPattern("?a + b", any_letters=True)


def test_words_are_found_in_text_alone(folder: Path) -> None:
    found = [each for file in grep(re.compile(r"x\^2"), folder, Report()) for each in file.found]
    assert [(Path(each.path).name, each.line, each.column) for each in found] == [("notes.md", 7, 11)]


@cases("example", ["latex", "obsidian", "myst", "org"])
def test_hits_are_those_of_a_naive_search_over_all_formulas(example: str) -> None:
    report = Report()
    formulas = [
        tree
        for post in read_posts(EXAMPLES / example, report)
        for formula in post.formulas
        if (tree := trees_of(formula, post.macros)[0][0]) is not None
    ]
    assert formulas
    for typed in ("x", r"\alpha", r"\sum", "x^2", "?a^2", r"\frac{?a}{?b}", r"\mathbb R", "f(x)", "≤"):
        pattern = FormulaPattern(typed)
        naive = sum(map(pattern.fits_tree, formulas))
        assert sum(len(file.found) for file in grep(pattern, EXAMPLES / example, Report())) == naive, typed


def test_files_without_the_symbols_are_not_parsed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("mathamr.search.grep.pieces", lambda text, _: read.append(text) or iter(()))
    list(grep(FormulaPattern(r"\zeta"), folder / "paper.tex", Report()))
    assert not read
    list(grep(FormulaPattern(r"\varepsilon"), folder / "paper.tex", Report()))
    assert len(read) == 1


def test_an_index_of_a_relation_is_found_in_a_macro_with_an_optional_argument(tmp_path: Path) -> None:
    (tmp_path / "macros.tex").write_text(
        r"\newcommand{\id}[3][]{\ensuremath{#2 =_{#1} #3}\xspace}" + "\n", "utf-8"
    )
    (tmp_path / "a.tex").write_text(r"A path of $\id[A]{x}{y}$, not of $\id[B]{x}{y}$, nor $x = y$.", "utf-8")
    (file,) = grep(FormulaPattern("x =_A y"), tmp_path, Report())
    assert [found.column for found in file.found] == [11]


def test_a_wildcard_alone_fits_every_formula() -> None:
    assert [FormulaPattern("?a").fits(latex) for latex in ("x", "x + 1", "7")] == [True] * 3


def test_a_letter_is_renamed_behind_an_optional_argument_of_a_macro() -> None:
    macros = (r"\newcommand{\id}[3][]{\ensuremath{#2 =_{#1} #3}\xspace}",)
    text = r"We have $\id[A]{x}{y}$ and $\id[x]xy$, not x."
    renamed = Renaming.of("x=t").rename(text, "latex", "file", lambda _: True, lambda _: macros)
    assert renamed == r"We have $\id[A]{t}{y}$ and $\id[t]ty$, not x."
