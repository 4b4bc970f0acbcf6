"""Candidates by nearest nodes instead of all nodes: recall, cost and size of an HNSW graph as the number of formulas grows.

The visual classes are real ones, from a shard of formulas (`mathamr train formula-graph … --prepare`). They are stored in the engine
`edge` in two layouts: as in the system, one entry per visual class with many rows, and as in the paper, one entry per node. A query searches the
nearest neighbours of each of its nodes, and the visual classes found are compared by exact MaxSim, in both views; the truth is exact MaxSim over
all visual classes. Times are wall-clock times, encoding and graphs on all threads, a query on one.
`MATHAMR_FORMULAS` names the shard, and `MATHAMR_NEAR_SECONDS` bounds the time (600); the queries are those of ARQMath-1.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.batches import batches
from mathamr.evaluation.table import aligned
from mathamr.graphs.formulashard import FormulaShard
from mathamr.index.engines.engine import Engine, create_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.engines.maxsim import maxsim
from mathamr.posts.level import Level
from mathamr.posts.post import Formula
from mathamr.systems.field import Field
from mathamr.systems.formulagraph.system import ROWS, VIEW_OF, FormulaGraphSystem
from mathamr.systems.models import load_system
from mathamr.systems.system import VisualFormula
from mathamr.systems.vectors import Vectors
from mathamr_lab.data import data_folder
from mathamr_lab.experiments.judgedpool import JudgedPool
from mathamr_lab.studies.testsets import environment

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 200_000)
BATCH = 4096
QUERIES = 10
DEPTHS = (10, 100, 1000)
ARQMATH = 9_300_000
"""The number of visual classes in the complete collection of ARQMath."""
THEIRS = "the paper: 400 million vectors of 100 numbers for 9.8 million formulas, 24 hours to become ready, 1.6 s a query"


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one size."""

    visuals: int
    rows: int
    disk: int
    stored: float
    graphs: float
    query: float
    exact: float
    candidates: float
    recall: tuple[float, ...]


def run() -> None:
    system = load_system("formula-graph")
    assert isinstance(system, FormulaGraphSystem)
    shard = FormulaShard.load(Path(environment("MATHAMR_FORMULAS")))
    order = np.random.default_rng(0).permutation(len(shard))
    pool = JudgedPool.read(data_folder() / "arqmath1-formula-trees")
    queries = [
        VisualFormula(key=topic, formula=Formula(topic, query.latex), opt=query.trees[0], slt=query.trees[1])
        for topic, query in list(pool.queries.items())[:QUERIES]
    ]
    budget, began = float(os.environ.get("MATHAMR_NEAR_SECONDS", "600")), time.perf_counter()
    asked = list(system.encode_visuals(queries))
    for title, apart, share in (
        ("an entry a node", True, 0.75),
        ("an entry a visual class, many rows", False, 0.25),
    ):
        print(f"\n{title}, engine edge with HNSW over all rows", flush=True)
        found: list[Cost] = []
        started = time.perf_counter()
        for size in SIZES:
            # A larger size takes proportionally longer.
            spent, last = time.perf_counter() - started, found[-1] if found else None
            expected = (last.stored + last.graphs) * 1.2 * size / last.visuals if last else 0.0
            if size > len(shard) or spent + expected > budget * share:
                break
            vectors = encoded_visuals(system, shard, order[:size])
            found.append(_measure(vectors, asked, apart=apart))
            print(f"  {size:,} visual classes after {time.perf_counter() - started:.0f} s", flush=True)
        _report(found)
    print(f"{THEIRS}; all in {time.perf_counter() - began:.0f} s", flush=True)


def encoded_visuals(
    system: FormulaGraphSystem, shard: FormulaShard, numbers: IntArray
) -> dict[str, list[FloatArray]]:
    """The rows of visual classes by view."""

    def visuals() -> Iterator[VisualFormula]:
        for number in numbers.tolist():
            opt, slt = shard.both(number)
            yield VisualFormula(key=str(number), formula=Formula(str(number), ""), opt=opt, slt=slt)

    found: dict[str, list[FloatArray]] = {field: [] for field in VIEW_OF}
    for rows in system.encode_visuals(visuals()):
        for field, own in found.items():
            own.append(rows[field].vectors)
    return found


def _measure(
    vectors: dict[str, list[FloatArray]], asked: Sequence[Mapping[str, Vectors]], *, apart: bool
) -> Cost:
    size = len(next(iter(vectors.values()))[0][0])
    fields = [Field(name=name, of="visual", size=size, many=not apart) for name in vectors]
    with tempfile.TemporaryDirectory() as folder:
        engine = create_engine(Path(folder) / "engine", fields, "edge", {"hnsw": "all"})
        began = time.perf_counter()
        for batch in batches(_entries(vectors, apart=apart), BATCH):
            engine.upsert("visual", batch)
        engine.flush()
        stored = time.perf_counter() - began
        began = time.perf_counter()
        engine.optimize()
        graphs = time.perf_counter() - began
        disk = sum(path.stat().st_blocks * 512 for path in Path(folder).rglob("*") if path.is_file())
        took, exact, many, recall = _queries(engine, vectors, asked, apart=apart)
        engine.close()
    rows = sum(len(each) for own in vectors.values() for each in own)
    visuals = len(next(iter(vectors.values())))
    return Cost(visuals, rows, disk, stored, graphs, took, exact, many, recall)


