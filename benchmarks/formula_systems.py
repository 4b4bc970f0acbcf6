"""Formula systems: encoding speed, number and size of vectors, and query time, extrapolated to 9.3 million visual classes.

The visual classes are those of the judged pool of ARQMath-1 (trees, so nothing is parsed). Times are of one processor core. Models
are those in the box, or the folders that `MATHAMR_FORMULA_MODELS` names, separated by colons. The projection is a
straight line through measurements at several sizes: exact search reads every row.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from mathamr.evaluation.table import aligned
from mathamr.index.engines.engine import create_engine
from mathamr.index.engines.entry import Entry
from mathamr.index.engines.maxsim import mutual_maxsim
from mathamr.posts.post import Formula
from mathamr.systems.models import boxed, load_system
from mathamr.systems.system import System, VisualFormula
from mathamr_lab.data import data_folder
from mathamr_lab.experiments.judgedpool import JudgedPool

SIZES = (500, 1000, 2000, 4000)
ARQMATH = 9_300_000
"""The number of visual classes in the complete collection of ARQMath."""
QUERIES = 10
ROWS = 1000
MUTUAL = 300
"""The number of visual classes that are compared in both directions, as `mutual` does."""
BATCH = 512


def run() -> None:
    torch.set_num_threads(1)
    pool = JudgedPool.read(data_folder() / "arqmath1-formula-trees")
    visuals, queries = (
        [
            VisualFormula(key=name, formula=Formula(name, ""), opt=opt, slt=slt)
            for name, (opt, slt) in formulas.items()
            if opt is not None and slt is not None
        ]
        for formulas in (pool.formulas, pool.queries)
    )
    queries = queries[:QUERIES]
    named = os.environ.get("MATHAMR_FORMULA_MODELS", "")
    models = named.split(":") if named else [name for name in boxed() if name in ("formula-graph", "ssemb")]
    for model in models:
        _measure(load_system(model, "cpu"), visuals, queries)


def _measure(system: System, visuals: Sequence[VisualFormula], queries: Sequence[VisualFormula]) -> None:
    fields = [field for field in system.fields if field.of == "visual"]
    print(f"\n{system.name}: {', '.join(f'{field.name} ({field.size} numbers)' for field in fields)}")
    rows = [["visual", "vectors", "a look", "MB on disk", "looks/s encoded", "ms a query", "queries/s"]]
    sizes, costs = [], []
    for size in SIZES:
        if size > len(visuals):
            break
        with tempfile.TemporaryDirectory() as folder:
            engine = create_engine(Path(folder) / "engine", fields)
            seconds, vectors = 0.0, 0
            for part in _parts(visuals[:size]):
                began = time.process_time()
                encoded = list(system.encode_visuals(part))
                seconds += time.process_time() - began
                engine.upsert(
                    "visual", [Entry(visual.key, found) for visual, found in zip(part, encoded, strict=True)]
                )
                vectors += sum(len(each) for found in encoded for each in found.values())
            engine.flush()
            engine.optimize()
            took = _query(system, engine, queries)
            used = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
            engine.close()
        sizes.append(size)
        costs.append((vectors, used, took))
        rows.append(
            [
                f"{size:,}",
                f"{vectors:,}",
                f"{vectors / size:.1f}",
                f"{used / 1e6:.1f}",
                f"{size / seconds:,.0f}",
                f"{1000 * took:.1f}",
                f"{1 / took:.0f}",
            ]
        )
        rate = size / seconds
    print(aligned(rows))
    vectors, used, took = (
        float(np.polyval(np.polyfit(sizes, column, 1), ARQMATH)) for column in zip(*costs, strict=True)
    )
    print(
        f"projected to {ARQMATH:,} looks: {vectors / 1e6:,.0f} million vectors, {used / 1e9:,.1f} GB,"
        f" {ARQMATH / rate / 3600:,.1f} hours to encode on one core, {took:,.1f} s a query on one core (exact)"
    )


def _query(system: System, engine: object, queries: Sequence[VisualFormula]) -> float:
    """Return the seconds of a query: its own vectors, candidates and scores of every field, many rows compared in both directions."""
    began = time.process_time()
    for found in system.encode_visuals(queries):
        for name, vectors in found.items():
            field = engine[name]  # type: ignore[index]
            if not field.field.many:
                field.search(vectors.vectors[0], ROWS)
                continue
            best = field.search_maxsim(vectors.vectors, ROWS)
            for kept in field.fetch([hit.id for hit in best[:MUTUAL]]).values():
                mutual_maxsim(vectors.vectors, kept.vectors)
    return (time.process_time() - began) / len(queries)


def _parts(visuals: Sequence[VisualFormula]) -> Iterator[Sequence[VisualFormula]]:
    for start in range(0, len(visuals), BATCH):
        yield visuals[start : start + BATCH]
