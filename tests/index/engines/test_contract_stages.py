"""The contract of two stages: what a first stage finds is scored exactly, filtered before it is chosen, and never asked of an exact search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.engine import Engine, Entry, Filter, create_engine, open_engine
from tests.index.engines.entries import (
    FIELDS,
    naive_search,
    post,
    postgres_server,
    same,
    some_payload,
    units,
)

POSTS = 150
STAGED: dict[str, dict[str, Any]] = {
    "flat": {"dtype": "float16"},
    "edge": {},
    "qdrant": {"url": "local"},
    "postgres": {},
}
OPTIONS = {"first": "fde", "planes": 1, "repetitions": 2, "pool": 30, "oversampling": 2}


def clustered(seed: int = 1) -> list[Entry]:
    """Posts of thirty topics: rows of a post are alike, as in life."""
    draw = np.random.default_rng(seed)
    topics = units(draw, 30)
    posts = []
    for number in range(POSTS):
        rows = topics[number % 30] + 0.5 * units(draw, int(draw.integers(1, 10)))
        posts.append(post(f"p{number}", rows, some_payload(draw, number)))
    return posts


@pytest.fixture(scope="module", params=list(STAGED))
def staged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine with a first stage: some posts replaced, some deleted, opened again."""
    name = request.param
    if name == "postgres":
        postgres_server()
    if name == "qdrant":
        pytest.importorskip("qdrant_client", reason="needs mathamr[qdrant]")
    folder = tmp_path_factory.mktemp("staged") / "engine"
    engine = create_engine(folder, FIELDS[:2], name, OPTIONS | STAGED[name])
    engine.upsert("posts", clustered(2)[:40])
    engine.flush()
    engine.upsert("posts", [*clustered(), *(Entry(f"gone {n}", clustered()[n].rows) for n in range(5))])
    engine.delete("posts", [f"gone {number}" for number in range(5)])
    engine.optimize()
    engine.close()
    engine = open_engine(folder)
    yield engine
    engine.destroy()


def unit_posts() -> list[Entry]:
    """The posts with rows of length one, as an engine keeps them."""
    posts = clustered()
    for entry in posts:
        for rows in entry.rows.values():
            rows.vectors[:] = rows.vectors / np.linalg.norm(rows.vectors, axis=1, keepdims=True)
    return posts


def test_a_search_over_two_stages_finds_nearly_what_exact_search_finds_with_true_scores(
    staged: Engine,
) -> None:
    posts = unit_posts()
    shared = 0
    for seed in range(8):
        query = posts[seed].rows["parts"].vectors + 0.2 * units(np.random.default_rng(seed), 1)
        found = staged["parts"].search_maxsim(query, 10, exact=False)
        unit = query / np.linalg.norm(query, axis=1, keepdims=True)
        wanted = naive_search(posts, "parts", unit, 10)
        scores = {hit.id: hit.score for hit in naive_search(posts, "parts", unit, POSTS)}
        assert [hit.score for hit in found] == pytest.approx([scores[hit.id] for hit in found], abs=2e-3)
        shared += len({hit.id for hit in found} & {hit.id for hit in wanted})
    assert shared >= 70, f"{shared} of 80"


def test_an_exact_search_does_not_ask_the_first_stage(staged: Engine) -> None:
    query = units(np.random.default_rng(5), 4)
    wanted = naive_search(unit_posts(), "parts", query, POSTS)
    found = staged["parts"].search_maxsim(query, POSTS)
    if staged.name == "flat":  # in sixteen bits
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=1e-3)
    else:
        same(found, wanted)


def test_a_first_stage_chooses_among_what_passes_the_filter(staged: Engine) -> None:
    posts = unit_posts()
    query = units(np.random.default_rng(6), 3)
    for where in (Filter(kinds=("note",)), Filter(tags=("limits", "sets"), minimum_score=3)):
        passing = {entry.id for entry in posts if where.passes(entry.payload)}
        found = staged["parts"].search_maxsim(query, 15, where, exact=False)
        assert len(found) == min(15, len(passing))
        assert {hit.id for hit in found} <= passing


def test_what_is_written_after_optimizing_is_found_by_the_first_stage_as_well(staged: Engine) -> None:
    query = units(np.random.default_rng(77), 2)
    staged.upsert("posts", [post("late", query)])
    try:
        assert staged["parts"].search_maxsim(query, 3, exact=False)[0].id == "late"
        staged.flush()
        assert staged["parts"].search_maxsim(query, 3, exact=False)[0].id == "late"
    finally:
        staged.delete("posts", ["late"])
        staged.flush()
    assert "late" not in {hit.id for hit in staged["parts"].search_maxsim(query, POSTS, exact=False)}


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"first": "guess"}, "first stage is exact or fde"),
        ({"first": "fde", "planes": 9}, "0 to 8 planes"),
        ({"first": "fde", "planes": 8, "repetitions": 99}, "4,000 numbers at most"),
        ({"pool": 0}, "pool is from 1 to"),
        ({"oversampling": -3}, "oversampling is from 1 to"),
    ],
)
def test_options_of_a_first_stage_that_cannot_be_are_refused(
    tmp_path: Path, options: dict[str, Any], reported: str
) -> None:
    with pytest.raises(MathAMRError, match=reported):
        create_engine(tmp_path / "engine", FIELDS[:2], "flat", options)
    assert not (tmp_path / "engine" / "engine.json").exists()
