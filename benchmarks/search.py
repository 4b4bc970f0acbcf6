"""The time of a query: by stage, by strategy, by kind of query, and of the first one.

Searches the index that `MATHAMR_INDEX` names, or one of the bundled sample, which is built with the model in the box.
The peer is bm25s over the words and LaTeX of the same posts, in memory: the cost of lexical search when nothing is read
from disk, parsed or explained. Times are processor times, so that a busy machine does not
change them; stages are wall-clock times. With `MATHAMR_BENCH_REVISION`, only warm queries are measured, by that revision and by the
working tree alternately, over the same index, which both must be able to read.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

import bm25s
import numpy as np

from benchmarks._revision import REVISION, compared
from benchmarks.serve import queries as typed_queries
from mathamr import Index, Query
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines.bm25 import Bm25
from mathamr.evaluation.baselines.candidate import candidates
from mathamr.evaluation.baselines.candidate import query as candidate
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.index.indexing.builder import BuildOptions, build_index
from mathamr.sample import folder
from mathamr.systems.ranking import Task

QUERIES = (
    "Why does $\\sum_{n=1}^\\infty \\frac{1}{n^{%d}}$ converge?",
    "Is the limit of $f_{%d}(x)$ continuous where all the functions are?",
    "eigenvalues of a symmetric matrix of size %d",
    "$\\int_0^{%d} e^{-x^2} dx$ without polar coordinates",
)
HARD_FORMULAS = (
    "|<x,y>| <= |x||y|",
    r"\langle x, y \rangle",
    "x",
    "(a+b)(c+d)(e+f)",
    "x_1+x_2+x_3+x_4+x_5+x_6+x_7",
)
"""Short formulas whose parts are in very many others."""
HOSTILE = ("½", "⅓", "∑", "x²", "?a+", "?a?b", "x^", "|(", "√", "\\frac12", "(a+b)", "x_1^2", "a=", "1+", "x,", "\\sqrt{x}", "∫x", "x!", "n(", "{x}^", "\\binom nk",
           "\\begin{matrix}a&b\\end{matrix}", "\\left(x\\right)", "\\text{a}")  # fmt: skip
"""Parts that are repeated in queries of an attacker, who wants them to take as long as possible."""
LENGTHS = (4_980, 2_000, 600, 100)
"""Characters of such a query; a server takes 5,000."""
FORMULA_QUERIES, FORMULA_POSTS = 200, 2000
"""How many formulas of the index are searched for, and of how many posts."""
_FIRST = """
import time, sys
started = time.perf_counter()
from mathamr import Index
index = Index.open(sys.argv[1])
opened = time.perf_counter() - started
index.search("the limit of $a_n$", strategy=sys.argv[2])
print(opened, time.perf_counter() - started, time.process_time())
"""


_WARM = """
from mathamr import Index
with Index.open(given["index"]) as index:
    index.warm()
    for text in given["queries"][:20]:
        index.search(text)
    started = time.process_time()
    for text in given["queries"][20:]:
        index.search(text)
    print(time.process_time() - started)