def _entries(vectors: Mapping[str, Sequence[FloatArray]], *, apart: bool) -> Iterator[Entry]:
    for number in range(len(next(iter(vectors.values())))):
        if not apart:
            yield Entry(str(number), {name: _rows(own[number]) for name, own in vectors.items()})
            continue
        for name, own in vectors.items():
            for node, row in enumerate(own[number]):
                yield Entry(f"{number}/{name}/{node}", {name: _rows(row[None])})


def _rows(vectors: FloatArray) -> Vectors:
    return Vectors(vectors, np.full(len(vectors), Level.NODE, np.int8), tuple(map(str, range(len(vectors)))))


def _queries(
    engine: Engine,
    vectors: Mapping[str, Sequence[FloatArray]],
    asked: Sequence[Mapping[str, Vectors]],
    *,
    apart: bool,
) -> tuple[float, float, float, tuple[float, ...]]:
    """Returns (seconds per query, of exact MaxSim over everything, candidates, shares of the true first ones that are found)."""
    whole = {name: np.concatenate(list(own)) for name, own in vectors.items()}
    starts = {name: np.cumsum([0, *map(len, own)])[:-1] for name, own in vectors.items()}
    seconds = exact = candidates = 0.0
    shares: list[list[float]] = [[] for _ in DEPTHS]
    for query in asked:
        began = time.perf_counter()
        found: dict[int, float] = {}
        for name, rows in query.items():
            own = sorted(
                {
                    int(hit.id.partition("/")[0])
                    for row in rows.vectors
                    for hit in engine[name].search(row, ROWS, exact=False)
                }
            )
            candidates += len(own)
            if apart:
                chosen = [vectors[name][number] for number in own]
                scores = maxsim(rows.vectors, np.concatenate(chosen), np.cumsum([0, *map(len, chosen)])[:-1])
                scored = list(zip(own, scores.tolist(), strict=True))
            else:
                hits = engine[name].score(rows.vectors, list(map(str, own)))
                scored = [(int(hit.id), hit.score) for hit in hits]
            for number, score in scored:
                found[number] = max(found.get(number, -1.0), score)
        order = sorted(found, key=lambda number: (-found[number], number))
        seconds += time.perf_counter() - began
        began = time.perf_counter()
        views = [maxsim(rows.vectors, whole[name], starts[name]) for name, rows in query.items()]
        best = np.maximum.reduce(views)
        exact += time.perf_counter() - began
        for share, depth in zip(shares, DEPTHS, strict=True):
            truth = np.sort(best)[::-1][:depth]
            # Results that score as high as the last true one count as true.
            worth = sum(best[number] >= truth[-1] - 1e-5 for number in order[:depth])
            share.append(min(1.0, worth / len(truth)))
    count = len(asked)
    return (
        seconds / count,
        exact / count,
        candidates / count,
        tuple(float(np.mean(share)) for share in shares),
    )


def _report(found: Sequence[Cost]) -> None:
    rows = [
        ["visual", "vectors", "GB on disk", "stored, s", "graphs, s", "candidates", "ms a query", "exact, ms",
         *(f"recall@{depth}" for depth in DEPTHS)]
    ]  # fmt: skip
    for cost in found:
        rows.append(
            [
                f"{cost.visuals:,}",
                f"{cost.rows:,}",
                f"{cost.disk / 1e9:.2f}",
                f"{cost.stored:.1f}",
                f"{cost.graphs:.1f}",
                f"{cost.candidates:.0f}",
                f"{1000 * cost.query:.0f}",
                f"{1000 * cost.exact:.0f}",
                *(f"{each:.3f}" for each in cost.recall),
            ]
        )
    print(aligned(rows))
    if len(found) < 2:
        return
    visuals = np.array([cost.visuals for cost in found], float)
    logs, last = np.log(visuals), visuals[-1]
    rows_at = float(np.polyval(np.polyfit(visuals, [cost.rows for cost in found], 1), ARQMATH))
    disk = float(np.polyval(np.polyfit(visuals[-3:], [cost.disk for cost in found[-3:]], 1), ARQMATH))
    stored = found[-1].stored * ARQMATH / last
    graphs = found[-1].graphs * ARQMATH / last * np.log(ARQMATH) / logs[-1]
    query = float(np.polyval(np.polyfit(logs[-3:], [cost.query for cost in found[-3:]], 1), np.log(ARQMATH)))
    exact = float(np.polyval(np.polyfit(visuals, [cost.exact for cost in found], 1), ARQMATH))
    print(
        f"projected to {ARQMATH:,} visual classes: {rows_at / 1e6:,.0f} million vectors, {disk / 1e9:,.0f} GB,"
        f" {stored / 3600:,.1f} hours to store and {graphs / 3600:,.1f} hours of graphs (n log n),"
        f" {query:,.2f} s a query (a line in log n), exact {exact:,.0f} s"
    )
