"""Snippets: the right sentence, marked, and never half a formula."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.indexing.analysis import analyse
from mathamr.index.lexical.terms import STOP_WORDS, latex_tokens, word_tokens, words
from mathamr.index.preview import Preview, title_parts
from mathamr.posts.markup import formulas_of
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Link, Post
from mathamr.search.fragment import Fragment, plain
from mathamr.search.query import Query
from mathamr.search.snippet import LENGTH, Snippets, Wanted, title, title_of
from mathamr.search.workbudget import WorkBudget
from tests.cases import cases
from tests.models import sample_posts

FILLER = "This sentence talks about something else entirely, such as the weather. "


def post(body: str, heading: str = "") -> Post:
    formulas = formulas_of("7", heading, body, "text")
    return Post("7", "note", body, title=heading, markup="text", formulas=formulas)


def snippet(
    post: Post, wanted: Wanted, near: Mapping[int, float] | None = None, formula: str | None = None
) -> tuple[Fragment, ...]:
    return snippet_of(Preview.of(post), wanted, near, formula)


def snippet_of(
    preview: Preview, wanted: Wanted, near: Mapping[int, float] | None = None, formula: str | None = None
) -> tuple[Fragment, ...]:
    similar = [(near or {}).get(number, math.nan) for number in range(len(preview.numbers.sentences))]
    held = preview.formula_ids.index(formula) if formula else None
    return Snippets([preview], wanted, [np.array(similar)], [held])[0]


def matched(stretch: tuple[Fragment, ...]) -> list[str]:
    return [str(fragment) for fragment in stretch if fragment.matched]


@cases(
    ("body", "asked", "shown", "marked"),
    [
        (
            f"{FILLER * 8}Every compact set is bounded. {FILLER * 8}",
            "bounds of compact sets",
            "Every compact set is bounded.",
            ["compact", "set", "bounded"],
        ),
        ("What is it? It is what it is.", "what is it", "What is it?", []),  # stop words are not marked
        # a formula is found however it is written
        (
            f"{FILLER * 8}We need $\\frac1{{n^2}}$ here. {FILLER * 8}And $x+y$ there.",
            "$\\dfrac{1}{n^{2}}$",
            "We need $\\frac1{n^2}$ here.",
            ["$\\frac1{n^2}$"],
        ),
        ("Here $a+b$ stands.", "$\\int_0^1 f$", "Here $a+b$ stands.", []),
        (
            f"First compact thing. {FILLER * 6}Last compact thing.",
            "compact",
            "First compact thing. … Last compact thing.",
            ["compact"] * 2,
        ),
        ("", "x", "", []),
    ],
)
def test_the_sentence_that_was_asked_for_is_shown_and_marked(
    body: str, asked: str, shown: str, marked: list[str]
) -> None:
    found = snippet(post(body), Wanted(Query.of_text(asked)))
    assert shown in plain(found)
    assert len(plain(found)) < 2 * LENGTH
    assert matched(found) == marked


def test_vectors_decide_where_nothing_is_shared() -> None:
    body = "".join(
        f"Sentence number {name} stands here and is rather long, to fill the room. "
        for name in ("one", "two", "three", "four", "five", "six", "seven", "eight")
    )
    wanted = Wanted(Query.of_text("unrelated"))
    near = dict.fromkeys(range(8), 0.1) | {5: 0.9}
    found = plain(snippet(post(body), wanted, near))
    assert "number six" in found


def test_the_sentence_of_a_found_formula_is_always_there() -> None:
    body = FILLER * 4 + "Then $q$ follows. " + FILLER * 4 + "Every compact set is bounded."
    read = post(body)
    found = snippet(read, Wanted(Query.of_text("compact sets are bounded")), formula=read.formulas[0].id)
    assert "$q$" in matched(found)


def test_a_long_sentence_is_cut_around_its_match() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    found = snippet(post(f"{words} compact {words}."), Wanted(Query.of_text("compact")))
    assert matched(found) == ["compact"]
    assert len(plain(found)) < 1.5 * LENGTH
    assert plain(found).startswith("…")
    assert plain(found).endswith("…")


def test_a_long_formula_stays_whole() -> None:
    latex = "+".join(f"x_{{{number}}}" for number in range(200))
    found = snippet(post(f"Look: ${latex}$ and so on."), Wanted(Query.of_text(f"${latex}$")))
    assert [fragment.text for fragment in found if fragment.kind == "formula"] == [latex]


def test_titles_name_their_formulas() -> None:
    read = post("Body $z$.", "On $x+y$ and compact sets")
    found = title(title_parts(read, read.formulas), Wanted(Query.of_text("compact $x+y$")))
    assert [fragment.formula for fragment in found if fragment.kind == "formula"] == ["7:0"]
    assert matched(found) == ["$x+y$", "compact"]
    assert plain(title_of(read)) == "On $x+y$ and compact sets"
    assert plain(snippet(post("", "On $x$ and $y$"), Wanted(Query.of_text("$x$")))) == "On $x$ and $y$"


_sentences = st.lists(
    st.sampled_from(
        ["Let $x>0$. ", "Compact sets are nice. ", "So $\\sum_{n} a_n$ converges to $s$! ", "$$z$$ "]
    ),
    max_size=20,
)


@settings(max_examples=40)
@given(_sentences)
def test_fragments_are_stretches_of_the_post(sentences: list[str]) -> None:
    read = post("".join(sentences))
    formulas = {formula.id: formula.latex for formula in read.formulas}
    for fragment in snippet(read, Wanted(Query.of_text("compact $x>0$"))):
        if fragment.kind == "formula":
            assert formulas[fragment.formula or ""] == fragment.text
        elif fragment.kind == "text":
            assert fragment.text.strip() in read.body or not fragment.text.strip()


ASKED = [
    "where is $\\sum_{n=1}^\\infty \\frac{1}{n^2}$ used, and why does it converge?",
    "non-empty compact sets and Hölder's inequality",
    "formulas for $x^2+y^2$ and $\\frac1n$",
    "l'Hôpital",
    "$\\int_0^1 f(x)\\,dx$",
]


@pytest.mark.parametrize("text", ASKED)
def test_words_and_formulas_that_are_looked_for_in_short_cuts_are_those_of_whole_sentences(text: str) -> None:
    query = Query.of_text(text)
    wanted = Wanted(query)
    asked = {stem for sentence in query.passage.sentences for stem in stems_of(sentence.text)}
    grams = [grams_of(formula.latex) for formula in query.formulas]
    for each in sample_posts(60):
        numbers = Preview.of(each).numbers
        sentences = passage(each).sentences
        shares = [len(asked & stems_of(sentence.text)) / max(1, len(asked)) for sentence in sentences]
        assert wanted.word_shares(numbers.stems, numbers.sentences[:, 6]).tolist() == shares
        for sentence in sentences:
            for word in words(PLACEHOLDER.sub(" ", sentence.text)):
                assert wanted.has_word[word.title()] == bool(asked & stems_of(word)), word
        best = [
            max((dice(grams_of(formula.latex), other) for other in grams), default=0.0)
            for formula in each.formulas
        ]
        together = wanted.formula_shares(numbers.tokens, numbers.formulas[:, 3], ())
        assert together.tolist() == pytest.approx(best, abs=1e-12)
        assert [wanted.formula(formula.latex) for formula in each.formulas] == pytest.approx(best, abs=1e-12)


@given(st.lists(st.sampled_from(["a", "b", "+", "\\frac", "{", "}", "2"]), max_size=12).map(" ".join))
def test_formulas_share_as_much_as_all_their_runs_of_tokens_do(latex: str) -> None:
    asked = "\\frac{a+b}{2}+a+b"
    wanted = Wanted(Query.of_formula(asked))
    expected = dice(grams_of(latex), grams_of(asked))
    assert wanted.formula(latex) == pytest.approx(expected, abs=1e-12)


def test_a_stored_preview_makes_the_same_snippet_and_title(tmp_path: Path) -> None:
    wanted = Wanted(Query.of_text("why does the series $\\sum 1/n$ diverge"))
    linked = Post(
        "l",
        "note",
        r"By \cref{a} the series $x$ diverges.",
        markup="latex",
        links=(Link("b", words="Lemma 1.1", label="a", number="1.1"),),
    )
    posts = [*sample_posts(30), replace(linked, formulas=formulas_of("l", "", linked.body, "latex"))]
    with Catalogue(tmp_path / "catalogue.db", create=True) as catalogue:
        with catalogue.transaction():
            catalogue.put_rows([analyse(each).row for each in posts], "file")
        stored = catalogue.stored_previews([each.id for each in posts])
    assert "lemma 1.1" in plain(snippet_of(stored["l"], wanted))
    for each in posts:
        assert snippet_of(stored[each.id], wanted) == snippet(each, wanted)
        assert title(stored[each.id].head.title, wanted) == title(title_parts(each, each.formulas), wanted)
    assert not any(stored[each.id].post.body for each in posts[:-1])


def stems_of(text: str) -> set[str]:
    telling = [word for word in words(PLACEHOLDER.sub(" ", text)) if word not in STOP_WORDS]
    return set(word_tokens(" ".join(telling)))


def grams_of(latex: str) -> Counter[tuple[str, ...]]:
    tokens = latex_tokens(latex)
    triples = [tuple(tokens[start : start + 3]) for start in range(len(tokens) - 2)]
    return Counter([*((token,) for token in tokens), *pairwise(tokens), *triples])


def dice(one: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def test_formulas_beyond_the_budget_are_not_compared_but_counted() -> None:
    found = post("Let $x^2$ be. Then $x^2+1$ and $x^2+2$ are.")
    query = Query.of_text("$x^2+1$")
    unbounded, bounded = Wanted(query), Wanted(query, WorkBudget(60))
    assert len(matched(snippet(found, unbounded))) > len(matched(snippet(found, bounded)))
    assert (unbounded.uncompared, bounded.uncompared) == (0, 2)


def test_a_heading_without_a_stop_is_told_from_the_sentence_behind_it() -> None:
    body = "## The square\n\nEvery square is positive.\n\nNo square is negative."
    read = Post("7", "note", body, title="Squares", markup="markdown", formulas=())
    shown = plain(snippet(read, Wanted(Query.of_text("square"))))
    assert shown == "The square · Every square is positive. No square is negative."