"""
WARM = 80


def run() -> None:
    measure = _compare if "MATHAMR_BENCH_REVISION" in os.environ else _measure
    place = os.environ.get("MATHAMR_INDEX")
    if place:
        measure(Path(place))
        return
    with TemporaryDirectory() as temporary:
        build_index([folder() / "Posts.xml"], Path(temporary), BuildOptions(workers=2))
        measure(Path(temporary))


def _compare(path: Path) -> None:
    """Measure the default strategy on new queries, now and by another revision."""
    given = {"index": str(path), "queries": list(islice(typed_queries(), 20 + WARM))}
    now, then = (1000 * seconds / WARM for seconds in compared(_WARM, given))
    print(
        f"warm query of the default strategy, ms of processor time: {then:.1f} by {REVISION}, {now:.1f} now,"
        f" ratio {now / then:.2f}"
    )


def _measure(path: Path) -> None:
    for strategy in ("hybrid", "lexical"):
        ran = subprocess.run(
            [sys.executable, "-c", _FIRST, str(path), strategy], capture_output=True, text=True, check=True
        )
        opened, first, processor = map(float, ran.stdout.split())
        print(
            f"first query of a process, {strategy}: {processor:.2f} s of processor time, "
            f"{first:.2f} s by the clock; open after {opened:.2f} s"
        )
    topics = read_topics(folder() / "topics" / "task1.xml")
    with Index.open(path) as index:
        started = time.process_time()
        index.warm()
        print(f"warm-up: {time.process_time() - started:.2f} s of processor time")
        print(f"{len(index):,} posts; milliseconds of processor time a query, median")
        for name, queries in _queries(topics).items():
            task: Task = "formulas" if name == "formula alone" else "answers"
            spent = {
                strategy: _show(index, name, queries, task, strategy) for strategy in index.rankings(task)
            }
            usual = next(iter(spent))
            print(f"  {name}: {usual} takes {spent[usual] / spent['lexical']:.1f} times as long as lexical")
        _formula_tail(index)
        hostile_tail(index)
        _peer(index, topics)


def _formula_tail(index: Index) -> None:
    """Measure the slowest queries of formulas: what they cost is bounded while candidates are read and aligned."""
    stored = {
        formula.latex
        for post in islice(index.archive.catalogue.every_post(), FORMULA_POSTS)
        for formula in post.formulas
    }
    asked = [*HARD_FORMULAS, *Random(0).sample(sorted(stored), min(FORMULA_QUERIES, len(stored)))]
    fresh, times = Index(index.archive), []
    for latex in asked:
        started = time.process_time()
        try:
            fresh.search(Query.of_formula(latex), "formulas")
        except MathAMRError:
            continue
        times.append(1000 * (time.process_time() - started))
    middle, slow = np.percentile(times, [50, 99])
    print(
        f"{len(times)} formula queries over {index.archive.catalogue.count_formulas():,} formulas: p50 {middle:.0f} ms, "
        f"p99 {slow:.0f} ms, at most {max(times):.0f} ms of processor time; p99 is {slow / middle:.1f} times p50"
    )


def hostile_tail(index: Index) -> None:
    """Measure the queries of an attacker, from their text to their last hit."""
    fresh, times = Index(index.archive), {}
    for part in HOSTILE:
        for length in LENGTHS:
            for text in (f"${(part * length)[:length]}$", (part * length)[:length]):
                started = time.process_time()
                with suppress(MathAMRError):
                    fresh.search(text, "formulas", k=100)
                times[text] = 1000 * (time.process_time() - started)
    middle, slow = np.percentile(list(times.values()), [50, 99])
    worst = max(times, key=lambda text: times[text])
    print(
        f"{len(times)} hostile formula queries over {index.archive.catalogue.count_formulas():,} formulas, 100 hits: p50 {middle:.0f}"
        f" ms, p99 {slow:.0f} ms, at most {times[worst]:.0f} ms of processor time ({worst[:8]}…, {len(worst)} characters)"
    )


def _queries(topics: list[Topic]) -> dict[str, list[Query]]:
    return {
        "text with formula": [
            Query.of_text(text % n) for n in range(2, 6) for text in QUERIES if "$" in text
        ],
        "words": [Query.of_text(text % n) for n in range(2, 10) for text in QUERIES if "$" not in text],
        "formula alone": [
            *(Query.of_formula(f"\\frac{{1}}{{n^{{{n}}}+1}}") for n in range(2, 8)),
            *(
                Query.of_formula(text.partition("$")[2].partition("$")[0] % 3)
                for text in QUERIES
                if "$" in text
            ),
        ],
        "whole question": [Query.of_post(topic.post) for topic in topics],
    }


def _show(index: Index, name: str, queries: list[Query], task: Task, strategy: str) -> float:
    fresh = Index(index.archive)
    fresh.search(Query.of_text("$x$"), task, strategy)
    stages: Counter[str] = Counter()
    times: list[float] = []
    for query in queries:
        started = time.process_time()
        hits = fresh.search(query, task, strategy)
        times.append(1000 * (time.process_time() - started))
        stages.update(hits.seconds)
    spent = ", ".join(
        f"{stage} {1000 * seconds / len(queries):.0f}" for stage, seconds in stages.items() if stage != "load"
    )
    print(f"  {name:<18} {strategy:<8} {median(times):6.1f}   (by the clock, mean: {spent})")
    return median(times)


def _peer(index: Index, topics: list[Topic]) -> None:
    terms = Bm25(()).tokens
    peer = bm25s.BM25()
    peer.index(
        [terms(each) for each in candidates(index.archive.catalogue.every_post(), "answers")],
        show_progress=False,
    )
    asked = [terms(candidate(topic, "answers")) for topic in topics]
    started = time.process_time()
    for tokens in asked:
        np.argpartition(-peer.get_scores(tokens), 10)
    theirs = 1000 * (time.process_time() - started) / len(asked)
    queries = [Query.of_post(topic.post) for topic in topics]
    started = time.process_time()
    for query in queries:
        index.rank(query, "answers", "lexical", 10)
    ours = 1000 * (time.process_time() - started) / len(queries)
    print(
        f"whole questions, ranking alone: lexical {ours:.1f} ms, bm25s in memory {theirs:.1f} ms, "
        f"ratio {ours / theirs:.2f}"
    )
