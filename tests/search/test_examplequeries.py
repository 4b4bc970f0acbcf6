"""Questions to try are of the index itself, short, and find something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.posts.post import Post
from mathamr.search.examplequeries import ExampleQuery, examples
from tests.index.small import note


def filled(folder: Path, posts: list[Post]) -> Catalogue:
    catalogue = Catalogue(folder / CATALOGUE, create=True)
    with catalogue.transaction():
        for post in posts:
            catalogue.put(post, "", [formula.latex for formula in post.formulas])
    return catalogue


def test_titles_and_the_formula_that_says_most_are_offered(tmp_path: Path) -> None:
    posts = [
        note("1", "Some $x$ and $\\sum_{n} \\frac{1}{n^2}$.", title="Convergence of series"),
        note("2", "Words.", title="The norm of $x^2$ in a space"),
        note("3", "Words.", title="Index"),
        note("4", "Words.", title="docs/a path.md"),
        note("5", "Words.", title="A title so long that nobody would ever want to press it, " * 3),
    ]
    with filled(tmp_path, posts) as catalogue:
        assert examples(catalogue, catalogue.macros()) == [
            ExampleQuery("The norm of $x^2$ in a space"),
            ExampleQuery("Convergence of series"),
            ExampleQuery("\\sum_{n} \\frac{1}{n^2}", "formulas"),
        ]


def test_an_index_without_titles_or_posts_offers_what_there_is(tmp_path: Path) -> None:
    with filled(tmp_path, []) as catalogue:
        assert examples(catalogue, catalogue.macros()) == []
        with catalogue.transaction():
            catalogue.put(note("1", "$x$"), "", ["x"])
        assert examples(catalogue, catalogue.macros()) == []


def test_a_post_that_defines_a_macro_in_its_own_way_gives_no_examples(tmp_path: Path) -> None:
    usual, own = "\\newcommand{\\R}{\\mathbb{R}}", "\\newcommand{\\R}{\\mathcal{R}}"
    posts = [
        replace(note("1", "Words.", title="Functions on $\\R$"), macros=(usual,)),
        replace(note("2", "Words.", title="Paths in $\\R^n$"), macros=(usual,)),
        replace(note("3", "Words.", title="Relations $\\R$ of order"), macros=(own,)),
    ]
    with filled(tmp_path, posts) as catalogue:
        assert catalogue.macros() == {"R": usual}
        assert [example.query for example in examples(catalogue, catalogue.macros())] == [
            "Functions on $\\R$",
            "Paths in $\\R^n$",
        ]


def test_what_cannot_be_drawn_is_no_example(tmp_path: Path) -> None:
    posts = [
        note(
            "1",
            "Some $\\unheardof{x}=\\frac{1}{n^2}+1$ and $\\frac{a}{b}<1$.",
            title="The kernel of $\\nowhere{x}$",
        ),
        note("2", "Words.", title="The norm of a vector"),
    ]
    with filled(tmp_path, posts) as catalogue:
        assert examples(catalogue, catalogue.macros()) == [
            ExampleQuery("The norm of a vector"),
            ExampleQuery("\\frac{a}{b}<1", "formulas"),
        ]
