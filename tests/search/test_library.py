"""Declarations of a formal library among search results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast, get_args

import pytest

from mathamr.index.engines.entry import Filter, Payload
from mathamr.index.lexical.lexicalindex import LexicalIndex, LexicalPart
from mathamr.index.lexical.terms import post_terms
from mathamr.index.scored import Scored
from mathamr.posts.post import Place, Post
from mathamr.posts.postkind import PostKind
from mathamr.search.confidence import MOST_LOOKED_AT
from mathamr.search.hits import reason_of
from mathamr.search.library import library_query, library_rankings
from mathamr.search.namequery import NameQuery
from mathamr.search.options import SearchOptions
from mathamr.search.postnames import last_parts
from mathamr.search.postranker import PostRanker, central_first
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext, QueryVectors
from mathamr.search.ranker import FoundHits
from mathamr.search.results import MEMBER
from mathamr.search.searcher import Index
from mathamr.systems.field import FieldTarget
from mathamr.systems.ranking import (
    Belongs,
    Component,
    Fuse,
    Lexical,
    MaxSim,
    Nearest,
    Promote,
    QueryKind,
    Ranking,
    fusion_of,
)
from mathamr.text.wording import wording_alone
from tests.cases import cases
from tests.index.small import build
from tests.search.test_namequery import Known, having


def ordered(tags: dict[str, tuple[str, ...]], scores: dict[str, float]) -> list[str]:
    """The results after auxiliary declarations were lowered."""

    def payloads(_: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        return {each: Payload("theorem", tags[each]) for each in ids}

    found = central_first(FoundHits([Scored(*each) for each in scores.items()]), payloads)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    return [hit.id for hit in found.hits]


def test_documented_declarations_come_before_auxiliary_ones_of_nearly_the_same_score() -> None:
    library = ("module:A",)
    tags = {
        "generated": (*library, "undocumented", "generated"),
        "undocumented": (*library, "undocumented"),
        "documented": library,
        "far": library,
    }
    scores = {"generated": 3.02, "undocumented": 3.01, "documented": 3.0, "far": 1.0}
    assert ordered(tags, scores) == ["documented", "undocumented", "generated", "far"]
    scores = {"generated": 3.02, "undocumented": 3.01, "documented": 2.0, "far": 1.0}
    assert ordered(tags, scores) == ["undocumented", "generated", "documented", "far"]


def test_a_documented_declaration_is_raised_however_few_results_are_wanted() -> None:
    """Fifty undocumented declarations come before a documented one of nearly the same score, far ones behind it."""
    scores = {f"undocumented{place}": 3.0 for place in range(50)} | {"documented": 2.99}
    scores |= {f"far{place}": 1.0 for place in range(60)}

    class Recorded(PostRanker):
        def _by_words(self, lexicon: object, options: SearchOptions) -> list[Scored]:
            return [Scored(*each) for each in scores.items()][: options.depth]

    def payloads(_: FieldTarget, ids: Sequence[str]) -> dict[str, Payload]:
        lacking = {each: ("undocumented",) if each.startswith("undocumented") else () for each in ids}
        return {each: Payload("theorem", ("module:A", *tags)) for each, tags in lacking.items()}

    context = QueryContext(Query.of_text("compact"), cast(QueryVectors, None))
    ranker = Recorded(context, None, lambda: cast(LexicalPart, None), payloads, has_declarations=True)
    words = Fuse(parts=(Component("lexical", Lexical()),), normalisation="z")
    for depth in (1, 12, 100):
        assert ranker.rank(Promote(words), SearchOptions(depth), "words")[0].id == "documented"


def test_notes_of_modules_come_behind_declarations_and_those_of_others_stay() -> None:
    kinds = {"module": "note", "declaration": "theorem", "own": "note", "far": "theorem"}
    tags = {"module": ("module:A",), "declaration": ("module:A",), "own": (), "far": ("module:A",)}
    found = central_first(
        FoundHits(
            [Scored("module", 3.2), Scored("own", 3.1), Scored("declaration", 3.0), Scored("far", 1.0)]
        ),
        lambda _, ids: {each: Payload(kinds[each], tags[each]) for each in ids},
    )
    assert [hit.id for hit in found.hits] == ["own", "declaration", "far", "module"]


def test_notes_of_modules_keep_their_order_where_nothing_else_is_found() -> None:
    hits = [Scored("b", 3.0), Scored("a", 1.0)]
    found = central_first(
        FoundHits(hits), lambda _, ids: {each: Payload("note", ("module:A",)) for each in ids}
    )
    assert found.hits == hits


def declared(name: str, said: str, kind: PostKind = "theorem") -> Post:
    """A declaration as the reader of Lean gives it."""
    return Post(
        f"a.lean#{name}",
        kind,
        f"{said}\n\n```lean\n{kind} {name} : True\n```\n",
        title=name,
        markup="declaration",
        tags=("module:A",),
        place=Place("a.lean", 1, name, (name.rpartition(".")[2],)),
    )


WALKS = (
    declared("Wander", "A way through a graph.", "definition"),
    declared("Wander.length_concat", "The elephants of a concatenation are the sum of the elephants."),
    declared("Wander.Closed.length_even", "Elephants of closed ones are even."),
    declared("Other.length_concat", "The elephants of anything else."),
    declared("Wanderer", "Somebody who is on the way.", "definition"),
)


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Index]:
    out = tmp_path_factory.mktemp("walks") / "index"
    build(out, WALKS, model_folder)
    with Index.open(out, device="cpu") as opened:
        yield opened


def test_a_declaration_belongs_to_what_has_the_longest_part_of_its_name(walks: Index) -> None:
    owners = walks.archive.catalogue.owners([each.id for each in WALKS])
    assert owners == {
        "a.lean#Wander.length_concat": "a.lean#Wander",
        "a.lean#Wander.Closed.length_even": "a.lean#Wander",
    }


def test_a_definition_is_found_through_its_members(walks: Index) -> None:
    def found(text: str, strategy: Ranking, where: Filter | None = None) -> dict[str, float]:
        return {
            each.id.partition("#")[2]: each.score
            for each in walks.rank(text, strategy=strategy, where=where)[0]
        }

    alone = found("elephants", Lexical())
    assert "Wander" not in alone
    members = found("elephants", Belongs(first=Lexical(), share=2.0))
    assert next(iter(members)) == "Wander"
    assert {name: score for name, score in members.items() if name != "Wander"} == alone
    assert members["Wander"] == pytest.approx(
        min(alone.values()) + 2 * max(alone["Wander.length_concat"], alone["Wander.Closed.length_even"])
    )
    assert "Wander" not in found("elephants", Belongs(first=Lexical()), Filter(kinds=("theorem",)))
    assert found("theorem about elephants", Belongs(first=Lexical())) == found(
        "theorem about elephants", Lexical()
    )


def test_the_ranking_of_a_library_counts_members(walks: Index) -> None:
    ranked, _ = walks.rank("elephants of a concatenation", strategy="hybrid")
    (owner,) = (each for each in ranked if each.id == "a.lean#Wander")
    assert owner.evidence[MEMBER] > 0
    assert reason_of(owner.evidence).endswith("what belongs to it")


def test_the_name_of_a_declaration_counts_if_it_is_all_that_was_typed() -> None:
    """The documentation of a module is never raised, and words in a text raise less than a name."""
    names = ("Fun.add_comm_of_lt", "Nat.add_comm", "add_comm", "Int.add_commute")
    posts = {name: Post(name, "theorem", "", title=name, markup="declaration") for name in names}
    posts["module"] = Post("module", "note", "", title="Add comm", markup="markdown", tags=("module:A",))
    hits = [Scored(name, 1.0) for name in posts]

    def raised(typed: str, **given: bool) -> list[str]:
        asked = NameQuery(tuple(typed.split()), {"add": 1.0, "comm": 1.0}, frozenset(), {}, **given)
        bonus = asked.first(hits, Known(posts), having(posts))[1]["name"]
        return sorted((name for name in bonus if bonus[name] > 0.3), key=lambda name: -bonus[name])

    assert raised("add comm") == ["add_comm", "Nat.add_comm"]
    assert raised("add comm", is_identifier=True) == ["add_comm", "Nat.add_comm", "Fun.add_comm_of_lt"]


def test_names_without_words_and_names_of_many_parts_cost_nothing() -> None:
    many = Post("a", "theorem", "", title="a." * 50_000 + "comm", aliases=("«+»",), markup="declaration")
    assert sum(map(len, last_parts(many))) < 100
    named = NameQuery(("comm",), {"comm": 1.0}, frozenset(), {})
    hits, _ = named.first([Scored("a", 1.0), Scored("b", 2.0)], Known({"a": many}), having({"a": many}))
    assert [hit.id for hit in hits] == ["a", "b"]


@cases(
    ("typed", "is_identifier"),
    [("add_comm", True), ("Nat.add", True), ("IsCompact", True), ("compact set", False)],
)
def test_a_typed_identifier_is_recognised(tmp_path: Path, typed: str, is_identifier: bool) -> None:
    with LexicalIndex(tmp_path) as lexical:
        lexical.posts.update([("a", post_terms(Post("a", "theorem", "add comm nat iscompact compact set")))])
        found = NameQuery.of(Query.of_text(typed), lexical.posts, Known({}))
    assert found is not None
    assert found.is_identifier == is_identifier


def test_tags_of_other_posts_mean_nothing() -> None:
    assert ordered({"a": ("undocumented",), "b": ()}, {"a": 1.01, "b": 1.0}) == ["a", "b"]


def test_tags_are_not_read_where_no_post_is_a_declaration(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Index.open(small_index, device="cpu") as index:
        assert not index.has_declarations
        read = index.archive.payloads

        def payloads(of: str, ids: Sequence[str]) -> object:
            assert len(ids) <= MOST_LOOKED_AT, "more than the labels look at"
            return read(of, ids)

        monkeypatch.setattr(index.archive, "payloads", payloads)
        assert index.search("the limit of a sequence")


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("∑ i ∈ Finset.range (n + 1), i = n * 2", r"\sum_{i \in \operatorname{range}(n + 1)} i = n \cdot 2"),
        ("(h : 0 < a) : a ^ 2 ≠ 0", r"a^{2} \ne 0"),
        ("IsCompact s → IsClosed s", r"\operatorname{IsCompact}(s) \to \operatorname{IsClosed}(s)"),
    ],
)
def test_a_statement_typed_in_lean_is_read_like_those_of_the_library(typed: str, latex: str) -> None:
    asked = library_query(Query.of_text(typed))
    assert [formula.latex for formula in asked.formulas] == [latex]
    assert wording_alone(asked.post)[0].text.removeprefix(": ") == typed


@cases("typed", ["Heine-Borel theorem", "sum_union", r"$\sum_i a_i = 0$", "x + y = y + x"])
def test_other_queries_stay_as_they_were_typed(typed: str) -> None:
    query = Query.of_text(typed)
    assert library_query(query) is query


def test_beside_words_a_formula_does_not_weigh_more_than_they_do() -> None:
    found = {"hybrid": Lexical(), "single": Nearest("document"), "maxsim": MaxSim("parts")}
    fusion = fusion_of(library_rankings(found)["hybrid"])
    assert fusion is not None
    weights = {
        kind: {part.name: part.weight for part in fusion.suited(kind).asked} for kind in get_args(QueryKind)
    }
    assert (
        weights["words"] == weights["name"] == weights["question"] == {"lexical": 1, "single": 1, "maxsim": 3}
    )
    assert weights["mixed"] == {**weights["words"], "formula": 1}
    assert weights["formula"] == {"lexical": 1, "formula": 1, "single": 0.5, "maxsim": 0.5}


def test_a_statement_typed_in_lean_has_the_weights_of_a_formula(walks: Index) -> None:
    parts = (
        Component("words", Lexical(), 1.0, (("formula", 0.0),)),
        Component("vectors", walks.rankings()["single"], 0.0, (("formula", 1.0),)),
    )

    def asked(text: str) -> set[str]:
        ranked, _ = walks.rank(text, strategy=Fuse(parts=parts, normalisation="z"))
        return {name for each in ranked for name in each.evidence}

    assert asked("Wander.length a = Wander.length b") == {"vectors"}
    assert asked("elephants of $a = b$") == {"words"}
