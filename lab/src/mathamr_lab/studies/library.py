"""The library: Mathlib's declarations as they are read, and its maps of theorem names as queries for them.

Needs `mathlib/` of the evaluation data: the sources and the four maps, on which nothing is trained. `MATHAMR_MATHLIB` names a
folder with the unpacked sources. `MATHAMR_OTHERS` is the number of declarations, besides those that the maps name, among
which these are searched (default 0: only the reader is measured; `all` takes hours on two cores, since every declaration
is encoded). `MATHAMR_MODEL` names the model.
"""

from __future__ import annotations

import os
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic
from mathamr.evaluation.topicsearch import retrieve
from mathamr.index.build.builder import BuildOptions, build_index
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.searcher import Index
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import mean_and_error
from mathamr_lab.systems.text.mathlib import queries

MEASURES = ["recall@1", "recall@10", "nDCG@10"]
STRATEGIES = ("lexical", "single", "maxsim", "hybrid")


def run() -> None:
    folder = data_folder() / "mathlib"
    with tempfile.TemporaryDirectory() as temporary:
        sources = os.environ.get("MATHAMR_MATHLIB")
        if sources is None:
            with tarfile.open(folder / "Mathlib.tar.xz") as archive:
                archive.extractall(temporary, filter="data")
        asked = [(title, names) for _, title, names in queries(folder)]
        wanted = {name for _, names in asked for name in names}
        others = os.environ.get("MATHAMR_OTHERS", "0")
        kept = _read(Path(sources or temporary), wanted, others)
        if others != "0":
            _search(kept, asked, Path(temporary))


def _read(sources: Path, wanted: set[str], others: str) -> list[Post]:
    """Reads all declarations, prints how many there are, and returns those to search among."""
    words, documented = Counter[str](), Counter[str]()
    found: set[str] = set()
    kept: list[Post] = []
    count, started, busy = 0, time.perf_counter(), time.process_time()
    for post in read_posts(sources, Report(), "lean"):
        if post.markup != "declaration":
            continue
        words[post.tags[0]] += 1
        documented[post.tags[0]] += "undocumented" not in post.tags
        count += 1
        named = wanted.intersection((post.title, *post.aliases))
        found |= named
        if others == "all" or named or zlib.crc32(post.id.encode()) / 2**32 < float(others) / 260_000:
            kept.append(post)
    print(
        f"{count:,} declarations in {time.perf_counter() - started:.0f} s,"
        f" {time.process_time() - busy:.0f} s of processor time; {documented.total():,} documented"
    )
    print(
        aligned(
            [
                ["", "all", "documented"],
                *([word, f"{n:,}", f"{documented[word]:,}"] for word, n in words.most_common()),
            ]
        )
    )
    lacking = sorted(wanted - found)
    print(
        f"{len(found):,} of {len(wanted):,} names of the maps are found ({len(found) / len(wanted):.1%}); not: {', '.join(lacking)}"
    )
    return kept


def _search(posts: list[Post], asked: list[tuple[str, tuple[str, ...]]], folder: Path) -> None:
    places = {name: post.id for post in posts for name in (*post.aliases, post.title)}
    topics, grades = [], {}
    for number, (title, names) in enumerate(asked):
        relevant = {places[name]: 3 for name in names if name in places}
        if relevant:
            formulas = formulas_of(str(number), "", title, "text")
            topics.append(
                Topic(str(number), Post(str(number), "question", title, markup="text", formulas=formulas))
            )
            grades[str(number)] = relevant
    model = os.environ.get("MATHAMR_MODEL", "mathamr-3")
    print(f"{len(topics):,} names among {len(posts):,} declarations; {model}")
    source = folder / "declarations.jsonl"
    source.write_text("".join(post.to_json() + "\n" for post in posts), encoding="utf-8")
    build_index([source], folder / "index", BuildOptions(model=model, engine="flat"))
    runs: dict[str, Run] = {}
    with Index.open(folder / "index") as index:
        for strategy in STRATEGIES:
            runs[strategy] = retrieve(index, topics, "answers", strategy=strategy).run()
    scores = {name: evaluate(found, Qrels(grades), measures(MEASURES)) for name, found in runs.items()}
    rows = [[name, *(mean_and_error(found, each) for each in MEASURES)] for name, found in scores.items()]
    print(aligned([["", *MEASURES], *rows]), flush=True)
