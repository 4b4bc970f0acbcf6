"""Measures what a system costs, from a slice of the posts, as a process: `python -m mathamr_lab.studies.costs MODEL POSTS WHOLE`.

Indexing all posts with every system takes hours of one core. So a slice is indexed as a user would, which gives the
posts per second of one core and the rows per post, formula and visual class. Then the posts and words of a complete
index (`WHOLE`, built with any model) get rows that are drawn from those of the slice, with noise: an index of the full
size whose results are meaningless but whose size and speed are those of the real one.

Time is the processor time of this process and its children, so that other work on the machine does not count.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from mathamr.core.batches import batches
from mathamr.evaluation.topics import read_topics
from mathamr.evaluation.topicsearch import retrieve
from mathamr.index.archive import GRAPHS, LEXICAL, VECTORS, Archive
from mathamr.index.build.builder import BuildOptions, build_index
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.engines.engine import Engine, Entry, FieldTarget, Payload, create_engine
from mathamr.index.manifest import Manifest
from mathamr.index.payloads import formula_payloads, post_payloads
from mathamr.posts.post import Post
from mathamr.search.searcher import Index
from mathamr.systems.field import KINDS
from mathamr.systems.ranking import Task
from mathamr.systems.vectors import Vectors
from mathamr_lab.data import data_folder

FIRST = 5
"""The number of posts in a first index, which loads everything that is loaded once."""
TOPICS = 5
"""The number of topics of a task whose search is timed, after one that is not."""
NOISE = 0.3
"""The length of the noise that is added to a unit row, so that no two are equal."""
AT_A_TIME = 500
TIMED: dict[Task, tuple[str, str]] = {
    "answers": ("task1", "task1-2021"),
    "formulas": ("task2", "task2-2021"),
}
"""By task: the name of its speed, and the topics."""

Rows = dict[str, Vectors]


def main(model: str, posts: int, whole: Path, strategies: Sequence[str]) -> dict[str, Any]:
    """Prints posts per second, rows, bytes, and queries per second by ranking and task."""
    with tempfile.TemporaryDirectory(prefix="mathamr-costs-") as name:
        folder = Path(name)
        with Archive.open(whole) as archive:
            chosen = archive.catalogue.spread(posts)
        first, second, made = (folder / each for each in ("first.index", "slice.index", "made.index"))
        _indexed(chosen[:FIRST], model, first)
        seconds = _indexed(chosen, model, second)
        rows = made_up(second, whole, made)
        with Archive.open(made, model=model) as archive:
            graphs = _bytes(whole / GRAPHS) if archive.has_graphs else 0
        return {
            "one core": len(chosen) / seconds,
            "slice": len(chosen),
            "rows": rows,
            "disk": _bytes(made) + graphs,
            "queries": {each: _queries(made, model, each) for each in strategies},
        }


def _indexed(posts: Sequence[Post], model: str, out: Path) -> float:
    """Returns the processor seconds of all stages of an index of posts, built by one process."""
    path = out.with_suffix(".jsonl")
    path.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    started = _processor()
    build_index([path], out, BuildOptions(model=model, device="cpu"))
    return _processor() - started


def made_up(some: Path, whole: Path, out: Path, seed: int = 0) -> int:
    """Writes an index of the posts and words of `whole` with rows like those of `some`; returns the number of rows."""
    out.mkdir()
    shutil.copy(whole / CATALOGUE, out)
    shutil.copytree(whole / LEXICAL, out / LEXICAL)
    manifest = replace(Manifest.read(some), revision=Manifest.read(whole).revision, inputs=())
    manifest.write(out)
    draw = np.random.default_rng(seed)
    total = 0
    with Archive.open(some) as few, Archive.open(out) as many:
        engine = create_engine(
            out / VECTORS, manifest.model.fields, manifest.engine.name, manifest.engine.options
        )
        for kind in KINDS:
            known = _known(few.engine, kind)
            for payloads in _payloads(many.catalogue, kind) if known else ():
                entries = [
                    Entry(name, _drawn(known[int(draw.integers(len(known)))], draw), payload)
                    for name, payload in payloads.items()
                ]
                total += sum(len(rows) for entry in entries for rows in entry.rows.values())
                engine.upsert(kind, entries)
        engine.flush()
        engine.close()
    return total


def _known(engine: Engine, kind: FieldTarget) -> list[Rows]:
    """Returns the rows of all entries of a kind."""
    found: dict[str, Rows] = {}
    for field in engine.fields:
        if field.of == kind:
            for name, rows in engine[field.name].fetch(list(engine[field.name].ids())).items():
                found.setdefault(name, {})[field.name] = rows
    return list(found.values())


def _payloads(catalogue: Catalogue, kind: FieldTarget) -> Iterator[dict[str, Payload]]:
    """Yields the payloads of all entries of a kind, some at a time."""
    ids = {"posts": catalogue.ids, "formulas": catalogue.formula_ids, "visual": catalogue.visual_keys}[kind]
    for part in batches(list(ids()), AT_A_TIME):
        if kind == "posts":
            yield post_payloads(catalogue, part)
        elif kind == "formulas":
            yield formula_payloads(catalogue, part)
        else:
            yield {visual: Payload(visual=visual) for visual in part}


def _drawn(rows: Rows, draw: np.random.Generator) -> Rows:
    made: Rows = {}
    for name, own in rows.items():
        noise = draw.standard_normal(own.vectors.shape, np.float32) * NOISE / own.vectors.shape[1] ** 0.5
        made[name] = Vectors(own.vectors + noise.astype(np.float32), own.levels, own.references)
    return made


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _queries(index: Path, model: str, strategy: str) -> dict[str, float]:
    """Returns topics per second of one core, 1,000 results deep, by task."""
    rates: dict[str, float] = {}
    topics = data_folder() / "arqmath-mini" / "topics"
    with Index.open(index, device="cpu", model=model) as opened:
        for task in opened.tasks:
            if strategy and strategy not in opened.rankings(task):
                continue
            name, file = TIMED[task]
            asked = list(read_topics(topics / f"{file}.xml"))[: TOPICS + 1]
            retrieve(opened, asked[:1], task, strategy=strategy or None)
            started = _processor()
            retrieve(opened, asked[1:], task, strategy=strategy or None)
            rates[name] = (len(asked) - 1) / (_processor() - started)
    return rates


def _processor() -> float:
    """Returns the processor seconds of this process and its children."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    running = sum(sum(each.cpu_times()[:4]) for each in psutil.Process().children())
    return time.process_time() + ended.ru_utime + ended.ru_stime + running


def costs(model: str, posts: int, whole: Path, strategies: Sequence[str]) -> dict[str, Any]:
    """Runs `main` in a process of its own with one thread."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, "-m", "mathamr_lab.studies.costs", model, str(posts), str(whole), *strategies]
    done = subprocess.run(command, env=os.environ | one, stdout=subprocess.PIPE, check=True, text=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:] or [""])))
