"""The contract of the engine seam: what is read and searched is the same in every engine, kind and field."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.index.engines.engine import ENGINES, Engine
from mathamr.index.engines.entry import Entry, Filter
from mathamr.index.scored import Scored
from mathamr.systems.field import Field, FieldTarget
from tests.index.engines.entries import (
    FIELDS,
    SIZE,
    VARIANTS,
    each_filled,
    naive_rows,
    naive_search,
    same,
    same_rows,
    some_entries,
    some_posts,
    units,
)

FILTERS = {
    "everything": None,
    "empty": Filter(),
    "kinds": Filter(kinds=("answer", "note")),
    "one tag": Filter(tags=("limits",)),
    "all tags": Filter(tags=("algebra", "limits", "sets")),
    "after": Filter(after="2014-03-11T10:00:00.500"),
    "before": Filter(before="2014"),
    "between": Filter(after="2012-02", before="2016-05-11"),
    "minimum score": Filter(minimum_score=0),
    "sources": Filter(sources=("file 1",)),
    "several at once": Filter(kinds=("question",), tags=("sets",), minimum_score=-2, after="2011"),
    "nothing": Filter(kinds=("poem",)),
    "unknown tag": Filter(tags=("algebra", "unheard of")),
}


ENTRIES: dict[FieldTarget, list[Entry]] = {
    "posts": some_posts(1, 60),
    "formulas": some_entries("formulas", 2, 50),
    "visual": some_entries("visual", 3, 40),
}
"""What `filled` holds."""
each_field = pytest.mark.parametrize("field", FIELDS, ids=lambda field: f"{field.of}-{field.name}")


def test_every_registered_engine_has_the_contract_tests() -> None:
    assert set(ENGINES) == {name for name, _ in VARIANTS.values()}


@each_filled
@each_field
@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS)
def test_exact_search_is_the_naive_ranking_under_every_filter(
    filled: Engine, field: Field, where: Filter | None
) -> None:
    query, entries = units(np.random.default_rng(3), 4, field.size), ENTRIES[field.of]
    reader = filled[field.name]
    for k in (1, 10, 100):
        same(reader.search(query[0], k, where), naive_search(entries, field.name, query[0], k, where))
        same(reader.search_maxsim(query, k, where), naive_search(entries, field.name, query, k, where))


@each_filled
@each_field
@pytest.mark.parametrize("where", [None, Filter(kinds=("answer", "note")), Filter(kinds=("poem",))], ids=str)
def test_the_nearest_rows_of_every_query_row_are_the_naive_ones(
    filled: Engine, field: Field, where: Filter | None
) -> None:
    query, entries = units(np.random.default_rng(4), 3, field.size), ENTRIES[field.of]
    for k in (1, 7, 500):
        found = filled[field.name].search_rows(query, k, where)
        wanted = naive_rows(entries, field.name, query, k, where)
        for rows, expected in zip(found, wanted, strict=True):
            same(rows, expected)


@each_filled
@each_field
def test_a_query_of_one_row_or_of_many_scores_the_mean(filled: Engine, field: Field) -> None:
    for rows in (1, 2, 33):
        query = units(np.random.default_rng(rows), rows, field.size)
        wanted = naive_search(ENTRIES[field.of], field.name, query, 60)
        same(filled[field.name].search_maxsim(query, 60), wanted)


@each_filled
@each_field
def test_given_entries_are_scored_exactly_and_unknown_ones_left_out(filled: Engine, field: Field) -> None:
    query, entries = units(np.random.default_rng(5), 3, field.size), ENTRIES[field.of]
    chosen = [entries[number] for number in (38, 3, 17, 3, 4, 6)]
    reader = filled[field.name]
    found = reader.score(query, [entry.id for entry in chosen] + ["unknown"])
    same(found, naive_search(chosen, field.name, query, 9))
    assert reader.score(query, []) == []


@each_filled
@each_field
def test_rows_come_back_as_they_were_with_what_they_stand_for(filled: Engine, field: Field) -> None:
    entries = ENTRIES[field.of]
    fetched = filled[field.name].fetch([entry.id for entry in reversed(entries)] + ["unknown"])
    having = {entry.id: entry.rows[field.name] for entry in entries if field.name in entry.rows}
    assert fetched.keys() == having.keys()
    for name, rows in having.items():
        same_rows(fetched[name], rows)
    assert filled[field.name].fetch([entries[0].id]).keys() == having.keys() & {entries[0].id}


@each_filled
@each_field
def test_a_field_counts_and_lists_the_entries_that_have_it(filled: Engine, field: Field) -> None:
    having = [entry.id for entry in ENTRIES[field.of] if field.name in entry.rows]
    assert filled[field.name].field == field
    assert filled[field.name].count() == len(having)
    assert sorted(filled[field.name].ids()) == sorted(having)


@each_filled
@pytest.mark.parametrize("of", ENTRIES)
def test_kinds_count_and_list_all_their_entries_and_know_payloads(filled: Engine, of: FieldTarget) -> None:
    entries = ENTRIES[of]
    assert filled.count(of) == len(entries)
    assert sorted(filled.ids(of)) == sorted(entry.id for entry in entries)
    wanted = {entry.id: entry.payload for entry in entries}
    assert filled.payloads(of, [*wanted, "unknown"]) == wanted


@each_filled
@pytest.mark.parametrize("where", [each for each in FILTERS.values() if each], ids=str)
def test_the_ids_that_pass_a_filter_are_those_whose_payloads_pass(filled: Engine, where: Filter) -> None:
    for of, entries in ENTRIES.items():
        passing = sorted(entry.id for entry in entries if where.passes(entry.payload))
        assert sorted(filled.passing(of, where)) == passing
        assert sorted(Engine.passing(filled, of, where)) == passing, (
            "as an engine of another package finds them"
        )


@each_filled
def test_an_unknown_field_lists_the_known_ones(filled: Engine) -> None:
    assert filled.fields == FIELDS
    with pytest.raises(UnknownNameError, match="unknown field 'colour'; known: document, parts"):
        _ = filled["colour"]


@each_filled
def test_searches_from_several_threads_agree(filled: Engine) -> None:
    queries = [units(np.random.default_rng(seed), 3) for seed in range(8)]
    alone = [filled["parts"].search_maxsim(query, 10) for query in queries]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda query: filled["parts"].search_maxsim(query, 10), queries))
    for found, wanted in zip(together, alone, strict=True):
        same(found, wanted)


@each_filled
@pytest.mark.parametrize("name", ["document", "parts"])
def test_a_query_of_another_size_or_with_nan_or_without_rows_is_refused(filled: Engine, name: str) -> None:
    reader = filled[name]
    with pytest.raises(MathAMRError, match=f"expected n × {SIZE} numbers, found 2 × {SIZE + 1}"):
        reader.search_maxsim(np.ones((2, SIZE + 1), np.float32), 5)
    with pytest.raises(MathAMRError, match="finite"):
        reader.search(np.full(SIZE, np.nan, np.float32), 5)
    for search in (reader.search_maxsim, reader.search_rows):
        with pytest.raises(MathAMRError, match="no vectors"):
            search(np.zeros((0, SIZE), np.float32), 5)
    with pytest.raises(MathAMRError, match="at least 1"):
        reader.search(np.ones(SIZE, np.float32), 0)
    with pytest.raises(MathAMRError, match="at least 1"):
        reader.search_rows(np.ones((1, SIZE), np.float32), 0)
    with pytest.raises(MathAMRError, match="is not a date"):
        reader.search(np.ones(SIZE, np.float32), 5, Filter(after="yesterday"))


@each_filled
def test_a_query_of_zeros_finds_everything_equally_by_id(filled: Engine) -> None:
    wanted = sorted(entry.id for entry in ENTRIES["posts"])[:7]
    assert filled["document"].search(np.zeros(SIZE, np.float32), 7) == [Scored(name, 0.0) for name in wanted]
    found = filled["parts"].search_maxsim(np.zeros((2, SIZE), np.float32), 7)
    assert found == [Scored(name, 0.0) for name in wanted]


@each_field
def test_an_empty_engine_finds_nothing(engine: Engine, field: Field) -> None:
    query, reader = units(np.random.default_rng(0), 2, field.size), engine[field.name]
    assert reader.search_maxsim(query, 5) == reader.search(query[0], 5) == reader.score(query, ["p1"]) == []
    assert reader.search_rows(query, 5) == [[], []]
    assert reader.count() == engine.count(field.of) == 0
    assert list(reader.ids()) == list(engine.ids(field.of)) == []
    assert reader.fetch(["p1"]) == engine.payloads(field.of, ["p1"]) == {}
    engine.delete(field.of, ["p1"])
    engine.flush()
    assert engine.verify() == []
