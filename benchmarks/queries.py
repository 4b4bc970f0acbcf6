"""A warm query by kind, and the first one from the shell, beside another revision: processor time, and whether the hits are the same.

Searches the index that `MATHAMR_INDEX` names, by the working tree and, over the same index or the one in `MATHAMR_OLD_INDEX`, by the revision
in `MATHAMR_BENCH_REVISION`, in processes of one thread that take turns. The queries are drawn from the index, always the same: titles as words,
text as questions, formulas, formulas beside two words; the names are a list. Every query is asked once, so that no result is cached.
`MATHAMR_BENCH_KINDS` chooses from the kinds, `MATHAMR_BENCH_ROUNDS` says how often both take turns (3).

Before, and without `MATHAMR_INDEX` only: what filters cost, over generated entries (`benchmarks/_filtered.py`).
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median

from benchmarks._filtered import compare_filters
from benchmarks._revision import REVISION, ROOT, old_sources
from mathamr.core.errors import MathAMRError
from mathamr.index.catalogue.catalogue import CATALOGUE, Catalogue
from mathamr.index.lexical.terms import words
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Post

QUERIES, WARM_UP, COLD = 30, 6, 5
ROUNDS = int(os.environ.get("MATHAMR_BENCH_ROUNDS", "3"))
NAMES = (
    "Cauchy-Schwarz inequality", "dominated convergence theorem", "nowhere dense", "Zorn lemma", "mean value theorem",
    "compact operator", "Taylor series", "geometric series", "prime number theorem", "chinese remainder theorem",
    "Lagrange multipliers", "uniform continuity", "Galois group", "fundamental group", "eigenvalues", "Riemann sum",
    "Gamma function", "binomial theorem", "Fermat little theorem", "chain rule", "characteristic polynomial",
    "Jordan normal form", "Banach space", "conditional expectation", "normal distribution", "generating function",
    "Euler totient function", "Hausdorff space", "Stirling formula", "integration by parts", "L'Hopital rule",
    "pigeonhole principle", "quadratic residue", "Vandermonde determinant", "Markov chain", "bijection",
)  # fmt: skip
_JOB = """
import hashlib, json, sys, time
from mathamr import Index
given = json.load(sys.stdin)
spent, answers = [], []
with Index.open(given["index"]) as index:
    index.warm()
    for text in given["first"]:
        index.search(text)
    for text in given["queries"]:
        started = time.process_time()
        hits = index.search(text)
        spent.append(time.process_time() - started)
        row = hits.to_json()
        answers.append([[hit["id"] for hit in row["hits"]], hashlib.md5(json.dumps({**row, "seconds": 0}).encode()).hexdigest()])
print(json.dumps([spent, answers]))
"""
_FIRST = ["-m", "mathamr", "search"]


def run() -> None:
    place = os.environ.get("MATHAMR_INDEX")
    compare_filters()
    if not place:
        print("  beside another revision: name an index in MATHAMR_INDEX, best one of arqmath-mini")
        return
    drawn = draw_queries(Path(place))
    kinds = os.environ.get("MATHAMR_BENCH_KINDS", " ".join(drawn)).split()
    with old_sources() as old:
        trees = {"before": (old, os.environ.get("MATHAMR_OLD_INDEX", place)), "now": (ROOT / "src", place)}
        for kind in kinds:
            found: dict[str, list[list[float]]] = {name: [] for name in trees}
            answers: dict[str, list[list[str]]] = {}
            for _ in range(ROUNDS):
                for name, (source, index) in trees.items():
                    spent, answers[name] = _measure(source, index, drawn[kind])
                    found[name].append(spent)
            _show(kind, found, answers)
        _compare_first(trees)


def draw_queries(folder: Path) -> dict[str, list[str]]:
    """Draw queries of every kind from the posts of an index, the same each time."""
    random = Random(41)
    with Catalogue(folder / CATALOGUE, read_only=True) as catalogue:
        ids = sorted(catalogue.ids())
        posts = [catalogue.post(each) for each in random.sample(ids, min(len(ids), 40 * QUERIES))]
    asked = [post for post in posts if post.role == "question" and post.title]
    formulas = [(post, each.latex) for post in posts for each in post.formulas if 8 <= len(each.latex) <= 60]
    random.shuffle(formulas)
    count = QUERIES + WARM_UP
    return {
        "name": list(NAMES),
        "words": [" ".join(found[:9]) for post in asked if len(found := _title(post)) > 5][:count],
        "question": [text[:700] for post in asked if len((text := _text(post)).split()) > 30][:count],
        "formula": [f"${latex}$" for _, latex in formulas][:count],
        "mixed": [
            f"{' '.join(found[3:5])} ${latex}$"
            for post, latex in formulas
            if len(found := _content(post)) > 5
        ][-count:],
    }


def _title(post: Post) -> list[str]:
    """Return the words of a title without its formulas."""
    found = (sentence.text for sentence in passage(post).sentences if sentence.field == "title")
    return words(PLACEHOLDER.sub(" ", " ".join(found)))


def _text(post: Post) -> str:
    """Return the sentences of a body with their formulas between dollar signs."""
    latex = {formula.id: f"${formula.latex}$" for formula in post.formulas}
    found = []
    for sentence in passage(post).sentences[1:]:
        text = sentence.text
        for place in sentence.placeholders:
            text = text.replace(place.name, latex.get(place.formula, ""), 1)
        found.append(text)
    return " ".join(found)


def _content(post: Post) -> list[str]:
    text = " ".join(sentence.text for sentence in passage(post).sentences)
    return [word for word in words(PLACEHOLDER.sub(" ", text)) if len(word) > 4]


def _environment(source: Path) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _measure(source: Path, index: str, queries: Sequence[str]) -> tuple[list[float], list[list[str]]]:
    given = {"index": index, "first": queries[:WARM_UP], "queries": queries[WARM_UP:]}
    done = subprocess.run(
        [sys.executable, "-c", _JOB], input=json.dumps(given), env=_environment(source), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise MathAMRError(f"the job failed with the sources in {source}:\n{done.stderr[-2000:]}")
    spent, answers = json.loads(done.stdout)
    return spent, answers


def _show(kind: str, found: Mapping[str, list[list[float]]], answers: Mapping[str, list[list[str]]]) -> None:
    """Print the least time of every query over the rounds, as a mean over the queries and as their median."""
    least = {name: [1e3 * min(each) for each in zip(*rounds, strict=True)] for name, rounds in found.items()}
    before, now = (sum(times) / len(times) for times in least.values())
    ids, equal = (sum(a[part] == b[part] for a, b in zip(*answers.values(), strict=True)) for part in (0, 1))
    print(
        f"  {kind:<9} {before:6.1f} → {now:6.1f} ms of a processor, ratio {now / before:.2f}"
        f" (median {median(least['before']):.1f} → {median(least['now']):.1f});"
        f" the same ids for {ids}, the same answer for {equal} of {len(answers['now'])}",
        flush=True,
    )


def _compare_first(trees: Mapping[str, tuple[Path, str]]) -> None:
    spent: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(COLD + 1):
        for name, (source, index) in trees.items():
            earlier = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, *_FIRST, index, "why is $e$ irrational?"]
            subprocess.run(command, env=_environment(source), stdout=subprocess.DEVNULL, check=True)
            later = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent[name].append(later.ru_utime + later.ru_stime - earlier.ru_utime - earlier.ru_stime)
    before, now = (median(times[1:]) for times in spent.values())
    print(
        f"  first query from the shell, against {REVISION}: {before:.2f} → {now:.2f} s of a processor, ratio {now / before:.2f}"
    )
