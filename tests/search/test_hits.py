"""A hit prints as what it is."""

from __future__ import annotations

from mathamr.posts.post import Place
from mathamr.search.fragment import Fragment
from mathamr.search.hits import Hit
from tests.cases import cases


def test_a_hit_and_its_title_print_as_text_and_are_drawn_as_fragments() -> None:
    title = (Fragment("text", "Why is "), Fragment("formula", "x^2", "7:0"), Fragment("text", " positive?"))
    hit = Hit("notes/a.md", 1, 0.83456, "note", title, (Fragment("text", "Because."),))
    assert str(hit.title) == "Why is $x^2$ positive?"
    assert f"{hit.title!r}" == "'Why is $x^2$ positive?'"
    assert repr(hit) == "Hit(1, 'notes/a.md', 0.8346, 'Why is $x^2$ positive?')"
    assert tuple(hit.title) == title
    assert hit.to_json()["title_fragments"][1]["text"] == "x^2"


@cases(
    ("id", "kind", "title", "above", "own"),
    [
        ("a.md#rank", "section", "Algebra: Matrices: Rank of $x$", "Algebra: Matrices", "Rank of $x$"),
        ("a.md#thm", "theorem", "Algebra: Rank: Theorem", "Algebra: Rank", "Theorem"),
        ("a.tex#lem", "lemma", "Lemma 2.1: Details", "", "Lemma 2.1: Details"),
        ("a.ptx#ex", "exercise", "Exercise 1.2: Show: it holds", "", "Exercise 1.2: Show: it holds"),
        ("a.md", "note", "Algebra: an introduction", "", "Algebra: an introduction"),
    ],
)
def test_the_headings_above_a_hit_are_no_part_of_its_own_title(
    id: str, kind: str, title: str, above: str, own: str
) -> None:
    text, _, formula = title.partition("$")
    fragments = [Fragment("text", text)] + ([Fragment("formula", formula.rstrip("$"))] if formula else [])
    hit = Hit(id, 1, 1.0, kind, tuple(fragments), place=Place("a", 3))
    assert (str(hit.headings), str(hit.own_title), str(hit.title)) == (above, own, title)
