"""AMR notation and cache: graphs a second, against the `penman` library on the same graphs in the same run.

Needs the evaluation data (`amr/bio-dev.txt`).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import penman
from penman.models.amr import model

from benchmarks._data import data_folder
from mathamr.amr.cache import GraphCache
from mathamr.amr.graph import Amr

ROUNDS = 5


def run() -> None:
    text = (data_folder() / "amr" / "bio-dev.txt").read_text(encoding="utf-8")
    texts = [block for block in text.split("\n\n") if "(" in block]
    ours, theirs = [Amr.from_penman(t) for t in texts], [penman.decode(t, model=model) for t in texts]
    print(
        f"   {len(texts)} graphs, {sum(len(amr) for amr in ours) / len(ours):.1f} nodes each, best of {ROUNDS} rounds"
    )
    read = _rate(lambda: [Amr.from_penman(t) for t in texts], len(texts))
    _print("read Penman", read, _rate(lambda: [penman.decode(t, model=model) for t in texts], len(texts)))
    write = _rate(lambda: [amr.to_penman() for amr in ours], len(texts))
    _print("write Penman", write, _rate(lambda: [penman.encode(g, model=model) for g in theirs], len(texts)))
    with tempfile.TemporaryDirectory() as folder:
        cache = GraphCache(Path(folder) / "amr.sqlite")
        by_text = dict(zip(texts, ours, strict=True))
        started = time.perf_counter()
        cache.put("benchmark", by_text)
        print(f"   cache, store  {len(texts) / (time.perf_counter() - started):9,.0f} graphs/s")
        print(f"   cache, fetch  {_rate(lambda: cache.get('benchmark', texts), len(texts)):9,.0f} graphs/s")
        cache.close()


def _rate(work: Callable[[], object], count: int) -> float:
    best = min(_seconds(work) for _ in range(ROUNDS))
    return count / best


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _print(what: str, ours: float, theirs: float) -> None:
    print(f"   {what:<13} {ours:9,.0f} graphs/s, penman {theirs:7,.0f} graphs/s, ratio {ours / theirs:.2f}")
