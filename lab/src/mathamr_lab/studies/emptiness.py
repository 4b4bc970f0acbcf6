"""Is any hit what was asked? Questions are asked with their answers in the collection and without; fits and measures the confidence.

    MATHAMR_ASKED="arqmath.index:known-items.xml:known-items.qrels"    an index, topics, and the answers of each
    MATHAMR_NAMES=encyclopedia.index            an index of texts of an encyclopedia without their names; `mathamr_data` has the names
    MATHAMR_EVERY=10                            only a tenth of the questions; of names those that no text encoder was trained on

One of the two indexes is enough; `python -m mathamr_lab.studies.emptiness OUT.jsonl` writes the texts for the second, to be indexed.

Of every question the first hit counts: with the answers in the collection it is right or wrong, without them it is wrong. The weights
are fitted in five folds by the hash of the question's id, so that the curve is of questions that they were not fitted on.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from zlib import crc32

import numpy as np

from mathamr.core.arrays import BoolArray, DoubleArray
from mathamr.evaluation.table import aligned
from mathamr.index.engines.entry import Filter
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.search.confidence import BACKGROUND, Confidence, Features
from mathamr.search.hits import Match
from mathamr.search.query import Query, QueryError
from mathamr.search.searcher import Index
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import environment, read_topic_files
from mathamr_lab.systems.text.materials import encyclopedia, entry_post, names_of

FOLDS = 5
STEPS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SHRINKAGE = 0.05
"""The weight of the squared weights, of features in standard deviations."""
MODELS = {"with vectors": range(4), "by words": (3, 4)}
"""The features that each model uses, by their place."""


@dataclass(frozen=True, slots=True)
class Case:
    """A first hit: the fold of its question, its features, whether it is right, and what the product calls it."""

    fold: int
    features: Features
    right: bool
    match: Match


def run() -> None:
    every = int(os.environ.get("MATHAMR_EVERY", "1"))
    names = os.environ.get("MATHAMR_NAMES")
    if asked := os.environ.get("MATHAMR_ASKED") if names else environment("MATHAMR_ASKED"):
        index, topics, qrels = asked.split(":")
        _report("whole questions", list(_questions(index, Path(topics), Path(qrels), every)))
    if names:
        _report("names", list(_names(names, every)))


def _questions(folder: str, topics: Path, qrels: Path, every: int) -> Iterator[Case]:
    """Known items: questions whose own answers are the right ones."""
    asked, judged = read_topic_files([(topics, qrels)])
    with Index.open(folder) as index:
        for topic in asked[::every]:
            right = set(judged.grades[topic.id])
            yield from _asked(index, Query.of_post(topic.post), right, topic.id, Filter(kinds=("answer",)))


def _names(folder: str, every: int) -> Iterator[Case]:
    """Names and synonyms of entries, which are indexed by their texts alone."""
    with Index.open(folder) as index:
        for row in encyclopedia(data_folder() / "planetmath" / "entries.jsonl.gz"):
            if crc32(str(row["id"]).encode()) % every or str(row["id"]) not in index.archive.catalogue:
                continue
            for name in names_of(row)[:2]:
                post = Post(
                    "query",
                    "question",
                    name,
                    markup="latex",
                    formulas=formulas_of("query", "", name, "latex"),
                )
                try:
                    query = Query.of_post(post)
                except QueryError:
                    continue
                yield from _asked(index, query, {str(row["id"])}, str(row["id"]), None)


def _asked(index: Index, query: Query, right: set[str], name: str, where: Filter | None) -> Iterator[Case]:
    """The first hit with the right posts in the collection, and the first without them."""
    fold = crc32(name.encode()) // 1000 % FOLDS
    ranked, _ = index.rank(query, depth=BACKGROUND.stop + len(right), where=where)
    without = [each for each in ranked if each.id not in right]
    for found in (ranked, without):
        if found:
            confidence = Confidence(
                query, index.archive.lexical.posts, index.archive.manifest.model.name, found
            )
            post, evidence = index.archive.catalogue.post(found[0].id), found[0].evidence
            yield Case(
                fold,
                confidence.features(post, evidence),
                found[0].id in right,
                confidence.match(post, evidence),
            )


def _report(name: str, cases: Sequence[Case]) -> None:
    right = np.array([case.right for case in cases])
    folds = np.array([case.fold for case in cases])
    every = np.array([(1.0, *case.features) for case in cases])
    print(f"\n{name}: {len(cases)} first hits, {right.mean():.3f} of them right")
    for state in (True, False):
        called = Counter(case.match for case in cases if case.right is state)
        shares = ", ".join(f"{each} {called[each] / called.total():.3f}" for each in get_args(Match))
        print(f"{'right' if state else 'wrong'} ones are called: {shares}")
    for model, used in MODELS.items():
        columns = [0, *(1 + place for place in used)]
        rows = every[:, columns]
        chance = np.zeros(len(cases))
        for fold in range(FOLDS):
            held = folds == fold
            chance[held] = _probability(rows[held], fitted(rows[~held], right[~held]))
        weights = dict(
            zip(("intercept", *(Features._fields[place] for place in used)), fitted(rows, right), strict=True)
        )
        print(
            f"{model}: area {_area(chance, right):.3f}; "
            + ", ".join(f"{each} {value:.2f}" for each, value in weights.items())
        )
        table = [["from", "wrongly shown", "wrongly hidden"]]
        for step in STEPS:
            shown = chance >= step
            table.append([f"{step:.2f}", f"{shown[~right].mean():.3f}", f"{1 - shown[right].mean():.3f}"])
        print(aligned(table), flush=True)


def fitted(rows: DoubleArray, right: BoolArray) -> DoubleArray:
    """The weights of a logistic regression by Newton's method; the first column of the rows is 1."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    mean[0], spread[0] = 0.0, 1.0
    scaled = (rows - mean) / spread
    shrinkage = np.full(rows.shape[1], SHRINKAGE)
    shrinkage[0] = 1e-9
    weights = np.zeros(rows.shape[1])
    for _ in range(60):
        chance = _probability(scaled, weights)
        gradient = scaled.T @ (right - chance) - shrinkage * weights
        curvature = (scaled.T * (chance * (1 - chance))) @ scaled + np.diag(shrinkage)
        weights = weights + np.linalg.solve(curvature, gradient)
    found = weights / spread
    found[0] -= (found[1:] * mean[1:]).sum()
    return np.asarray(found)


def _probability(rows: DoubleArray, weights: DoubleArray) -> DoubleArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30))))


def _area(chance: DoubleArray, right: BoolArray) -> float:
    """The probability that a right hit has a higher chance than a wrong one."""
    yes, no = chance[right], chance[~right]
    return (
        float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean()) if len(yes) and len(no) else 0.5
    )


def write_texts(path: Path) -> int:
    """Writes the texts of a fifth of the encyclopedia, one half of them those whose names no text encoder was trained on; returns their number."""
    rows = encyclopedia(data_folder() / "planetmath" / "entries.jsonl.gz")
    lines = [entry_post(row).to_json() for row in rows if crc32(str(row["id"]).encode()) % 5 == 0]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m mathamr_lab.studies.emptiness OUT.jsonl")
    print(f"{write_texts(Path(sys.argv[1]))} texts in {sys.argv[1]}", file=sys.stderr)
