"""Posts by their formulas and through their parents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.index.engines.entry import Filter
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.results import GRADE, PARENT
from mathamr.search.searcher import Index
from mathamr.systems.ranking import FORMULA_SEARCH, Inherit, Lexical
from tests.index.small import build

ANSWERS = Filter(kinds=("answer",))


def post(identifier: str, kind: str, body: str, parent: str | None = None, title: str = "") -> Post:
    formulas = formulas_of(identifier, title, body, "text")
    return Post(identifier, kind, body, title=title, markup="text", parent=parent, formulas=formulas)  # type: ignore[arg-type]


POSTS = [
    post("bell", "note", r"The bell curve: $\int_{-\infty}^{\infty}e^{-x^2}\,dx=\sqrt{\pi}$."),
    post("half", "note", r"Half of it: $\int_{0}^{\infty}e^{-x^2}\,dx$."),
    post("letters", "note", r"In letters: $\int_{-\infty}^{\infty}e^{-u^2}\,du$."),
    post("circle", "note", "A circle is $x^2+y^2=r^2$."),
    post(
        "q1", "question", "How do elephants remember every path to the river in the dry season of the year?"
    ),
    post("a1", "answer", "They are guided by the oldest of them.", "q1"),
    post(
        "q2",
        "question",
        "How do planes find an airport in the fog when nobody on the ground answers the radio?",
    ),
    post("a2", "answer", "They are guided by the oldest of them.", "q2"),
]
LONG = (
    "I was asked by my daughter how elephants remember every path to the river in the dry season, guided by whom, and"
    " I could not tell her anything about it at all."
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    out = tmp_path_factory.mktemp("posts") / "index"
    build(out, POSTS, model_folder)
    with Index.open(out, device="cpu") as opened:
        yield opened


def test_a_formula_finds_the_posts_that_hold_it_its_letters_and_what_contains_it(index: Index) -> None:
    ranked, _ = index.rank(r"$\int_{-\infty}^{\infty}e^{-x^2}\,dx$", strategy=FORMULA_SEARCH)
    grades = {each.id: each.evidence[GRADE] for each in ranked}
    assert ranked[0].id == "letters"
    assert {"letters": 0.9, "bell": 0.8}.items() <= {
        name: round(grade, 6) for name, grade in grades.items()
    }.items()
    assert grades["half"] < 0.6
    same, _ = index.rank("$x^2+y^2=r^2$", strategy=FORMULA_SEARCH)
    assert (same[0].id, same[0].evidence[GRADE]) == ("circle", 1.0)


def test_a_filter_holds_for_formulas(index: Index) -> None:
    ranked, _ = index.rank("$x^2+y^2=r^2$", strategy=FORMULA_SEARCH, where=ANSWERS)
    assert ranked == []


def test_a_formula_with_a_word_is_found_in_other_letters_by_default(index: Index) -> None:
    hits = index.search("circle $a^2+b^2=c^2$", k=3)
    assert hits[0].id == "circle"
    assert hits[0].match == "strong"
    assert hits[0].reason == "has the formula in other letters"
    assert [each.text for each in hits[0].snippet if each.kind == "formula" and each.matched] == [
        "x^2+y^2=r^2"
    ]


def test_an_answer_is_found_through_its_question(index: Index) -> None:
    alone, _ = index.rank(LONG, strategy=Lexical(), where=ANSWERS)
    assert alone[0].score == pytest.approx(alone[1].score), "the answers say the same"
    ranked, _ = index.rank(LONG, strategy=Inherit(first=Lexical()), where=ANSWERS)
    assert [each.id for each in ranked] == ["a1", "a2"]
    assert ranked[0].evidence[PARENT] > ranked[1].evidence[PARENT]


def test_a_question_of_the_collection_does_not_lead_to_its_own_answers(index: Index) -> None:
    """Known items would find their answers through themselves; in other letters too."""
    asked = next(each for each in POSTS if each.id == "q1").body
    for text in (asked, f"{asked} $x$"):
        ranked, _ = index.rank(
            text, strategy=Inherit(first=Lexical(), kinds=("words", "question", "mixed")), where=ANSWERS
        )
        assert all(PARENT not in each.evidence for each in ranked)
