"""Several collections in one search: hits of each by itself, joined as one index of all would order them, as far as scores can say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.search.collections import Collections, collection_names, joined
from mathamr.search.hits import MATCHES, Hit, Hits
from mathamr.search.query import Query
from mathamr.search.searcher import Index
from tests.cases import cases
from tests.cli.conftest import Command, mathamr
from tests.folders import write_files

__all__ = ["mathamr"]

ALGEBRA = {
    "group.md": "# Groups\n\nA group of order $p^2$ is abelian. Its centre is not trivial.",
    "ring.md": "# Rings\n\nA finite integral domain is a field, since $x \\mapsto ax$ is injective.",
    "field.md": "# Fields\n\nThe units of a finite field form a cyclic group of order $q-1$.",
}
ANALYSIS = {
    "series.md": "# Series\n\nThe series $\\sum_{n=1}^\\infty \\frac{1}{n^2}$ converges.",
    "limit.md": "# Limits\n\nA bounded monotone sequence $a_n$ converges to a limit.",
    "group.md": "# Flows\n\nA flow is a group action of the reals, $\\phi_{s+t} = \\phi_s \\phi_t$.",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collections")
    write_files(folder / "algebra", ALGEBRA)
    write_files(folder / "analysis", ANALYSIS)
    for inputs, name in (
        (["algebra"], "algebra"),
        (["analysis"], "analysis"),
        (["algebra", "analysis"], "both"),
    ):
        build_index([folder / each for each in inputs], folder / f"{name}.index", BuildOptions(device="cpu"))
    return folder


@pytest.fixture(scope="module")
def collections(folder: Path) -> Iterator[Collections]:
    with Collections.open([folder / "algebra", folder / "analysis.index"], device="cpu") as opened:
        yield opened


@cases("strategy", ["single", "maxsim"])
@cases("query", ["when does a series converge", "group of order $p^2$", "a limit of $a_n$"])
def test_scores_that_can_be_compared_order_hits_as_one_index_of_all_would(
    folder: Path, collections: Collections, strategy: str, query: str
) -> None:
    hits = collections.search(query, strategy=strategy, k=6, options=lambda _: {"exact": True})
    with Index.open(folder / "both.index", device="cpu") as both:
        expected = both.search(query, strategy=strategy, k=6, exact=True)
    assert [hit.title_text for hit in map(_Titled, hits)] == [
        hit.title_text for hit in map(_Titled, expected)
    ]
    assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected], abs=1e-5)


class _Titled:
    def __init__(self, hit: Hit) -> None:
        self.title_text = "".join(fragment.text for fragment in hit.title)


@pytest.mark.parametrize("strategy", [None, "lexical", "single"])
def test_no_collection_changes_the_order_of_its_own_hits(
    collections: Collections, strategy: str | None
) -> None:
    hits = collections.search("a group of finite order", strategy=strategy, k=6)
    assert {hit.collection for hit in hits} == {"algebra", "analysis"}
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    for name, index in collections.indexes.items():
        alone = index.search("a group of finite order", strategy=strategy, k=6)
        assert [hit.id for hit in hits if hit.collection == name] == [hit.id for hit in alone]


def test_the_same_id_in_two_collections_is_two_hits(collections: Collections) -> None:
    found = [(hit.id, hit.collection) for hit in collections.search("group", k=6)]
    assert {("group.md", "algebra"), ("group.md", "analysis")} <= set(found)


def test_what_one_collection_has_is_not_denied(collections: Collections) -> None:
    assert collections.indexes["algebra"].search("monotone").absent == ("monotone",)
    hits = collections.search("monotone")
    assert (hits.absent, hits[0].id, hits[0].collection) == ((), "limit.md", "analysis")
    none = collections.search("Cantelli")
    assert none.absent == ("Cantelli",)
    assert none.checked is not None
    assert none.checked.holdings.entries == 6


def test_the_same_formula_stands_before_similar_ones_of_another_collection(collections: Collections) -> None:
    hits = collections.search("$\\sum_{k=1}^\\infty \\frac{1}{k^2}$", "formulas", k=3)
    assert (hits[0].id, hits[0].collection) == ("series.md", "analysis")


def test_pages_follow_each_other(collections: Collections) -> None:
    every = collections.search("a group of finite order", k=6)
    pages = [collections.search("a group of finite order", k=2, offset=offset) for offset in (0, 2, 4)]
    assert [(hit.rank, hit.id) for page in pages for hit in page] == [(hit.rank, hit.id) for hit in every]
    assert [page.more for page in pages] == [True, True, False]


def _hits(rows: list[tuple[str, float]]) -> Hits:
    hits = tuple(
        Hit(str(place), place, score, "note", match=match)  # type: ignore[arg-type]
        for place, (match, score) in enumerate(rows, 1)
    )
    return Hits(Query.of_text("x"), "answers", "hybrid", hits, found="weak")


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(MATCHES), st.floats(0, 1)), max_size=6), min_size=1, max_size=4
    ),
    st.booleans(),
)
def test_joining_keeps_every_hit_and_every_order(
    lists: list[list[tuple[str, float]]], comparable: bool
) -> None:
    found = {str(number): _hits(rows) for number, rows in enumerate(lists)}
    together = joined(found, 100, comparable=comparable)
    for name, hits in found.items():
        kept = [replace(hit, rank=0, collection="") for hit in together if hit.collection == name]
        assert kept == [replace(hit, rank=0) for hit in hits]
    if all(rows == sorted(rows, key=lambda row: -row[1]) for rows in lists) and comparable:
        assert [hit.score for hit in together] == sorted((hit.score for hit in together), reverse=True)


def test_names_of_collections_differ() -> None:
    assert collection_names([Path("/x/notes.index"), Path("/x/papers")]) == ["notes", "papers"]
    assert collection_names([Path("/x/notes"), Path("/y/notes")]) == ["x/notes", "y/notes"]
    assert collection_names([Path("/x/notes"), Path("/x/notes.index")]) == ["/x/notes", "/x/notes.index"]
    with pytest.raises(MathAMRError, match="named twice"):
        collection_names([Path("/x/notes"), Path("/x/notes")])


def test_the_command_says_which_collection_a_hit_is_of(folder: Path, mathamr: Command) -> None:
    shown = mathamr("search", folder / "algebra", folder / "analysis", "group action of the reals")
    assert shown.returncode == 0, shown.stderr
    assert "analysis · group.md:" in shown.stdout
    told = json.loads(mathamr("search", folder / "algebra", folder / "analysis", "group", "--json").stdout)
    assert {hit["collection"] for hit in told["hits"]} == {"algebra", "analysis"}
    alone = json.loads(mathamr("search", folder / "algebra", "group", "--json").stdout)
    assert all("collection" not in hit for hit in alone["hits"])
    missing = mathamr("search", folder / "algebra", "group", "action")
    assert missing.returncode != 0
    assert "group" in missing.stderr
