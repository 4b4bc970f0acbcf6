"""Of a short query, a post that has every word never ranks below one that has none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from mathamr import Index, Query
from mathamr.core.arrays import IntArray
from mathamr.index.scored import ListedNames, Scored
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.querywords import QueryWords
from mathamr.search.wordsfirst import LOOKED_AT, order_by_words
from tests.cases import cases
from tests.models import build_sample_index, sample_posts

STUBS = 13


def stub(word: str, number: int) -> Post:
    return Post(f"{word}-{number}", "note", "To do.", title=word.capitalize(), markup="text")


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    """Forty questions and notes of which only the titles are written."""
    posts = [
        *sample_posts(40),
        *(stub(word, number) for word in ("lattice", "sheaf") for number in range(STUBS)),
    ]
    posts.append(Post("both", "note", "A lattice is no sheaf.", title="On words", markup="text"))
    long = (
        "Much else is said of many things, of which a matroid is one, and $x^2+1$ another. "
        + "So it goes. " * 20
    )
    for name, body in (("formula", "Here $x^2+1$ stands."), ("formula and word", long)):
        posts.append(Post(name, "note", body, markup="text", formulas=formulas_of(name, "", body, "text")))
    folder = build_sample_index(tmp_path_factory.mktemp("stubs") / "index", model_folder, posts)
    with Index.open(folder, device="cpu") as opened:
        yield opened


@pytest.mark.parametrize("word", ["lattice", "sheaf"])
@pytest.mark.parametrize("text", ["{}", "what is a {}?", "{}s"])
def test_every_stub_with_the_word_is_before_all_posts_without_it(stubs: Index, word: str, text: str) -> None:
    found = stubs.search(text.format(word), k=STUBS + 1)
    assert {hit.id for hit in found} == {*(f"{word}-{number}" for number in range(STUBS)), "both"}
    assert all(hit.evidence.get("lexical") for hit in found)
    scores = [each.score for each in stubs.rank(text.format(word), depth=60)[0]]
    assert scores == sorted(scores, reverse=True)


def test_posts_with_some_words_keep_their_places(stubs: Index) -> None:
    found = [hit.id for hit in stubs.search("lattice sheaf", k=2 * STUBS + 10)]
    none = [
        place
        for place, each in enumerate(found)
        if each.partition("-")[0] not in ("lattice", "sheaf", "both")
    ]
    assert found.index("both") < min(none)


@pytest.mark.parametrize("text", ["matroid $x^2+1$", "$x^2+1$ of a matroid", "x^2+1 matroids"])
def test_a_post_with_the_formula_and_no_word_is_behind_one_with_both(stubs: Index, text: str) -> None:
    found = [hit.id for hit in stubs.search(text)]
    assert found.index("formula and word") < found.index("formula")


class Holders:
    """Posts and the stems that they have, each a letter."""

    def __init__(self, held: Mapping[str, str]) -> None:
        self.held, self.names = held, ListedNames(held)

    def rows_having(self, field: str, terms: Collection[str]) -> dict[str, IntArray]:
        return {
            term: self.names.find(each for each, own in self.held.items() if term in own) for term in terms
        }


def wanted(stems: str) -> QueryWords:
    return QueryWords(tuple(frozenset([("stems", stem)]) for stem in stems))


def ordered(names: str, among: Collection[str] | None = None) -> str:
    """The post c has both words, e one of them."""
    hits = [Scored(name, 1.0 - place / 10) for place, name in enumerate(names)]
    found = order_by_words(hits, wanted("xy"), Holders({"c": "xy", "e": "x"}), lambda ids: {}, among)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    return "".join(hit.id for hit in found)


@cases(
    ("names", "expected"),
    [("abcd", "cabd"), ("cabd", "cabd"), ("abd", "abd"), ("eafcbg", "ecafbg")],
)
def test_only_posts_without_any_word_give_way_and_only_to_those_with_all(names: str, expected: str) -> None:
    assert ordered(names) == expected


def test_beside_a_formula_only_posts_that_have_it_give_way() -> None:
    assert ordered("abcd", {"b", "c"}) == "acbd"
    assert ordered("abcd", {"a", "b"}) == "abcd"


def test_an_answer_has_the_words_of_its_question() -> None:
    hits = [Scored(name, 1.0 - place / 10) for place, name in enumerate("abcd")]
    holders = Holders({"c": "xy", "question": "xy"})
    found = order_by_words(hits, wanted("xy"), holders, lambda ids: {"b": "question"})
    assert [hit.id for hit in found] == ["b", "c", "a", "d"]


def test_nothing_changes_where_the_first_results_all_have_a_word() -> None:
    holders = Holders({f"p{place}": "x" if place < LOOKED_AT else "" for place in range(500)} | {"last": "x"})
    hits = [Scored(f"p{place}", 1000.0 - place) for place in range(500)]
    asked: list[Sequence[str]] = []

    def parents(ids: Sequence[str]) -> dict[str, str]:
        asked.append(ids)
        return {}

    assert order_by_words([*hits, Scored("last", 1.0)], wanted("x"), holders, parents)[-1].id == "last"
    assert not asked


@cases(
    ("text", "stems"),
    [
        ("compact sets", {"compact", "set"}),
        ("what is a lattice", {"lattic"}),
        ("$x^2+1$ lattice", {"lattic"}),
        ("$x^2+1$", set()),
        ("the alpha of x", set()),
    ],
)
def test_the_words_that_count_are_neither_common_words_nor_letters(text: str, stems: set[str]) -> None:
    found = Query.of_text(text).wanted
    assert {term for terms in found.wanted for _, term in terms} == stems


def test_a_word_alone_that_names_a_symbol_is_the_symbol_too() -> None:
    assert Query.of_text("sum").wanted.wanted == (frozenset([("stems", "sum"), ("latex", "$\\sum")]),)
    assert len(Query.of_text("x").wanted) == 1
