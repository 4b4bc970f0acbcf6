"""AMR notation and cache: graphs per second, against the `penman` library on the same graphs in the same run.

Needs the evaluation data (`amr/bio-dev.txt`).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import penman
from penman.models.amr import model

from mathamr.amr.cache import GraphCache
from mathamr.amr.graph import Amr
from mathamr_lab.data import data_folder

ROUNDS = 5


def run() -> None:
    text = (data_folder() / "amr" / "bio-dev.txt").read_text(encoding="utf-8")
    texts = [block for block in text.split("\n\n") if "(" in block]
    ours, theirs = [Amr.from_penman(t) for t in texts], [penman.decode(t, model=model) for t in texts]
    print(
        f"   {len(texts)} graphs, {sum(len(amr) for amr in ours) / len(ours):.1f} nodes each, best of {ROUNDS} rounds"
    )
    _compare(
        "read Penman",
        lambda: [Amr.from_penman(t) for t in texts],
        lambda: [penman.decode(t, model=model) for t in texts],
        len(texts),
    )
    _compare(
        "write Penman",
        lambda: [amr.to_penman() for amr in ours],
        lambda: [penman.encode(graph, model=model) for graph in theirs],
        len(texts),
    )
    with tempfile.TemporaryDirectory() as folder:
        cache = GraphCache(Path(folder) / "amr.sqlite")
        by_text = dict(zip(texts, ours, strict=True))
        started = time.perf_counter()
        cache.put("benchmark", by_text)
        print(f"   cache, store  {len(texts) / (time.perf_counter() - started):9,.0f} graphs/s")
        fetch = min(_seconds(lambda: cache.get("benchmark", texts)) for _ in range(ROUNDS))
        print(f"   cache, fetch  {len(texts) / fetch:9,.0f} graphs/s")
        cache.close()


def _compare(what: str, ours: Callable[[], object], theirs: Callable[[], object], count: int) -> None:
    """Return the best of several alternating rounds, so that other work on the machine affects both."""
    pairs = [(_seconds(ours), _seconds(theirs)) for _ in range(ROUNDS)]
    our, their = (count / min(times) for times in zip(*pairs, strict=True))
    print(f"   {what:<13} {our:9,.0f} graphs/s, penman {their:7,.0f} graphs/s, ratio {our / their:.2f}")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
