"""The contract of the engine seam: what is written, replaced, deleted, refused and kept is the same in every engine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import ENGINES, Engine, EngineHead, create_engine, open_engine
from mathamr.index.engines.entry import Entry, Filter, Payload
from mathamr.index.scored import Scored
from mathamr.systems.field import Field
from mathamr.systems.vectors import Vectors
from tests.index.engines.entries import (
    FIELDS,
    SIZE,
    SMALL,
    VARIANTS,
    create,
    each_exact,
    naive_search,
    post,
    same,
    same_rows,
    some_entries,
    some_posts,
    units,
    vectors_of,
)


@each_exact
def test_an_upsert_replaces_all_fields_and_the_last_of_equal_ids_counts(engine: Engine) -> None:
    first, second, third = some_posts(4, 3)
    engine.upsert("posts", [first, second])
    engine.flush()
    longer = units(np.random.default_rng(9), 12)
    replaced = post("p0", longer, Payload(kind="note", tags=("new",)))
    engine.upsert("posts", [Entry("p0", third.rows, third.payload), replaced])
    assert engine.count("posts") == 2
    same_rows(engine["parts"].fetch(["p0"])["p0"], replaced.rows["parts"])
    assert engine.payloads("posts", ["p0"])["p0"] == replaced.payload
    query = units(np.random.default_rng(1), 2)
    same(engine["parts"].search_maxsim(query, 9), naive_search([replaced, second], "parts", query, 9))
    engine.upsert("posts", [Entry("p0", {"parts": vectors_of(longer[:1], "short")})])
    engine.flush()
    same_rows(engine["parts"].fetch(["p0"])["p0"], vectors_of(longer[:1], "short"))
    assert engine["document"].fetch(["p0"]) == {}
    assert [hit.id for hit in engine["document"].search(longer[0], 9)] == ["p1"]
    assert (engine.count("posts"), engine["document"].count(), engine["parts"].count()) == (2, 1, 2)


@each_exact
def test_a_deleted_entry_is_gone_from_every_field_and_can_come_back(engine: Engine) -> None:
    posts = some_posts(6, 12)
    engine.upsert("posts", posts)
    engine.flush()
    engine.delete("posts", ["p3", "p4", "never seen"])
    left = [entry for entry in posts if entry.id not in ("p3", "p4")]
    query = units(np.random.default_rng(1), 2)
    same(engine["parts"].search_maxsim(query, 20), naive_search(left, "parts", query, 20))
    assert engine.count("posts") == engine["document"].count() == 10
    assert "p3" not in set(engine.ids("posts")) | set(engine["parts"].ids())
    assert engine["parts"].fetch(["p3"]) == engine["document"].fetch(["p3"]) == {}
    assert engine["parts"].score(query, ["p3"]) == []
    assert not {"p3", "p4"} & {row.id for rows in engine["parts"].search_rows(query, 500) for row in rows}
    engine.upsert("posts", [posts[3]])
    engine.flush()
    same(engine["parts"].search_maxsim(query, 20), naive_search([*left, posts[3]], "parts", query, 20))


@each_exact
def test_kinds_do_not_know_each_other(engine: Engine) -> None:
    """A post, a formula and a visual class may have one id."""
    rows = units(np.random.default_rng(2), 2)
    engine.upsert("posts", [post("same", rows)])
    engine.upsert("formulas", [Entry("same", {"formula": vectors_of(rows[:1], "same")})])
    engine.upsert("visual", [Entry("same", {"nodes": vectors_of(rows, "same")})])
    engine.delete("posts", ["same"])
    engine.flush()
    assert [engine.count(of) for of in ("posts", "formulas", "visual")] == [0, 1, 1]
    assert engine["parts"].count() == 0
    assert list(engine["nodes"].ids()) == ["same"]


def bad_posts() -> dict[str, Entry]:
    rows = units(np.random.default_rng(0), 3)
    nan = np.where(np.eye(3, SIZE, dtype=bool), np.nan, rows).astype(np.float32)
    good = vectors_of(rows, "x")
    return {
        "nan": Entry("x", {"parts": vectors_of(nan, "x")}),
        "infinite": Entry("x", {"document": vectors_of(np.full((1, SIZE), np.inf, np.float32), "x")}),
        "short": Entry("x", {"parts": vectors_of(rows[:, 1:], "x")}),
        "long": Entry("x", {"document": vectors_of(np.ones((1, SIZE + 1), np.float32), "x")}),
        "flat": Entry("x", {"parts": Vectors(rows[0], good.levels, good.references)}),
        "none": Entry("x", {}),
        "empty": Entry("x", {"parts": vectors_of(rows[:0], "x")}),
        "several rows in a field of one": Entry("x", {"document": good}),
        "field of another kind": Entry("x", {"formula": vectors_of(rows[:1], "x")}),
        "levels missing": Entry("x", {"parts": Vectors(rows, good.levels[:2], good.references)}),
        "references missing": Entry("x", {"parts": Vectors(rows, good.levels, good.references[:2])}),
        "level too high": Entry("x", {"parts": Vectors(rows, np.array([0, 200, 1]), good.references)}),
        "no id": Entry("", {"parts": good}),
    }


@pytest.mark.parametrize("bad", bad_posts())
def test_an_entry_that_is_refused_leaves_the_engine_as_it_was(engine: Engine, bad: str) -> None:
    good, other = some_posts(7, 2)
    engine.upsert("posts", [good])
    with pytest.raises(MathAMRError):
        engine.upsert("posts", [other, bad_posts()[bad]])
    assert list(engine.ids("posts")) == [good.id]


@each_exact
def test_vectors_of_zeros_score_zero_and_others_are_made_unit(engine: Engine) -> None:
    along = np.eye(SIZE, dtype=np.float32)
    engine.upsert(
        "posts",
        [
            post("zeros", np.zeros((2, SIZE), np.float32)),
            post("far", 7 * along[:1]),
            post("against", -along[:1]),
        ],
    )
    engine.flush()
    wanted = [Scored("far", 1.0), Scored("zeros", 0.0), Scored("against", -1.0)]
    assert engine["document"].search(along[0], 3) == engine["parts"].search_maxsim(3 * along[:1], 3) == wanted


@each_exact
def test_ties_go_by_id_and_the_cut_respects_them(engine: Engine) -> None:
    vector = units(np.random.default_rng(8), 1)
    names = [f"p{number:02d}" for number in np.random.default_rng(2).permutation(40)]
    engine.upsert("posts", (post(name, np.concatenate([vector, vector])) for name in names[:25]))
    engine.flush()
    engine.upsert("posts", (post(name, np.concatenate([vector, vector])) for name in names[25:]))
    for k in (1, 3, 10, 39, 40, 50):
        wanted = sorted(names)[:k]
        assert [hit.id for hit in engine["document"].search(vector[0], k)] == wanted
        assert [hit.id for hit in engine["document"].search_maxsim(vector, k)] == wanted
        assert [hit.id for hit in engine["parts"].search_maxsim(vector, k)] == wanted
        (rows,) = engine["parts"].search_rows(vector, k)
        assert [row.id for row in rows] == sorted([*names, *names])[:k]


def test_text_that_cannot_be_stored_in_a_payload_or_reference_does_no_harm(engine: Engine) -> None:
    rows = Vectors(units(np.random.default_rng(0), 1), np.zeros(1, np.int8), ("a\udce9",))
    payload = Payload(source="b\udce9.md", tags=("\ud800", "x\0y"))
    engine.upsert("posts", [Entry("a", {"parts": rows}, payload)])
    engine.flush()
    assert list(engine.ids("posts")) == ["a"]
    assert engine.payloads("posts", ["a"])["a"].source == "b?.md"
    assert engine["parts"].fetch(["a"])["a"].references == ("a?",)
    for name, why in (("\ud800", "Unicode"), ("a\0b", "a NUL character")):
        with pytest.raises(MathAMRError, match=why):
            engine.upsert("posts", [Entry(name, {"parts": rows})])


@each_exact
def test_what_was_flushed_is_there_after_reopening(variant: str, tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    posts, formulas, visuals = (
        some_posts(11, 30),
        some_entries("formulas", 12, 20),
        some_entries("visual", 13, 9),
    )
    engine = create(variant, folder)
    engine.upsert("posts", posts[:20])
    engine.upsert("visual", visuals)
    engine.flush()
    engine.upsert("posts", posts[20:])
    engine.delete("posts", ["p5"])
    engine.upsert("formulas", formulas)
    engine.close()
    engine.close()
    left = [entry for entry in posts if entry.id != "p5"]
    query, small = units(np.random.default_rng(1), 3), units(np.random.default_rng(2), 3, SMALL)
    for read_only in (True, False):
        engine = open_engine(folder, read_only=read_only)
        assert (engine.name, engine.fields) == (VARIANTS[variant][0], FIELDS)
        same(engine["parts"].search_maxsim(query, 50), naive_search(left, "parts", query, 50))
        same(engine["formula"].search(query[0], 50), naive_search(formulas, "formula", query[0], 50))
        same(engine["structure"].search(small[0], 50), naive_search(visuals, "structure", small[0], 50))
        same_rows(engine["nodes"].fetch(["v3"])["v3"], visuals[3].rows["nodes"])
        assert engine.verify() == []
        engine.close()


@each_exact
def test_optimizing_changes_no_exact_result(engine: Engine) -> None:
    posts, visuals = some_posts(13, 120), some_entries("visual", 14, 60)
    for start in range(0, 120, 30):
        engine.upsert("posts", posts[start : start + 30])
        engine.upsert("visual", visuals[start // 2 : start // 2 + 15])
        engine.flush()
    engine.delete("posts", (entry.id for entry in posts[:15]))
    engine.optimize()
    query = units(np.random.default_rng(1), 3)
    same(engine["parts"].search_maxsim(query, 200), naive_search(posts[15:], "parts", query, 200))
    same(engine["document"].search(query[0], 200), naive_search(posts[15:], "document", query[0], 200))
    same(engine["nodes"].search_maxsim(query, 200), naive_search(visuals, "nodes", query, 200))
    for entry in visuals:
        if "nodes" in entry.rows:
            same_rows(engine["nodes"].fetch([entry.id])[entry.id], entry.rows["nodes"])


@each_exact
def test_approximate_search_gives_true_scores(engine: Engine) -> None:
    posts = some_posts(14, 80)
    engine.upsert("posts", posts)
    engine.optimize()
    query = units(np.random.default_rng(1), 3)
    scores = {hit.id: hit.score for hit in naive_search(posts, "parts", query, 80)}
    found = engine["parts"].search_maxsim(query, 10, exact=False)
    assert len(found) == 10
    assert [hit.score for hit in found] == pytest.approx([scores[hit.id] for hit in found], abs=2e-6)
    if engine.name == "flat":
        same(found, naive_search(posts, "parts", query, 10))
    where = Filter(kinds=("note",))
    kinds = {entry.id: entry.payload.kind for entry in posts}
    assert {kinds[hit.id] for hit in engine["document"].search(query[0], 10, where, exact=False)} == {"note"}


def test_an_engine_opened_for_reading_refuses_to_write(variant: str, tmp_path: Path) -> None:
    create(variant, tmp_path / "engine").close()
    engine = open_engine(tmp_path / "engine", read_only=True)
    with pytest.raises(MathAMRError, match="reading only"):
        engine.upsert("posts", some_posts(1, 1))
    with pytest.raises(MathAMRError, match="reading only"):
        engine.delete("formulas", ["f1"])
    engine.close()


@each_exact
def test_an_engine_has_the_kinds_of_its_fields_only(variant: str, tmp_path: Path) -> None:
    engine = create(variant, tmp_path / "engine", [FIELDS[5]])
    visuals = [entry for entry in some_entries("visual", 3, 12) if "nodes" in entry.rows]
    visuals = [Entry(entry.id, {"nodes": entry.rows["nodes"]}, entry.payload) for entry in visuals]
    engine.upsert("visual", visuals)
    engine.flush()
    query = units(np.random.default_rng(1), 2)
    same(engine["nodes"].search_maxsim(query, 20), naive_search(visuals, "nodes", query, 20))
    assert engine.count("posts") == 0
    assert list(engine.ids("formulas")) == []
    assert engine.payloads("posts", ["p1"]) == {}
    engine.delete("posts", ["p1"])
    with pytest.raises(MathAMRError, match="stores no vectors of posts, only of visual"):
        engine.upsert("posts", some_posts(1, 1))
    engine.close()


def test_a_folder_holds_one_engine(variant: str, tmp_path: Path) -> None:
    create(variant, tmp_path / "engine").close()
    with pytest.raises(MathAMRError, match="holds an engine already"):
        create(variant, tmp_path / "engine")
    with pytest.raises(MathAMRError, match="no engine in"):
        open_engine(tmp_path)
    other = next(name for name in ENGINES if name != VARIANTS[variant][0])
    with pytest.raises(MathAMRError, match=f"not '{other}'"):
        ENGINES[other].open(tmp_path / "engine")


def test_unknown_engines_and_options_list_the_known_ones(variant: str, tmp_path: Path) -> None:
    name, options = VARIANTS[variant]
    with pytest.raises(MathAMRError, match="no option 'colour'; known: "):
        create_engine(tmp_path / "engine", FIELDS, name, options | {"colour": "red"})
    with pytest.raises(MathAMRError, match="unknown engine 'lake'; known: qdrant, flat, postgres"):
        create_engine(tmp_path / "engine", FIELDS, "lake")
    with pytest.raises(MathAMRError, match="1 to 64 fields, got 0"):
        create(variant, tmp_path / "engine", ())
    twice = (FIELDS[0], Field(name="document", of="visual", size=3))
    with pytest.raises(MathAMRError, match="two fields of an engine have the same name: document, document"):
        create(variant, tmp_path / "engine", twice)


def test_numbers_among_options_may_come_as_text(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client", reason="needs mathamr[qdrant]")
    create_engine(tmp_path / "engine", FIELDS, "qdrant", {"ef": "256", "url": "local"}).close()
    assert EngineHead.read(tmp_path / "engine").options["ef"] == 256
    with pytest.raises(MathAMRError, match=r"option 'ef' of the engine .* must be a number, got 'many'"):
        create_engine(tmp_path / "other", FIELDS, "qdrant", {"ef": "many", "url": "local"})
    with pytest.raises(MathAMRError, match=r"option 'dtype' of the engine .* must be text, got 16"):
        create_engine(tmp_path / "other", FIELDS, "flat", {"dtype": 16})
    assert not (tmp_path / "other").exists()


def test_an_engine_of_an_earlier_version_says_how_to_move(tmp_path: Path) -> None:
    create("flat", tmp_path / "engine").close()
    path = tmp_path / "engine" / "engine.json"
    path.write_text(path.read_text().replace('"flat"', '"edge"'))
    with pytest.raises(MathAMRError, match="--engine flat --rebuild"):
        open_engine(tmp_path / "engine")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"engine": 3}',
        b"\xff\xfe",
        b'{"engine": "flat", "format": 2, "options": {}, "fields": [3]}',
        b'{"engine": "flat", "format": 2, "options": {}, "fields": [{"name": "../x", "of": "posts", "size": 3}]}',
        b'{"engine": "flat", "format": 2, "options": {}, "fields": [{"name": "x", "of": "posts", "size": 1e9}]}',
    ],
)
def test_a_damaged_head_is_reported(tmp_path: Path, content: bytes) -> None:
    create("flat", tmp_path / "engine").close()
    (tmp_path / "engine" / "engine.json").write_bytes(content)
    with pytest.raises(MathAMRError, match="damaged"):
        open_engine(tmp_path / "engine")


@pytest.mark.parametrize("format", [1, 99])
def test_another_format_is_refused_with_what_to_do(variant: str, tmp_path: Path, format: int) -> None:
    create(variant, tmp_path / "engine").close()
    path = tmp_path / "engine" / "engine.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": format}))
    with pytest.raises(MathAMRError, match=rf"format {format}.*build the index again"):
        open_engine(tmp_path / "engine")
