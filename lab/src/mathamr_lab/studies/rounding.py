"""The text encoder in eight bits against 32: are known items found equally well by their questions?

`MATHAMR_BENCH_TOPICS` questions of the known items (default 120; 0: all 704) among their own answers and as many
others as make `MATHAMR_BENCH_POSTS` (default 1,000; with all questions it is all 3,395 answers); one vector per post, by the
text encoder of the model in the box. On a machine with a GPU the 32 bits are computed there; `MATHAMR_BENCH_EXACT=0` leaves them out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.topics import read_topics
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.systems.models import TEXT, box
from mathamr.text.backend import ONNX, load_encoder
from mathamr.text.textvectors import AnyTextEncoder
from mathamr.text.torchfolder import load_text_encoder
from mathamr.text.wording import wording_alone
from mathamr_lab.data import data_folder

TOPICS = int(os.environ.get("MATHAMR_BENCH_TOPICS", "120")) or None
ANSWERS = int(os.environ.get("MATHAMR_BENCH_POSTS", "1000"))
MODEL = "mathamr-2"
DEPTH = 10
EXACT = "32 bits"
WITH_EXACT = os.environ.get("MATHAMR_BENCH_EXACT", "1") != "0"


def run() -> None:
    data = data_folder() / "arqmath-mini"
    qrels = read_qrels(data / "qrels" / "known-items.qrels")
    topics = [topic for topic in read_topics(data / "topics" / "known-items.xml") if qrels.relevant(topic.id)]
    topics = topics[:TOPICS]
    wanted = [qrels.relevant(topic.id) for topic in topics]
    answers = [post for post in read_posts(data / "Posts.xml", Report()) if post.kind == "answer"]
    if TOPICS is not None:
        own = {name for names in wanted for name in names}
        others = islice((post for post in answers if post.id not in own), max(0, ANSWERS - len(own)))
        answers = [post for post in answers if post.id in own] + list(others)
    questions = [topic.post for topic in topics]
    _compare(MODEL, box() / MODEL / TEXT, questions, answers, wanted)


def _compare(
    name: str,
    folder: Path,
    questions: Sequence[Post],
    answers: Sequence[Post],
    wanted: Sequence[frozenset[str]],
) -> None:
    ids = [post.id for post in answers]
    found: dict[str, tuple[FloatArray, FloatArray]] = {}
    encoders: dict[str, AnyTextEncoder] = {EXACT: load_text_encoder(folder, "auto")} if WITH_EXACT else {}
    encoders[ONNX] = load_encoder(folder, "cpu", ONNX)
    for backend, encoder in encoders.items():
        started = time.process_time()
        found[backend] = _vectors(encoder, questions), _vectors(encoder, answers)
        print(f"  {name}, {backend}: {time.process_time() - started:.0f} s of a processor", flush=True)
    rows = {f"both by {backend}": vectors for backend, vectors in found.items()}
    if WITH_EXACT:
        rows[f"questions by {ONNX}, answers in {EXACT}"] = found[ONNX][0], found[EXACT][1]
    for title, (asked, answering) in rows.items():
        print(
            f"  {name}, {title}: MRR@{DEPTH} {_reciprocal_rank(asked @ answering.T, ids, wanted):.4f}"
            f" ({len(asked)} questions, {len(ids):,} answers)"
        )
    first, *others = found
    for backend in others:
        cosines = np.concatenate([(a * b).sum(1) for a, b in zip(found[backend], found[first], strict=True)])
        print(
            f"  {name}, {backend} and {first}: cosine of posts mean {cosines.mean():.5f}, least {cosines.min():.5f}"
        )


def _vectors(encoder: AnyTextEncoder, posts: Sequence[Post]) -> FloatArray:
    """Returns one vector per post: that of its complete text."""
    found = encoder.encode(wording_alone(post)[0] for post in posts)
    return np.stack([vectors.vectors[-1] for vectors in found]).astype(np.float32)


def _reciprocal_rank(scores: FloatArray, ids: Sequence[str], wanted: Sequence[frozenset[str]]) -> float:
    total = 0.0
    for row, names in zip(scores, wanted, strict=True):
        best = np.argsort(-row, kind="stable")[:DEPTH]
        total += next((1 / rank for rank, place in enumerate(best, 1) if ids[place] in names), 0.0)
    return total / len(wanted)
