"""What is particular to the flat engine: segments, merging, crashes at every write, readers beside a writer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr.core.errors import MathAMRError
from mathamr.core.storage import durable
from mathamr.index.engines.engine import create_engine, open_engine
from mathamr.index.engines.entry import Entry, Filter
from mathamr.index.engines.flat.engine import FlatEngine
from tests.cases import cases
from tests.index.engines.entries import (
    FIELDS,
    naive_rows,
    naive_search,
    same,
    same_rows,
    some_entries,
    some_posts,
    units,
)


def opened(folder: Path) -> FlatEngine:
    engine = open_engine(folder)
    assert isinstance(engine, FlatEngine)
    return engine


def created(folder: Path, dtype: str = "float32") -> FlatEngine:
    """A new engine, which by default keeps what it gets exactly."""
    create_engine(folder, FIELDS, "flat", {"dtype": dtype}).close()
    return opened(folder)


def check(engine: FlatEngine, wanted: dict[str, Entry]) -> None:
    """The engine holds exactly these posts."""
    assert engine.count("posts") == len(wanted)
    assert sorted(engine.ids("posts")) == sorted(wanted)
    assert engine.payloads("posts", list(wanted)) == {name: entry.payload for name, entry in wanted.items()}
    query = units(np.random.default_rng(len(wanted)), 2)
    for where in (None, Filter(kinds=("answer",), minimum_score=0)):
        found = engine["parts"].search_maxsim(query, 15, where)
        entries = list(wanted.values())
        assert [hit.id for hit in found] == [
            hit.id for hit in naive_search(entries, "parts", query, 15, where)
        ]
        nearest = engine["parts"].search_rows(query, 15, where)
        for rows, expected in zip(nearest, naive_rows(entries, "parts", query, 15, where), strict=True):
            same(rows, expected)
    for name, rows in engine["parts"].fetch(list(wanted)).items():
        same_rows(rows, wanted[name].rows["parts"])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), st.integers(0, 5), st.integers(1, 12)),
        st.tuples(st.just("delete"), st.integers(0, 25), st.integers(1, 12)),
        st.tuples(st.sampled_from(["flush", "reopen", "optimize"]), st.just(0), st.just(0)),
    ),
    max_size=14,
)


@given(STEPS)
@settings(max_examples=25)
def test_after_any_steps_it_holds_what_a_dictionary_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("steps") / "engine"
    engine, wanted = created(folder, dtype="float32"), dict[str, Entry]()
    for action, seed, count in steps:
        if action == "upsert":
            posts = some_posts(seed, count)
            engine.upsert("posts", posts)
            wanted |= {entry.id: entry for entry in posts}
        elif action == "delete":
            names = [f"p{number}" for number in range(seed, seed + count)]
            engine.delete("posts", names)
            for name in names:
                wanted.pop(name, None)
        elif action == "reopen":
            engine.close()
            engine = opened(folder)
        else:
            engine.flush() if action == "flush" else engine.optimize()
        check(engine, wanted)
    engine.close()
    engine = opened(folder)
    check(engine, wanted)
    assert engine.verify() == []
    engine.close()


class KilledError(BaseException):
    """What stands for a kill in these tests."""


def dies_at(monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """From the given call on, nothing can be synced, renamed or removed any more: the process is dead."""
    calls = [0]

    def dying(real: object) -> object:
        def act(*arguments: object, **named: object) -> object:
            calls[0] += 1
            if calls[0] >= call:
                raise KilledError
            return real(*arguments, **named)  # type: ignore[operator]

        return act

    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink")):
        monkeypatch.setattr(owner, name, dying(getattr(owner, name)))


@pytest.mark.parametrize("call", range(1, 20))
def test_a_kill_at_any_write_leaves_the_last_flush_or_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    engine = created(tmp_path / "engine")
    before = {entry.id: entry for entry in some_posts(1, 40)}
    engine.upsert("posts", before.values())
    engine.upsert("formulas", some_entries("formulas", 1, 9))
    engine.flush()
    new = {entry.id: entry for entry in some_posts(2, 12, "new ")}
    engine.upsert("posts", new.values())
    engine.delete("posts", ["p1", "p2"])
    engine.delete("formulas", ["f1"])
    after = {name: entry for name, entry in (before | new).items() if name not in ("p1", "p2")}
    killed = False
    with monkeypatch.context() as patch:
        dies_at(patch, call)
        try:
            engine.flush()
        except KilledError:
            killed = True
    assert killed == (call <= 12)
    if engine._lock is not None:
        engine._lock.release()
    again = opened(tmp_path / "engine")
    whole = again.count("posts") == len(after)
    check(again, after if whole else before)
    assert again.count("formulas") == (8 if whole else 9)
    assert whole or killed
    listed = {path.name for path in (tmp_path / "engine").iterdir()}
    named = {"engine.json", "flat.json", "lock"}
    for stored in again._stored():
        named |= {stored.file, stored.dead_file or "lock"}
    assert listed == named
    again.close()


def test_a_write_that_fails_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = created(tmp_path / "engine")
    posts = {entry.id: entry for entry in some_posts(1, 30)}
    engine.upsert("posts", posts.values())

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(durable.os, "fsync", full)
        with pytest.raises(MathAMRError, match=r"cannot write .*No space left on device"):
            engine.flush()
        check(engine, posts)
        with pytest.raises(MathAMRError):
            engine.close()
    engine = opened(tmp_path / "engine")
    check(engine, {})
    engine.upsert("posts", posts.values())
    engine.close()
    engine = opened(tmp_path / "engine")
    check(engine, posts)
    engine.close()


def test_small_segments_are_merged_as_they_come(tmp_path: Path) -> None:
    engine = created(tmp_path / "engine")
    wanted = {}
    for seed in range(70):
        posts = some_posts(seed, 3, f"round {seed}, ")
        engine.upsert("posts", posts)
        engine.flush()
        wanted |= {entry.id: entry for entry in posts}
        assert len(engine.stores["posts"].stored) <= 6
    check(engine, wanted)
    engine.optimize()
    assert len(engine.stores["posts"].stored) == 1
    check(engine, wanted)
    engine.close()


def test_deleted_points_are_swept_out_of_the_files(tmp_path: Path) -> None:
    engine = created(tmp_path / "engine")
    posts = {entry.id: entry for entry in some_posts(1, 80)}
    engine.upsert("posts", posts.values())
    engine.flush()
    for number in range(60):
        engine.delete("posts", [f"p{number}"])
        del posts[f"p{number}"]
        engine.flush()
        (stored,) = engine.stores["posts"].stored
        assert len(stored.dead) <= len(stored.segment) / 4
    check(engine, posts)
    engine.delete("posts", posts)
    engine.flush()
    assert engine.stores["posts"].stored == ()
    engine.close()


def test_readers_keep_what_they_opened_while_others_write(tmp_path: Path) -> None:
    engine = created(tmp_path / "engine")
    before = {entry.id: entry for entry in some_posts(1, 30)}
    engine.upsert("posts", before.values())
    engine.flush()
    reader = FlatEngine.open(tmp_path / "engine", read_only=True)
    engine.delete("posts", before)
    engine.upsert("posts", some_posts(2, 50, "new "))
    engine.optimize()
    check(reader, before)
    reader.close()
    reader = FlatEngine.open(tmp_path / "engine", read_only=True)
    check(reader, {entry.id: entry for entry in some_posts(2, 50, "new ")})
    engine.close()


@cases("harm", ["cut", "changed", "gone", "header", "emptied", "other list"])
def test_damage_is_reported(tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "engine"
    engine = created(folder)
    engine.upsert("posts", some_posts(1, 50))
    engine.close()
    (path,) = folder.glob("posts-*.safetensors")
    content = path.read_bytes()
    if harm == "changed":
        path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif harm == "gone":
        path.unlink()
    elif harm == "other list":
        (folder / "flat.json").write_text(
            '{"number": 1, "posts": [{"dead": null}], "formulas": [], "visual": []}'
        )
    else:
        path.write_bytes({"cut": content[: len(content) // 2], "header": b"\xff" * 99, "emptied": b""}[harm])
    with pytest.raises(MathAMRError, match=r"damaged|cannot read"):
        opened(folder)


def test_fewer_bits_are_smaller_and_nearly_the_same(tmp_path: Path) -> None:
    posts, query = some_posts(1, 400), units(np.random.default_rng(0), 5)
    sizes, scores = {}, {}
    for dtype in ("float32", "float16", "int8"):
        engine = created(tmp_path / dtype, dtype=dtype)
        engine.upsert("posts", posts)
        engine.flush()
        scores[dtype] = {hit.id: hit.score for hit in engine["parts"].search_maxsim(query, 400)}
        (stored,) = engine.stores["posts"].stored
        arrays = stored.segment.fields["parts"].arrays()
        sizes[dtype] = arrays["numbers" if dtype == "int8" else "vectors"].nbytes
        engine.close()
    assert 4 * sizes["int8"] == 2 * sizes["float16"] == sizes["float32"]
    for dtype, most in (("float16", 0.001), ("int8", 0.01)):
        apart = [abs(scores[dtype][name] - score) for name, score in scores["float32"].items()]
        assert 0 < max(apart) < most


def test_vectors_of_an_earlier_release_are_rounded_when_something_is_written(tmp_path: Path) -> None:
    folder, posts = tmp_path / "engine", some_posts(1, 40)
    engine = created(folder, dtype="float32")
    engine.upsert("posts", posts)
    engine.close()
    head = json.loads((folder / "engine.json").read_text())
    (folder / "engine.json").write_text(
        json.dumps(head | {"options": {"dtype": "float32", "first_pass": "auto"}})
    )
    engine = opened(folder)
    same_rows(engine["parts"].fetch(["p3"])["p3"], posts[3].rows["parts"])
    engine.flush()
    (stored,) = engine.stores["posts"].stored
    assert {rows.dtype.name for rows in stored.segment.fields.values()} == {"int8"}
    fresh = created(tmp_path / "fresh", dtype="int8")
    fresh.upsert("posts", posts)
    fresh.flush()
    query = units(np.random.default_rng(0), 5)
    assert [*engine["parts"].search_maxsim(query, 40)] == [*fresh["parts"].search_maxsim(query, 40)]
    for each in (engine, fresh):
        each.close()


def test_a_new_engine_keeps_the_bits_it_is_asked_for(tmp_path: Path) -> None:
    options = {"dtype": "float32", "first_pass": "int8"}
    engine = create_engine(tmp_path / "engine", FIELDS, "flat", options)
    engine.upsert("posts", some_posts(1, 3))
    engine.close()
    same_rows(opened(tmp_path / "engine")["parts"].fetch(["p2"])["p2"], some_posts(1, 3)[2].rows["parts"])


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="the flat engine's dtype is int8, float16, float32, not 'float8'"):
        created(tmp_path / "engine", dtype="float8")
