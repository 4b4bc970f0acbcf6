"""What the ranker of formulas does with trees: within a budget, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import similarity, work
from mathamr.formulas.trees import Trees, trees_of
from mathamr.index.lexical.terms import READING
from mathamr.index.scored import Scored
from mathamr.posts.post import Formula
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.options import SearchOptions
from mathamr.search.query import Query
from mathamr.search.querycontext import QueryContext
from mathamr.search.results import RankedResult
from mathamr.search.workbudget import Affords, FormulaBounds
from mathamr.systems.nodematch import node_comparer
from mathamr.systems.ranking import Aligned, AlikeNodes, Component, Fuse, Lexical, Promote, Rerank

FORMULAS = {
    "first": "x^2+y^2=1",
    "second": "a^2+b^2=c^2",
    "third": "p^2+q^2=r^2+s",
    "broken": r"\frac",
}


class Known:
    """Looks that are their own formulas."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        return {each: each for each in formulas}

    def with_visual(self, visual: str) -> list[str]:
        return [visual]

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        return {visual: visual for visual in visuals}

    def trees(self, visuals: Sequence[str], reading: str, affords: Affords) -> dict[str, Trees]:
        read = [visual for visual in visuals if affords(len(FORMULAS[visual]))]
        self.read += read
        return {visual: trees_of(Formula("", FORMULAS[visual]), (), reading)[0] for visual in read}


class Listed:
    """Terms that find the formulas in their order."""

    def search(self, terms: object, k: int, where: None = None) -> list[Scored]:
        return [Scored(each, 1.0 / place) for place, each in enumerate(FORMULAS, 1)][:k]

    def score(self, terms: object, ids: Sequence[str], weighting: None) -> list[Scored]:
        return [hit for hit in self.search(terms, 100) if hit.id in ids]

    def trees(self, ids: Sequence[str]) -> dict[str, Trees]:
        return {}


def ranker(latex: str, visuals: Known, **bounds: int) -> FormulaRanker:
    query = Query.of_formula(latex)
    asked = QueryContext(query, cast(Any, None), formula=query.target()[0], bounds=FormulaBounds(**bounds))
    return FormulaRanker(
        asked,
        cast(Any, None),
        lambda: cast(Any, Listed()),
        visuals,
        lambda _kind, _ids: {},
    )


RANKING = Promote(
    Rerank(
        first=Lexical(),
        then=Fuse(
            parts=(Component("lexical", Lexical()), Component("aligned", Aligned(), 0.1)),
            fusion="weighted-sum",
            normalisation="top",
        ),
        pool=3,
        keeps_rest=True,
    )
)


def test_the_same_in_other_letters_comes_first_and_every_formula_is_read_once() -> None:
    visuals = Known()
    found = ranker("u^2+v^2=w^2", visuals).rank(RANKING, SearchOptions(10), "it")
    assert [each.id for each in found] == ["second", "first", "third", "broken"]
    assert sorted(visuals.read) == sorted(FORMULAS)
    assert found[0].evidence["renamed"] == 0.5
    assert all(each.score > 0 for each in found)
    trees = [trees_of(Formula("", latex), (), READING)[0] for latex in ("u^2+v^2=w^2", FORMULAS["second"])]
    assert found[0].evidence["aligned"] == pytest.approx(similarity(*trees))


def aligned(found: Sequence[RankedResult]) -> set[str]:
    return {each.id for each in found if "aligned" in each.evidence}


def test_trees_are_aligned_best_ranks_first_until_the_budget_is_spent() -> None:
    asked, first = (
        trees_of(Formula("", latex), (), READING)[0] for latex in ("u^2+v^2=w^2", FORMULAS["first"])
    )
    found = ranker("u^2+v^2=w^2", Known(), aligned_nodes=work(asked, first)).rank(
        RANKING, SearchOptions(10), "it"
    )
    assert aligned(found) == {"first"}
    assert len(found) == len(FORMULAS), "the others are ranked by their terms"


def test_formulas_are_parsed_until_their_characters_are_spent_and_a_long_one_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(FORMULAS, "first", "+".join(f"x_{{{number}}}" for number in range(500)))
    few, visuals = len(FORMULAS["second"]) + len(FORMULAS["third"]), Known()
    found = ranker("u^2+v^2=w^2", visuals, read_characters=few).rank(RANKING, SearchOptions(10), "it")
    assert visuals.read == ["second", "third"], "each is asked for once, also where it was too long"
    assert aligned(found) == {"second", "third"}
    assert len(found) == len(FORMULAS)


def test_a_pattern_is_matched_with_as_many_formulas_as_their_characters_allow() -> None:
    pattern, few = r"\qvar{a}+\qvar{b}=\qvar{c}", len(FORMULAS["first"])
    found = ranker(pattern, Known(), pattern_characters=few).rank(RANKING, SearchOptions(10), "it")
    assert {each.id for each in found if "pattern" in each.evidence} == {"first"}
    assert len(found) == len(FORMULAS)


ALIKE = Rerank(first=Lexical(), then=AlikeNodes(), pool=4, keeps_rest=True)


def test_nodes_order_what_was_found_as_the_network_says_and_what_has_no_trees_follows() -> None:
    visuals = Known()
    found = ranker("u^2+v^2=w^2", visuals).rank(ALIKE, SearchOptions(10), "it")
    read = [trees_of(Formula("", latex), (), READING)[0] for latex in FORMULAS.values()]
    asked = trees_of(Formula("", "u^2+v^2=w^2"), (), READING)[0]
    worth = dict(zip(FORMULAS, node_comparer("formula-graph").alike(asked, read), strict=True))
    expected = sorted(FORMULAS, key=lambda each: -worth[each])
    assert [each.id for each in found] == expected
    assert expected[0] == "second"
    assert expected[-1] == "broken"
    assert [each.score for each in found] == pytest.approx([worth[each] for each in expected])


def test_a_network_reads_the_first_formulas_until_its_nodes_are_spent() -> None:
    asked = trees_of(Formula("", "u^2+v^2=w^2"), (), READING)[0]
    few = sum(len(tree) for tree in asked if tree is not None)
    ranking = Fuse(
        parts=(Component("lexical", Lexical()), Component("nodes", AlikeNodes())), normalisation="top"
    )
    found = ranker("u^2+v^2=w^2", Known(), alike_nodes=few).rank(
        Rerank(first=Lexical(), then=ranking, pool=4), SearchOptions(10), "it"
    )
    assert {each.id for each in found if "nodes" in each.evidence} == {"first"}
    assert len(found) == len(FORMULAS), "the others are ranked by their terms"


def test_nodes_are_compared_of_what_was_found_only() -> None:
    with pytest.raises(MathAMRError, match="can only rerank: write Rerank"):
        ranker("x", Known()).rank(AlikeNodes(), SearchOptions(10), "it")
