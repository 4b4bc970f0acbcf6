"""What people type first: a word, the name of an operator, a letter, a label, a number; each is found where it stands."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr import Index
from mathamr.formulas.latex.symbols import OPERATOR_ROLES, SYMBOLS
from mathamr.index.lexical.terms import STOP_WORDS, latex_tokens, post_terms
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Place, Post
from mathamr.systems.models import DEFAULT, boxed_folder
from tests.cases import cases
from tests.models import build_sample_index


@pytest.fixture(scope="module")
def counts(index: Index) -> Counter[str]:
    """In how many posts of the sample each word stands."""
    return Counter(word for post in index.posts() for word in set(post_terms(post)["words"]))


def test_no_word_that_stands_in_the_posts_is_denied(index: Index, counts: Counter[str]) -> None:
    """Of a hundred such words 26 were."""
    words = sorted(
        word for word, often in counts.items() if often >= 4 and word not in STOP_WORDS and word.isalpha()
    )
    drawn = random.Random(65).sample(words, 40)
    assert {
        word: hits.found
        for word in drawn
        if (hits := index.search(word, k=3)).found in ("similar", "nothing")
    } == {}


def operators(index: Index) -> list[str]:
    """The names of operators of which the sample has the word or the symbol."""
    used = {
        token for post in index.posts() for formula in post.formulas for token in latex_tokens(formula.latex)
    }
    spelled = {
        name
        for post in index.posts()
        for formula in post.formulas
        for name in re.findall(r"\\(?:operatorname|mathrm)\{([a-zA-Z]+)\}", formula.latex)
    }
    named = (
        name[1:] for name, symbol in SYMBOLS.items() if symbol.role in OPERATOR_ROLES and name[1:].isalpha()
    )
    return sorted(
        {name for name in named if f"\\{name}" in used or name in spelled}
        | {"integral", "limit", "product", "determinant"}
    )


def test_the_name_of_an_operator_is_a_word_and_its_symbol(index: Index) -> None:
    names = operators(index)
    assert {"sum", "max", "min", "log", "det", "gcd", "exp", "int", "lim", "lcm", "sgn", "Im"} <= set(names)
    denied = {name for name in names if index.search(name, k=3).found in ("similar", "nothing")}
    assert denied == set()


@pytest.mark.parametrize("text", ["x", "n", "alpha", "\\varepsilon", "epsilon"])
def test_a_letter_is_found_in_formulas(index: Index, text: str) -> None:
    hits = index.search(text, k=3)
    assert hits.found in ("strong", "weak")
    assert hits.notes == ()
    assert hits.absent == ()


def note(identifier: str, title: str, body: str, label: str = "") -> Post:
    place = Place("notes.tex", label=label)
    formulas = formulas_of(identifier, title, body, "latex")
    return Post(identifier, "note", body, title=title, markup="latex", formulas=formulas, place=place)


def _posts() -> list[Post]:
    return [
        note(
            "compact",
            "Closed subsets",
            "Every closed subset of a compact space is compact.",
            "thm:ClosedCompact",
        ),
        note("wave", "Waves", "Then $$u_{tt} = u_{xx} \\tag{2.1}$$ holds.", "eq:Wave"),
        note("uses", "Strings", "By (2.1) a string vibrates.", "lem:Zappa"),
        note("theorem", "Theorem 2.1", "A string is finite.", "thm:finite"),
        note("next", "Theorem 7.8", "A string is long.", "thm:long"),
        note("other", "Graphs", "A tree with $n$ vertices has $n-1$ edges.", "prop:tree"),
        note("circle", "Circles", "A circle without its middle.", "ex:S1_c_minus_d"),
        *(note(f"more-{n}", f"Remark {n}", f"Nothing of note about $x_{n}$ and rings.") for n in range(14)),
    ]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    posts = _posts()
    folder = build_sample_index(tmp_path_factory.mktemp("typed") / "index", model_folder, posts)
    with Index.open(folder, device="cpu") as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("thm:ClosedCompact", "compact"),
        ("thm:closedcompact", "compact"),
        ("THM:CLOSEDCOMPACT", "compact"),
        ("label:eq:wave", "wave"),
        ("lem:Zappa", "uses"),
        ("prop:tree", "other"),
        ("ex:S1_c_minus_d", "circle"),
        ("label:EX:s1_c_minus_d", "circle"),
        ("Theorem 2.1", "theorem"),
        ("theorem 2.1", "theorem"),
    ],
)
def test_an_exact_label_or_number_is_found_whatever_else_is_absent(
    notes: Index, text: str, first: str
) -> None:
    hits = notes.search(text, k=5)
    assert hits[0].id == first
    assert (hits[0].match, hits.found, hits.absent) == ("strong", "strong", ())


def test_another_number_is_no_match(notes: Index) -> None:
    hits = notes.search("Theorem 2.1", k=6)
    assert "next" in [hit.id for hit in hits]
    assert {hit.id for hit in hits if hit.match != "similar"} == {"theorem"}


@pytest.fixture(scope="module")
def meant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The same notes with the vectors of the default model."""
    folder = tmp_path_factory.mktemp("meant") / "index"
    with Index.open(build_sample_index(folder, boxed_folder(DEFAULT), _posts()), device="cpu") as opened:
        yield opened


