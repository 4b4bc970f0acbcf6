"""What goes into an engine for a post: its point, a point for each of its formulas, and a sketch to check them by."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from mathamr.formulas.visualkey import visual_key
from mathamr.graphs.maker import trees_of
from mathamr.graphs.virtual import Level
from mathamr.index.catalogue.journal import Waiting
from mathamr.index.engines.point import Floats, Payload, Point, unit
from mathamr.posts.post import Formula, Post
from mathamr.systems.vectors import Vectors

SKETCH_TOLERANCE = 0.01
"""Engines may keep half precision: so far may the sketch of one vector stray."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The points of one post; `post` is `None` where it has no vectors at all."""

    post: Point | None
    formulas: tuple[Point, ...]
    rows: int
    sketch: float


def visual_keys(post: Post) -> list[str]:
    """The visual keys of a post's formulas, in order."""
    return [_visual_key(formula, post.macros) for formula in post.formulas]


@lru_cache(maxsize=10_000)
def _visual_key(formula: Formula, macros: tuple[str, ...]) -> str:
    (_, slt), _ = trees_of(formula, macros)
    if slt is not None:
        return visual_key(slt)
    # What could not be read looks like nothing but the same source.
    source = formula.latex or formula.presentation_mathml or formula.content_mathml or ""
    return "source-" + blake2b(source.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def is_tagged_by_question(post: Post) -> bool:
    """Whether a post is found by the tags of its question: forums tag questions only."""
    return post.role == "answer" and not post.tags


def entries_of(
    waiting: Waiting, post: Post, vectors: Vectors, tags: tuple[str, ...] | None = None
) -> Entries:
    """The points of a post, given its vectors; `tags` are those it is found by, if not its own."""
    found_by = post.tags if tags is None else tags
    size = vectors.vectors.shape[1]
    rows = unit(vectors.vectors, size, f"the vectors of {post.id!r}", dimensions=2)
    if not len(rows):
        return Entries(None, (), 0, 0.0)
    document = vectors.document
    vector = unit(rows.mean(axis=0) if document is None else document, size, post.id, dimensions=1)
    payload = Payload(post.kind, found_by, post.date, post.score, post.source)
    return Entries(
        Point(post.id, vector, rows, payload),
        _formula_points(waiting, post, vectors, payload),
        len(rows),
        sketch(rows),
    )


def _formula_points(waiting: Waiting, post: Post, vectors: Vectors, payload: Payload) -> tuple[Point, ...]:
    # A post may use one id for several formulas: they are told apart by their order.
    waiting_ids: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for formula, entry in zip(post.formulas, waiting.formulas, strict=True):
        waiting_ids[formula.id].append(entry)
    points = []
    references, rows = vectors.at(Level.FORMULA)
    for reference, row in zip(references, rows, strict=True):
        if not waiting_ids[reference]:
            continue  # the same formula met again, as a formula of several sentences
        formula_id, visual = waiting_ids[reference].pop(0)
        points.append(Point(formula_id, row, None, replace(payload, post=post.id, visual=visual)))
    return tuple(points)


def sketch(rows: Floats) -> float:
    """One number for vectors and their order: what is damaged or mixed up has another one."""
    return float(np.einsum("ij,j,i->", rows.astype(np.float64), *_weights(*rows.shape[::-1])))


@lru_cache(maxsize=256)
def _weights(size: int, rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    columns: npt.NDArray[np.float64] = np.random.default_rng(7).standard_normal(size)
    return columns / np.linalg.norm(columns), (1 + np.arange(rows) % 7).astype(np.float64)


def fits(rows: Floats, count: int, expected: float) -> bool:
    """Whether vectors are those of a sketch; an engine may keep them in half precision."""
    return len(rows) == count and abs(sketch(rows) - expected) <= SKETCH_TOLERANCE * max(1, count) ** 0.5
