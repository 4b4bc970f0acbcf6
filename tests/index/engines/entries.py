"""Entries, an oracle and ways to make every engine, for the tests of the engine seam."""

from __future__ import annotations

import atexit
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mathamr.core.arrays import FloatArray
from mathamr.index.engines.engine import Engine, create_engine
from mathamr.index.engines.entry import Entry, Filter, Payload
from mathamr.index.scored import DECIMALS, Scored
from mathamr.systems.field import Field, FieldTarget
from mathamr.systems.vectors import Vectors
from tests.postgres import PostgresServer, missing

SIZE, SMALL = 8, 5
FIELDS = (
    Field(name="document", of="posts", size=SIZE),
    Field(name="parts", of="posts", size=SIZE, many=True),
    Field(name="formula", of="formulas", size=SIZE),
    Field(name="context", of="formulas", size=SMALL, many=True),
    Field(name="structure", of="visual", size=SMALL),
    Field(name="nodes", of="visual", size=SIZE, many=True),
)
"""Every kind of entry has a field of one row and a field of many; not every entry has both."""
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "flat": ("flat", {"dtype": "float32"}),
    "flat-int8": ("flat", {}),
    "flat-float16": ("flat", {"dtype": "float16"}),
    "qdrant-local": ("qdrant", {"url": "local"}),
    "postgres": ("postgres", {}),
}
"""What the contract is tested with: names, the engine and its options."""
LIBRARIES = {"qdrant": "qdrant_client"}
"""What engines need that the default installation lacks."""
ON_SERVER = "mathamr-test-"
"""What the names of collections begin with that tests make on a real server."""
if os.environ.get("MATHAMR_QDRANT_URL"):
    VARIANTS["qdrant-server"] = ("qdrant", {})
EXACT = [name for name in VARIANTS if name not in {"flat-float16", "flat-int8"}]
each_filled = pytest.mark.parametrize("filled", EXACT, indirect=True)
each_exact = pytest.mark.parametrize("variant", EXACT)
each_in_its_folder = pytest.mark.parametrize("variant", ["flat", "qdrant-local"])


@cache
def postgres_server() -> PostgresServer | None:
    """The Postgres server of this process of tests; none: the environment names one."""
    if os.environ.get("MATHAMR_POSTGRES_URL"):
        return None
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    server = PostgresServer("fsync=off", "shared_buffers=32MB", "max_connections=40")
    atexit.register(server.stop)
    os.environ["MATHAMR_POSTGRES_URL"] = server.url
    return server


def create(variant: str, folder: Path, fields: Sequence[Field] = FIELDS) -> Engine:
    name, options = VARIANTS[variant]
    if name == "postgres":
        postgres_server()
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name], reason=f"needs mathamr[{name}]")
    if variant == "qdrant-server":
        options = options | {"collection": f"{ON_SERVER}{uuid.uuid4().hex}"}
    return create_engine(folder, fields, name, options)


def units(generator: np.random.Generator, rows: int, size: int = SIZE) -> FloatArray:
    """Random vectors of length one."""
    vectors = generator.standard_normal((rows, size)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def vectors_of(rows: FloatArray, name: str) -> Vectors:
    """Rows that stand for something different each."""
    return Vectors(
        rows,
        np.arange(len(rows), dtype=np.int8) % 3,
        tuple(f"{name}/{number} ζ" for number in range(len(rows))),
    )


def some_payload(generator: np.random.Generator, number: int) -> Payload:
    return Payload(
        kind=("question", "answer", "note")[number % 3],
        tags=tuple(tag for tag in ("algebra", "limits", "sets") if generator.random() < 0.5),
        date=None if number % 7 == 0 else f"20{10 + number % 9}-0{1 + number % 8}-11T10:00:00.500",
        score=None if number % 5 == 0 else int(generator.integers(-5, 20)),
        source=f"file {number % 2}",
    )


def post(name: str, vectors: FloatArray, payload: Payload | None = None) -> Entry:
    """A post whose first row is its document's."""
    rows = {"document": vectors_of(vectors[:1], name), "parts": vectors_of(vectors, name)}
    return Entry(name, rows, payload or Payload())


def some_posts(seed: int, count: int, prefix: str = "p") -> list[Entry]:
    """Posts with one to nine rows and payloads of many kinds."""
    generator = np.random.default_rng(seed)
    return [
        post(
            f"{prefix}{number}",
            units(generator, int(generator.integers(1, 10))),
            some_payload(generator, number),
        )
        for number in range(count)
    ]


def some_entries(of: FieldTarget, seed: int, count: int) -> list[Entry]:
    """Entries of a kind; every third lacks its field of one row, every fifth that of many."""
    one, many = (field for field in FIELDS if field.of == of)
    generator = np.random.default_rng(seed)
    entries = []
    for number in range(count):
        name = f"{of[0]}{number}"
        rows = {}
        if number % 3 != 1:
            rows[one.name] = vectors_of(units(generator, 1, one.size), name)
        if number % 5 != 2 or not rows:
            rows[many.name] = vectors_of(units(generator, int(generator.integers(1, 7)), many.size), name)
        payload = some_payload(generator, number)
        if of == "formulas":
            payload = replace(payload, post=f"p{number % 7}", visual=f"look {number % 5}")
        entries.append(Entry(name, rows, payload))
    return entries


def naive_maxsim(query: FloatArray, vectors: FloatArray) -> float:
    """MaxSim as the thesis writes it: a loop over the query's vectors (equations 3.4 and 3.7)."""
    return sum(max(float(np.dot(q, v)) for v in vectors) for q in query) / len(query)


def oracle(scores: Mapping[str, float], k: int) -> list[Scored]:
    """The ranking that the seam promises: best first, equal ones by id."""
    rows = sorted((-round(score, DECIMALS), identifier) for identifier, score in scores.items())
    return [Scored(identifier, -score) for score, identifier in rows[:k]]


def naive_search(
    entries: Sequence[Entry], field: str, query: FloatArray, k: int, where: Filter | None = None
) -> list[Scored]:
    """Exact search by loops over the entries that have a field and pass a filter."""
    rows = query if query.ndim == 2 else query[None]
    return oracle(
        {
            entry.id: naive_maxsim(rows, entry.rows[field].vectors)
            for entry in entries
            if field in entry.rows and (where is None or where.passes(entry.payload))
        },
        k,
    )


def naive_rows(
    entries: Sequence[Entry], field: str, query: FloatArray, k: int, where: Filter | None = None
) -> list[list[Scored]]:
    """The entries of the nearest rows by loops."""
    found = []
    for wanted in query:
        rows = [
            (-round(float(np.dot(wanted, vector)), DECIMALS), entry.id)
            for entry in entries
            if field in entry.rows and (where is None or where.passes(entry.payload))
            for vector in entry.rows[field].vectors
        ]
        found.append([Scored(name, -score) for score, name in sorted(rows)[:k]])
    return found


def same_rows(found: Vectors, wanted: Vectors, tolerance: float = 1e-6) -> None:
    """The same numbers, standing for the same."""
    np.testing.assert_allclose(found.vectors, wanted.vectors, atol=tolerance)
    assert found.levels.tolist() == wanted.levels.tolist()
    assert found.references == wanted.references


def same(found: Sequence[Scored], wanted: Sequence[Scored], tolerance: float = 2e-6) -> None:
    """The same ids in the same order; the scores agree to the last decimal but one."""
    assert [hit.id for hit in found] == [hit.id for hit in wanted]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=tolerance)
