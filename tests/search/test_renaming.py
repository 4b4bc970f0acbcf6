"""Renaming letters in formulas: there and back gives the same text, other formulas keep their trees, and clashes are refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.formulas.formula import Formula
from mathamr.formulas.trees import trees_of
from mathamr.posts.markup import pieces
from mathamr.search.renaming import Renaming, Scope
from tests.cases import cases

PAPER = r"""\section{On $x$}
The x in $\sin x + \mathrm{x}$, \emph{x}, $x\text{ if x}$ and $\alpha x$, % $x$ in a comment
\begin{align}
  f(x) &= \sum_{x} x_1^x, \label{eq:x} \\ % a comment on $x$
  \hspace{1ex} &\leq \frac x2.
\end{align}
\section{Other}
Here $x+y$ and $u$.
"""


def rename(text: str, typed: str, markup: str = "latex", scope: Scope = "file", at: str = "") -> str:
    place = text.find(at) if at else None
    return Renaming.of(typed).rename(
        text, markup, scope, lambda start: place is None or start >= place, lambda _: ()
    )


def test_letters_change_in_formulas_and_nothing_else_does() -> None:
    assert (
        rename(PAPER, "x=t")
        == r"""\section{On $t$}
The x in $\sin t + \mathrm{x}$, \emph{x}, $t\text{ if x}$ and $\alpha t$, % $x$ in a comment
\begin{align}
  f(t) &= \sum_{t} t_1^t, \label{eq:x} \\ % a comment on $x$
  \hspace{1ex} &\leq \frac t2.
\end{align}
\section{Other}
Here $t+y$ and $u$.
"""
    )


def test_a_section_ends_at_the_next_heading() -> None:
    changed = rename(PAPER, "x=t", scope="section", at="$x+y$")
    assert changed == PAPER.replace("$x+y$", "$t+y$")
    assert rename(changed, "t=x", scope="section", at="$t+y$") == PAPER


@cases(
    ("text", "typed", "why"),
    [
        ("$x+y$ and $a$", "x=y", "used already"),
        ("$x$ is in\n\n$y$", "x=y", "used already"),
        ("> $$\n> x +\n> z\n> $$", "x=y", "marks between"),
        ("So x² is.", "x=y", "not marked"),
    ],
)
def test_what_cannot_be_renamed_is_refused_with_its_line(text: str, typed: str, why: str) -> None:
    with pytest.raises(MathAMRError, match=f"line 1.*{why}|line 3.*{why}"):
        rename(text, typed, "markdown")


def test_a_letter_that_a_macro_writes_is_refused() -> None:
    def macros(_: str) -> tuple[str, ...]:
        return (r"\newcommand{\point}{x_0}", r"\newcommand{\size}[1]{|#1|}")

    renaming = Renaming.of("x=t")
    assert renaming.rename(r"$\size{x}$", "latex", "file", lambda _: True, macros) == r"$\size{t}$"
    with pytest.raises(MathAMRError, match="comes from a macro"):
        renaming.rename(r"$\point + x$", "latex", "file", lambda _: True, macros)


@cases("typed", ["ab=c", "x", "x=x", "x=1", "x=+", r"x=\frac", "x=\\sum"])
def test_only_letters_are_renamed(typed: str) -> None:
    with pytest.raises(MathAMRError, match="cannot rename"):
        Renaming.of(typed)


PARTS = [
    "x",
    "x",
    "y",
    "2",
    "+",
    "=",
    " ",
    "  ",
    "_1",
    "^2",
    r"\sin",
    r"\alpha",
    r"\,",
    "{x}",
    r"\frac",
    r"\text{x}",
    "(",
    ")",
    r"\beta ",
]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=12),
    st.sampled_from(["x=t", r"x=\theta", r"\alpha=t", r"\alpha=\gamma"]),
)
def test_there_and_back_is_the_same_text_and_other_formulas_keep_their_trees(
    parts: list[str], typed: str
) -> None:
    text = f"The ${''.join(parts)}$ and $y+1$, x."
    old, new = typed.split("=")
    try:
        changed = rename(text, typed, "markdown")
    except MathAMRError:
        return
    assert rename(changed, f"{new}={old}", "markdown") == text
    before, after = (
        [
            trees_of(Formula("", each.text))[0][0]
            for each in pieces(source, "markdown")
            if each.kind == "formula"
        ]
        for source in (text, changed)
    )
    renamed = {_label(old): _label(new)}
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        if one is not None and other is not None:
            assert [renamed.get(label, label) for label in one.labels] == list(other.labels)
            assert (one.parents, one.edges) == (other.parents, other.edges)


def _label(letter: str) -> str:
    tree = trees_of(Formula("", letter))[0][0]
    assert tree is not None
    return tree.labels[0]
