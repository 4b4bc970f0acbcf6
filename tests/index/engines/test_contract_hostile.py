"""Hostile ids, tags, kinds and sources are stored, found, filtered and deleted as any others, in every engine."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr.index.engines.engine import Engine
from mathamr.index.engines.entry import Entry, Filter, Payload
from tests.index.engines.entries import EXACT, post, units

WORDS = [
    "plain", "'; DROP TABLE posts; --", '"quoted"', "back\\slash", "\\", "%", "_", "100%_", "a,b", "{a,b}", "{}", "[]", "NULL",
    "null", "true", "1", "1.0", "-0", "$1", "%s", "%(id)s", "{0}", "${x}", "\t", "a\nb", "a\rb", "\x1b[31m",
    "é", "e\u0301", "É", "ß", "SS", "\u202eabc", "\U0001f600", "\ue000", "\ufdd0", "a" * 1000, " space ", "space", "A", "a",
    "e:1", "*", "?", "a.b", "a[0].b", "../..", "ı", "i", "\\N", "\\.", "\\x41",
]  # fmt: skip
each = pytest.mark.parametrize("variant", EXACT)


def entries() -> list[Entry]:
    generator = np.random.default_rng(5)
    return [
        post(
            f"id {word}",
            units(generator, 2),
            Payload(
                kind=word,
                tags=(word, "all", WORDS[number - 1]),
                source=word,
                date=f"20{10 + number % 9}-01-01",
                score=number,
            ),
        )
        for number, word in enumerate(WORDS)
    ]


def passes(entry: Entry, where: Filter) -> bool:
    payload = entry.payload
    return (
        (not where.kinds or payload.kind in where.kinds)
        and set(where.tags) <= set(payload.tags)
        and (not where.sources or payload.source in where.sources)
        and (where.minimum_score is None or (payload.score or 0) >= where.minimum_score)
    )


def found(engine: Engine, where: Filter) -> set[str]:
    query = units(np.random.default_rng(6), 1)[0]
    return {scored.id for scored in engine["document"].search(query, len(WORDS) + 5, where)}


@each
def test_hostile_words_filter_what_has_them_and_nothing_else(engine: Engine) -> None:
    written = entries()
    engine.upsert("posts", written)
    engine.flush()
    for word in WORDS:
        for where in (
            Filter(kinds=(word,)),
            Filter(tags=(word,)),
            Filter(sources=(word,)),
            Filter(tags=(word, "all"), kinds=(word, "other"), minimum_score=3),
        ):
            assert found(engine, where) == {each.id for each in written if passes(each, where)}, where
    for word in ("' OR 1=1 --", "%lain", "_", "PLAIN", "nothing\x00"):
        where = Filter(tags=(word,))
        assert found(engine, where) == {each.id for each in written if passes(each, where)}


@each
def test_hostile_ids_are_read_replaced_and_deleted_one_by_one(engine: Engine) -> None:
    written = entries()
    engine.upsert("posts", written)
    engine.upsert("posts", written[::3])
    assert engine["document"].count() == len(written)
    read = engine["document"].fetch([each.id for each in written])
    for each_entry in written:
        stored, expected = read[each_entry.id], each_entry.rows["document"]
        assert stored.references == expected.references
        assert np.allclose(stored.vectors, expected.vectors, atol=1e-2)
    assert engine.payloads("posts", read) == {each_entry.id: each_entry.payload for each_entry in written}
    for number, each_entry in enumerate(written):
        engine.delete("posts", [each_entry.id])
        assert engine["document"].count() == len(written) - number - 1
