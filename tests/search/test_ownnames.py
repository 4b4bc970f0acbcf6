"""A post names a formula by its title or by an emphasised name beside it."""

from __future__ import annotations

from mathamr.index.lexical.terms import stems, words
from mathamr.posts.post import Markup, Post
from mathamr.search.ownnames import formula_called
from tests.cases import cases

SUM = r"\sum_n \frac{1}{n^2}=\frac{\pi^2}{6}"
NAME = stems(words("Basel identity"))


@cases(
    ("markup", "body", "latex"),
    [
        ("latex", rf"The \emph{{Basel identity}} ${SUM}$ and $a+b=c$.", SUM),
        ("latex", rf"The \emph{{Basel identity}} says that \[{SUM}\]", SUM),
        ("latex", "The \\emph{Basel identity} says that\n\n\\[" + SUM + "\\]", SUM),
        ("html", f"<p>The <em>Basel identities</em> ${SUM}$</p>", SUM),
        ("markdown", f"The **Basel identity**: ${SUM}$", SUM),
        ("markdown", f"The **Basel problem** ${SUM}$", None),
        ("markdown", f"The Basel identity ${SUM}$", None),
        (
            "markdown",
            f"The **Basel identity** was found long ago, as all of us know, by Euler: ${SUM}$",
            None,
        ),
        ("markdown", f"The **Basel identity**.\n\nThen ${SUM}$", None),
        ("markdown", "The **Basel identity** $a+b$", None),
        ("markdown", r"The **Basel identity** $\frac{a$", None),
    ],
)
def test_an_emphasised_name_belongs_to_the_formula_right_behind_it(
    markup: Markup, body: str, latex: str | None
) -> None:
    assert formula_called(NAME, Post("a", "note", body, "Series", markup), body, markup) == latex


@cases(
    ("kind", "title", "body", "latex"),
    [
        ("note", "Basel identity", f"It says $n>0$ and $${SUM}$$", SUM),
        ("note", "The Basel identity, proved", f"It says $${SUM}$$", None),
        ("note", "Basel identity", f"It says $${SUM}$$ and $$a+b=c+d$$", None),
        ("note", "Basel identity", f"It says ${SUM}$", None),
        ("answer", "Basel identity", f"It says $${SUM}$$", None),
    ],
)
def test_a_title_belongs_to_the_only_displayed_formula(
    kind: str, title: str, body: str, latex: str | None
) -> None:
    post = Post("a", kind, body, title, "markdown", parent="q" if kind == "answer" else None)  # type: ignore[arg-type]
    assert formula_called(NAME, post, body, "markdown") == latex


def test_macros_of_the_post_are_expanded() -> None:
    body = r"\emph{Basel identity} $\total \frac{1}{n^2}=1$"
    post = Post("a", "note", body, "", "latex", macros=(r"\newcommand{\total}{\sum_n}",))
    assert formula_called(NAME, post, body, "latex") == r"\sum_n\frac{1}{n^2}=1"
