"""Sentences as they are shown: formulas whole, texts cut at words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import passage
from mathamr.posts.post import Link, Post
from mathamr.search.fragment import Fragment, formulas_by_id, fragments, plain, shortened
from tests.index.small import note


def test_a_sentence_becomes_text_and_formulas_in_order() -> None:
    read = note("7", "Let $x>0$ and $y = 1$ hold.")
    found = fragments(passage(read).sentences[0], formulas_by_id(read), read)
    assert [(each.kind, each.text, each.formula) for each in found] == [
        ("text", "Let ", None),
        ("formula", "x>0", "7:0"),
        ("text", " and ", None),
        ("formula", "y = 1", "7:1"),
        ("text", " hold.", None),
    ]
    assert plain(found) == "Let $x>0$ and $y = 1$ hold."


def test_a_visual_alike_of_a_placeholder_stays_text() -> None:
    read = note("7", "The word FORMULA_0 and $x$.")
    assert (
        plain(fragments(passage(read).sentences[0], formulas_by_id(read), read))
        == "The word FORMULA-0 and $x$."
    )


def test_references_have_the_numbers_of_their_document() -> None:
    body = (
        r"By \cref{lem:bezout}, \Cref{lem:bezout} and Theorem~\ref{thm:main}, $x=1$ by \cref{lem:lost}, \eqref{eq:a}"
        r" and again \cref{lem:bezout}."
    )
    links = (
        Link("b#1", "mention", "Lemma 1.1", "lem:bezout", "1.1"),
        Link("b#2", "mention", "Theorem 2", "thm:main", "2"),
        Link("b#3", "mention", "(3)", "eq:a", "3"),
    )
    read = Post("7", "note", body, markup="latex", links=links, formulas=formulas_of("7", "", body, "latex"))
    (sentence,) = passage(read).sentences
    assert plain(fragments(sentence, formulas_by_id(read), read)) == (
        "By lemma 1.1, Lemma 1.1 and Theorem 2, $x=1$ by lemma lost, (3) and again lemma 1.1."
    )
    assert "lemma bezout" in sentence.text, "the words of labels are what is searched"


def test_a_printed_formula_has_no_label() -> None:
    assert plain([Fragment("formula", r"\label{eq:a} x = 1", "7:0")]) == "$x = 1$"


def test_a_formula_without_latex_is_named() -> None:
    assert plain([Fragment("formula", "", "7:0")]) == "[formula]"


_stretch = st.lists(
    st.builds(Fragment, st.just("text"), st.text(alphabet="ab ", min_size=1, max_size=30))
    | st.builds(Fragment, st.just("formula"), st.text(alphabet="xyz+", min_size=1, max_size=30)),
    max_size=6,
)


@given(_stretch, st.integers(5, 60))
def test_what_is_shortened_fits_and_holds_only_whole_formulas(stretch: list[Fragment], width: int) -> None:
    found = shortened(stretch, width)
    formulas = [each for each in found if each.kind == "formula"]
    assert formulas == [each for each in stretch if each.kind == "formula"][: len(formulas)]
    if found != stretch:
        assert found[-1].kind == "gap"
        first_is_formula = stretch[0].kind == "formula"
        assert sum(map(len, found[:-1])) <= (max(width, len(stretch[0])) if first_is_formula else width)


def test_json_names_the_formula() -> None:
    row = Fragment("formula", "x", "7:0", True, True).to_json()
    assert row == {"kind": "formula", "text": "x", "matched": True, "formula": "7:0", "display": True}
    assert Fragment("text", "a").to_json() == {"kind": "text", "text": "a", "matched": False}
