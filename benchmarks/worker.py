"""The processor time per post, in ms, of a worker that builds graphs and vectors for an index.

`MATHAMR_BENCH_POSTS` posts of arqmath-mini (default 150; short and long ones as in the collection), in portions as in a build, the model in
the box, text by ONNX Runtime. The first portion is not counted, because parser and model are loaded with it.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from mathamr.amr import document
from mathamr.core.garbage import collect_rarely
from mathamr.graphs import corpus, maker
from mathamr.graphs.store import StoredPost
from mathamr.graphs.tensor import GraphTensor
from mathamr.index.indexing import encoding
from mathamr.index.indexing.encoding import EncodingWork, portions
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus import numpynetwork
from mathamr.systems.mathamrplus.numpynetwork import NumpyNetwork
from mathamr.systems.mathamrplus.refinement import Refinement
from mathamr.systems.models import model_folder
from mathamr.text import wording
from mathamr.text.onnxencoder import OnnxTextEncoder
from mathamr.text.wordpieces import WordPieces
from mathamr_lab.data import data_folder

POSTS = int(os.environ.get("MATHAMR_BENCH_POSTS", "150"))
PARTS: tuple[tuple[str, tuple[tuple[Any, str], ...]], ...] = (
    ("text encoder", ((OnnxTextEncoder, "encode_pieces"),)),
    ("AMR", ((document, "parse_each"), (document, "_document"))),
    ("graph network", ((NumpyNetwork, "__call__"),)),
    ("formulas", ((maker, "trees_of"),)),
    ("graphs written", ((corpus.notation, "write_and_read"), (StoredPost, "packed"), (corpus, "_row"))),
    ("tensors", ((encoding, "made_tensor"), (GraphTensor, "to_bytes"))),
    (
        "sentences, wordings, pieces",
        ((maker, "passage"), (wording, "wording"), (WordPieces, "cut"), (encoding, "stored_passage")),
    ),
)
"""The reported parts and their functions; a part's time excludes calls that belong to other parts."""


class Clock:
    """Processor time by part, without nested calls of other parts."""

    def __init__(self) -> None:
        self.spent = Counter[str]()
        self._inner: list[float] = []

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its time is added to a part."""

        def call(*values: Any, **named: Any) -> Any:
            started = process_time()
            self._inner.append(0.0)
            try:
                return function(*values, **named)
            finally:
                spent = process_time() - started
                self.spent[part] += spent - self._inner.pop()
                if self._inner:
                    self._inner[-1] += spent

        return call


def run() -> None:
    every = list(read_posts(data_folder() / "arqmath-mini" / "Posts.xml", Report()))
    every.sort(key=lambda post: (len(post.body), post.id))
    posts = every[:: max(1, len(every) // POSTS)][:POSTS]
    random.Random(5).shuffle(posts)
    collect_rarely()
    work = EncodingWork("", str(model_folder(None)), "builtin", None, "cpu")
    first, *others = portions(posts)
    work(["new", *first])
    clock, kept = Clock(), []
    for part, functions in PARTS:
        for owner, name in functions:
            kept.append((owner, name, vars(owner)[name]))
            found = clock.timed(part, getattr(owner, name))
            setattr(owner, name, staticmethod(found) if isinstance(kept[-1][2], classmethod) else found)
    seen = Counter[str]()
    kept.append((numpynetwork, "refined", numpynetwork.refined))
    numpynetwork.refined = _counting(numpynetwork.refined, seen)
    try:
        started = process_time()
        for portion in others:
            json.dumps(work(["new", *portion]))
        total = process_time() - started
    finally:
        for owner, name, function in kept:
            setattr(owner, name, function)
    count = sum(map(len, others))
    rows = [*clock.spent.most_common(), ("all else", total - clock.spent.total())]
    print(f"  {count:,} posts, {len(others)} portions, ms a post: {1e3 * total / count:.1f}")
    counts = ", ".join(f"{what} {number / count:.0f}" for what, number in seen.items())
    print(f"    graph network, a post: {counts}")
    print("    " + ", ".join(f"{part} {1e3 * spent / count:.1f}" for part, spent in rows))


def _counting(refine: Callable[..., Refinement], seen: Counter[str]) -> Callable[..., Refinement]:
    """Wrap `refined` so that it counts the nodes of graphs and what each layer computes of them."""

    def call(stack: GraphStack, *values: int) -> Refinement:
        found = refine(stack, *values)
        groups = np.unique(stack.relations.astype(np.int64) * len(stack.node_ids) + stack.targets)
        seen.update({"nodes": len(stack.node_ids), "groups of edges": len(groups)})
        for number, step in enumerate(found.steps, start=1):
            seen[f"nodes of layer {number}"] += len(step.own)
            seen[f"its groups ({number})"] += sum(len(part.relations) for part in step.parts)
        return found

    return call
