"""Points, an oracle and ways to make every engine, for the tests of the engine seam."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mathamr.index.engines.engine import Engine, Filter, Payload, Point, Scored, create_engine
from mathamr.index.engines.point import DECIMALS, Floats

SIZE = 8
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "flat": ("flat", {"first_pass": "none"}),
    "flat-int8": ("flat", {"first_pass": "int8"}),
    "flat-float16": ("flat", {"dtype": "float16"}),
    "edge": ("edge", {}),
    "edge-hnsw": ("edge", {"hnsw": "all"}),
    "qdrant-local": ("qdrant", {"url": "local"}),
}
"""What the contract is tested with: names, the engine and its options."""
ON_SERVER = "mathamr-test-"
"""What the names of collections begin with that tests make on a real server."""
if os.environ.get("MATHAMR_QDRANT_URL"):
    VARIANTS["qdrant-server"] = ("qdrant", {})


def create(variant: str, folder: Path, size: int = SIZE) -> Engine:
    name, options = VARIANTS[variant]
    if variant == "qdrant-server":
        options = options | {"collection": f"{ON_SERVER}{uuid.uuid4().hex}"}
    return create_engine(folder, size, name, options)


def units(generator: np.random.Generator, rows: int, size: int = SIZE) -> Floats:
    """Random vectors of length one."""
    vectors = generator.standard_normal((rows, size)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def some_points(seed: int, count: int, prefix: str = "p", size: int = SIZE) -> list[Point]:
    """Posts with one to nine vectors and payloads of many kinds."""
    generator = np.random.default_rng(seed)
    points = []
    for number in range(count):
        vectors = units(generator, int(generator.integers(1, 10)), size)
        tags = tuple(tag for tag in ("algebra", "limits", "sets") if generator.random() < 0.5)
        payload = Payload(
            kind=("question", "answer", "note")[number % 3],
            tags=tags,
            date=None if number % 7 == 0 else f"20{10 + number % 9}-0{1 + number % 8}-11T10:00:00.500",
            score=None if number % 5 == 0 else int(generator.integers(-5, 20)),
            source=f"file {number % 2}",
        )
        points.append(Point(f"{prefix}{number}", vectors[0], vectors, payload))
    return points


def formula_points(seed: int, count: int, size: int = SIZE) -> list[Point]:
    """Formulas of posts, one vector each."""
    generator = np.random.default_rng(seed)
    return [
        Point(
            f"f{number}",
            vector,
            None,
            Payload(kind="answer", post=f"p{number % 7}", visual=f"key {number % 5}"),
        )
        for number, vector in enumerate(units(generator, count, size))
    ]


def naive_maxsim(query: Floats, vectors: Floats) -> float:
    """MaxSim as the thesis writes it: a loop over the query's vectors (equations 3.4 and 3.7)."""
    return sum(max(float(np.dot(q, v)) for v in vectors) for q in query) / len(query)


def oracle(scores: Mapping[str, float], k: int) -> list[Scored]:
    """The ranking that the seam promises: best first, equal ones by id."""
    rows = sorted((-round(score, DECIMALS), identifier) for identifier, score in scores.items())
    return [Scored(identifier, -score) for score, identifier in rows[:k]]


def naive_search(points: Sequence[Point], query: Floats, k: int, where: Filter | None = None) -> list[Scored]:
    """Exact search by loops: MaxSim for a query of several vectors, the cosine for one."""
    passing = [point for point in points if where is None or where.passes(point.payload)]
    if query.ndim == 1:
        return oracle({point.id: float(np.dot(query, point.vector)) for point in passing}, k)
    return oracle({point.id: naive_maxsim(query, point.vectors) for point in passing}, k)  # type: ignore[arg-type]
