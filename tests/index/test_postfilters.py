"""What passes a filter is what each payload says, and a filtered ranking is the whole ranking without the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mathamr import Filter, Index
from mathamr.index.engines.entry import Payload
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.index.lexical.lexicalindex import POSTS as WEIGHTING
from mathamr.index.lexical.lexicalindex import LexicalPart
from mathamr.index.lexical.terms import Terms
from mathamr.index.payloads import formula_payloads, post_payloads
from mathamr.index.scored import Scored
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.options import SearchOptions
from mathamr.search.postranker import PostRanker
from mathamr.search.querycontext import StageTimer
from mathamr.systems.ranking import BestFormula, Lexical, MaxSim, Nearest, Ranking
from tests.index.engines.entries import VARIANTS, postgres_server
from tests.index.small import PARSER, write_posts

FORMULAS = ("$x^2+y^2=r^2$", "$a+b$", r"$\int_0^1 x\,dx$", "$x$", "$n!$")
TAGS = ("algebra", "limits", "sets")


def made_post(number: int) -> Post:
    """A post of any kind; every sixth has no date, every fourth answers the question before and has no tags of its own."""
    kind = ("question", "note", "theorem", "answer")[number % 4]
    body = (
        f"The circle number {number} has {FORMULAS[number % 5]} and {FORMULAS[number % 3]} as its equations."
    )
    name = f"p{number:02d}"
    return Post(
        name,
        kind,  # type: ignore[arg-type]
        body if number != 13 else "",
        title=f"On circles {number}",
        markup="text",
        parent=f"p{number - 3:02d}" if kind == "answer" else None,
        formulas=formulas_of(name, "", body, "text") if number != 13 else (),
        tags=() if kind == "answer" else tuple(tag for place, tag in enumerate(TAGS) if number >> place & 1),
        date=None if number % 6 == 0 else f"20{10 + number % 9}-0{1 + number % 8}-11",
        score=None if number % 5 == 0 else number - 9,
    )


POSTS = [made_post(number) for number in range(48)]
FILTERS = {
    "kinds": Filter(kinds=("answer", "note")),
    "tags of the question": Filter(tags=("algebra",)),
    "all tags": Filter(tags=TAGS),
    "between": Filter(after="2012-02", before="2016-05-11"),
    "minimum score": Filter(minimum_score=30),
    "several at once": Filter(kinds=("question",), tags=("sets",), minimum_score=-2, after="2011"),
    "nothing": Filter(tags=("poems",)),
}
each_filter = pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS)


@pytest.fixture(scope="module", params=["flat", "qdrant-local", "postgres"])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model_folder: Path
) -> Iterator[Index]:
    name, options = VARIANTS[request.param]
    if name == "postgres":
        postgres_server()
    elif name == "qdrant":
        pytest.importorskip("qdrant_client", reason="needs mathamr[qdrant]")
    folder = tmp_path_factory.mktemp("filters")
    wanted = BuildOptions(
        model=model_folder, engine=name, engine_options=options, parser=PARSER, device="cpu"
    )
    build_index([write_posts(folder / "posts.jsonl", POSTS)], folder / "index", wanted)
    with Index.open(folder / "index", device="cpu") as opened:
        yield opened


def passing(index: Index, where: Filter) -> set[str]:
    """The oracle: every payload by itself, from the posts alone."""
    catalogue = index.archive.catalogue
    payloads = post_payloads(catalogue, [post.id for post in POSTS])
    return {name for name, payload in payloads.items() if where.passes(payload)}


def found(index: Index, text: str, task: Any, ranking: Ranking, where: Filter | None) -> Sequence[Scored]:
    """The results of one ranking, as deep as there are any."""
    with index.archive.reading():
        context, _ = index._context(text, task, StageTimer())
        return list(index._ranker(context, task).find(ranking, SearchOptions(1000, where)).hits)


@each_filter
def test_the_posts_that_pass_are_those_whose_payloads_pass(index: Index, where: Filter) -> None:
    with index.archive.reading():
        assert index.archive.filters.posts(where) == passing(index, where)
        assert index.archive.filters.posts(where) is index.archive.filters.posts(where), "found once"
        assert index.archive.filters.posts(None) == {post.id for post in POSTS}


@each_filter
@pytest.mark.parametrize("ranking", [Lexical(), Nearest("document"), MaxSim("parts")], ids=str)
def test_a_filtered_ranking_of_posts_is_the_whole_ranking_without_the_others(
    index: Index, ranking: Ranking, where: Filter
) -> None:
    whole = found(index, "circle number 7 with $x^2+y^2$", "answers", ranking, None)
    assert len(whole) > 40
    wanted = passing(index, where)
    filtered = found(index, "circle number 7 with $x^2+y^2$", "answers", ranking, where)
    assert [hit.id for hit in filtered] == [hit.id for hit in whole if hit.id in wanted]
    assert [hit.score for hit in filtered] == pytest.approx(
        [hit.score for hit in whole if hit.id in wanted], abs=2e-6
    )


@each_filter
def test_posts_by_their_formulas_are_the_same_with_a_filter(index: Index, where: Filter) -> None:
    ranking = BestFormula(Lexical(), pool=100)
    whole, wanted = found(index, "$x^2+y^2=r^2$", "answers", ranking, None), passing(index, where)
    assert whole
    assert found(index, "$x^2+y^2=r^2$", "answers", ranking, where) == [
        hit for hit in whole if hit.id in wanted
    ]


@each_filter
def test_formulas_are_found_at_their_first_place_in_a_post_that_passes(index: Index, where: Filter) -> None:
    catalogue, wanted = index.archive.catalogue, passing(index, where)
    whole = found(index, "$x^2+y$", "formulas", Lexical(), None)
    assert len(whole) > 2
    places = {
        hit.id: [each for each in catalogue.with_visual(hit.id) if catalogue.formula(each).post in wanted]
        for hit in whole
    }
    filtered = found(index, "$x^2+y$", "formulas", Lexical(), where)
    assert filtered == [hit for hit in whole if places[hit.id]]
    hits = index.rank("$x^2+y$", "formulas", Lexical(), where=where)[0]
    assert {hit.visual: hit.id for hit in hits} == {visual: own[0] for visual, own in places.items() if own}
    payloads = formula_payloads(catalogue, [hit.id for hit in hits])
    assert all(where.passes(payload) for payload in payloads.values())


class Counted(LexicalPart):
    """Remembers how many results it was asked for."""

    depths: ClassVar[list[int]] = []

    def search(self, terms: Terms, k: int, *more: Any) -> Sequence[Scored]:
        self.depths.append(k)
        return super().search(terms, k, *more)


@each_filter
def test_words_are_searched_once_for_what_is_wanted_and_no_payload_is_read(
    index: Index, where: Filter
) -> None:
    def refuse(of: object, ids: Sequence[str]) -> dict[str, Payload]:
        raise AssertionError("a filter needs no payload of a result")

    Counted.depths.clear()
    lexicon = Counted(index.archive.folder / "lexical" / "posts", WEIGHTING, read_only=True)
    with index.archive.reading():
        context, _ = index._context("which circle has the number 7 and $x^2+y^2$?", "answers", StageTimer())
        ranker = PostRanker(
            context,
            index.archive.engine,
            lambda: lexicon,
            refuse,
            index.archive.catalogue,
            filters=index.archive.filters,
        )
        ranker.find(Lexical(), SearchOptions(2, where))
    assert Counted.depths == [2]
