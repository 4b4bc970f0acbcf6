"""Scores every candidate of a collection for every topic with a system of formulas, in the exact engine of an index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.runs import DEPTH
from mathamr.index.engines.engine import FieldReader, create_engine
from mathamr.index.engines.entry import Entry, Payload
from mathamr.posts.post import Formula
from mathamr.systems.field import Field
from mathamr.systems.formulagraph.system import ROWS, VIEW_OF
from mathamr.systems.system import System, VisualFormula
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.setting import EXACT

AT_A_TIME = 2048
NEAREST = ROWS
"""The nodes nearest to each node of a query bring the candidates."""
NOT_FOUND = -np.inf
"""The score of a formula that a search has not found."""


def collection_scores(system: System, collection: FormulaCollection, folder: Path) -> dict[str, FloatArray]:
    """Return scores by field, topics by candidates; each is a file of the folder, `FIELD.npy`.

    In a search the candidates by nodes are the formulas of the nearest nodes of each query node, as in the paper (Amador and
    Zanibbi, section 4); the others have no score. Of a judged pool every judged formula of a topic is scored.
    """
    cut, count = len(collection.candidates), len(collection.shard)
    asked = list(system.encode_visuals(_visual(collection, number) for number in range(cut, count)))
    fields = [
        Field(name=name, of="visual", size=rows.vectors.shape[1], many=name in VIEW_OF)
        for name, rows in next(iter(asked), {}).items()
    ]
    if not fields:
        raise MathAMRError(f"the system {system.kind!r} has no vectors of formulas by themselves")
    scores: dict[str, FloatArray] = {}
    with TemporaryDirectory(dir=folder) as place:
        engine = create_engine(Path(place), fields, EXACT)
        try:
            for some in batches(range(cut), AT_A_TIME):
                made = system.encode_visuals(_visual(collection, number) for number in some)
                found = zip(some, made, strict=True)
                engine.upsert("visual", [Entry(str(number), rows, Payload()) for number, rows in found])
            for name in (field.name for field in fields):
                scores[name] = np.lib.format.open_memmap(
                    folder / f"{name}.npy", mode="w+", dtype=np.float32, shape=(len(asked), cut)
                )
                _score(engine[name], [rows.get(name) for rows in asked], collection, scores[name])
        finally:
            engine.close()
    return scores


def _visual(collection: FormulaCollection, number: int) -> VisualFormula:
    opt, slt = collection.shard.both(number)
    return VisualFormula(key=str(number), formula=Formula(str(number), ""), opt=opt, slt=slt)


def _score(
    reader: FieldReader, queries: Sequence[Vectors | None], collection: FormulaCollection, scores: FloatArray
) -> None:
    """Write the sums over the rows of each query of their best cosine (Amador and Zanibbi, equation 4)."""
    scores[:] = NOT_FOUND
    for row, topic, query in zip(scores, collection.topics, queries, strict=True):
        if query is None:
            continue
        if reader.field.many and not collection.among_judged:
            near = reader.search_rows(query.vectors, NEAREST)
            ids = list(dict.fromkeys(hit.id for hits in near for hit in hits))
        else:
            ids = [str(number) for number in collection.ranked_for(topic)]
        for hit in reader.score(query.vectors, ids):
            row[int(hit.id)] = hit.score * len(query.vectors)


def found_in(
    collection: FormulaCollection, topic: str, row: FloatArray, depth: int | None = DEPTH
) -> list[tuple[str, float]]:
    """Return what a topic's scores have found, best first: the first `depth`, or all judged candidates if only these are ranked."""
    chosen = collection.ranked_for(topic)
    if depth is not None and not collection.among_judged and len(chosen) > depth:
        chosen = np.argpartition(-row, depth)[:depth]
    chosen = chosen[row[chosen] > NOT_FOUND]
    order = chosen[np.argsort(-row[chosen], kind="stable")]
    return [(collection.candidates[number], float(row[number])) for number in order.tolist()]


def first_scores(row: FloatArray, count: int) -> FloatArray:
    """Return the scores of a topic with only the `count` highest left."""
    if len(row) <= count:
        return row
    found = np.full_like(row, NOT_FOUND)
    kept = np.argpartition(-row, count)[:count]
    found[kept] = row[kept]
    return found