@cases("text", ["equation (2.1)", "Eq. (2.1)", "(2.1)", "eqn (2.1)?"])
def test_the_number_of_an_equation_is_found(meant: Index, text: str) -> None:
    hits = meant.search(text, k=6)
    assert {hit.id for hit in hits if hit.match == "strong"} >= {"wave", "uses"}
    assert hits.absent == ()


def test_words_side_by_side_are_not_denied(notes: Index) -> None:
    hits = notes.search("compact space", k=3)
    assert hits[0].id == "compact"
    assert hits.found in ("strong", "weak")


@pytest.mark.parametrize("text", ["Zappaflap theorem", "banach", "zebra crossing"])
def test_what_nothing_has_is_still_denied(notes: Index, text: str) -> None:
    assert notes.search(text, k=3).found in ("similar", "nothing")


def test_the_wording_follows_the_certainty(notes: Index) -> None:
    """A denial is right in nine of ten cases: a question is never answered by it."""
    sure, asked = notes.search("zebra crossing"), notes.search("who tamed the zebra?")
    assert (sure.found, sure.heading) == ("nothing", "Nothing here seems to be what was asked. Similar only:")
    assert (asked.found, asked.heading) == ("similar", "The nearest, perhaps not what you asked:")
    known = notes.search("Theorem 2.1")
    assert (known.found, known.heading) == ("strong", "")
    assert notes.search("zebra crossing", offset=2).heading == ""


def test_what_was_looked_through_is_told(notes: Index) -> None:
    checked = notes.search("zebra crossing").checked
    assert checked is not None
    assert checked.holdings.entries == len(notes)
    assert checked.to_json()["unread_formulas"] == 0
    assert str(checked).startswith(f"looked through {len(notes)} entries of ")


def test_hits_print_as_a_few_lines(notes: Index) -> None:
    hits = notes.search("zebra crossing", k=2)
    assert repr(hits) == "Hits('zebra crossing', 2 answers and more, found='nothing')"
    assert len(str(hits).splitlines()) <= 4


def test_a_found_formula_says_what_it_is_to_the_query(index: Index) -> None:
    hits = index.search("\\sum_{n=1}^\\infty\\frac1{n^2}", "formulas", k=3)
    assert (hits[0].match, hits[0].reason) == ("strong", "contains the formula")
    assert hits[-1].reason in ("a similar formula", "contains the formula")
    posts = index.search("\\sum_{n=1}^\\infty\\frac1{n^2}", k=3)
    assert posts[0].match == "strong"


@pytest.mark.parametrize("text", ["Theorem 2.1", "thm:ClosedCompact", "compact space"])
def test_scores_have_no_bonus_of_a_name_or_a_label(notes: Index, text: str) -> None:
    """A score of 245 stood beside one of 0."""
    hits, (ranked, _) = notes.search(text, k=5), notes.rank(text, depth=5)
    assert max(hit.score for hit in hits) < 30
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)
    assert all(hit.share <= 1 for hit in hits)
