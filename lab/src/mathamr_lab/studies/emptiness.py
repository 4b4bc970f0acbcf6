"""Is any hit what was asked? Things are asked for with what answers them in the collection and without; fits and measures the confidence.

    MATHAMR_FIT="a.index b.index"       indexes whose queries the weights are fitted on
    MATHAMR_TEST="c.index d.index"      indexes whose queries are only judged, with the weights of the product
    MATHAMR_COUNT=300                   the number of queries of each kind and index

Queries are drawn with a seed: typed formulas (`typedqueries`), titles, parts of sentences, and whole questions of forums. Of every query the
first hit counts: with the right entries in the collection it is right or wrong, without them it is wrong. Indexes to fit on print
the weights of every group; indexes to test on print how often a right first hit stands under "nothing here", how often an absent
thing is declared, and the reliability of the probabilities.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from zlib import crc32

import numpy as np

from mathamr.core.arrays import BoolArray, DoubleArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation import knownitems
from mathamr.evaluation.knownitems import KnownItem
from mathamr.evaluation.table import aligned
from mathamr.index.lexical.terms import words
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Post
from mathamr.search.confidence import Confidence, Features, Group
from mathamr.search.hits import Match
from mathamr.search.query import Query
from mathamr.search.results import MOST_GRADED, RankedResult
from mathamr.search.searcher import Index
from mathamr_lab.studies.typedqueries import draw

SHRINKAGE = 0.05
"""The weight of the squared weights, of features in standard deviations."""
USED: dict[Group, tuple[str, ...]] = {
    "text": ("words", "words_ahead", "similarity", "parts", "parts_ahead"),
    "formula": ("formula", "words_ahead", "similarity", "parts", "parts_ahead"),
    "mixed": ("words", "formula", "words_ahead", "similarity", "parts", "parts_ahead"),
    "question": ("words", "words_ahead", "similarity", "parts", "parts_ahead"),
}
WITHOUT_VECTORS = ("words", "formula", "words_ahead")
BINS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.001)


@dataclass(frozen=True, slots=True)
class Case:
    """A first hit: the group and form of its query, its features, its chance, its label, whether it is right, and whether it could be."""

    group: Group
    form: str
    features: Features
    chance: float
    match: Match
    is_right: bool
    is_present: bool


def questions(index: Index, count: int) -> Iterator[KnownItem]:
    """Draw queries of all kinds from an index; the question itself answers as well."""
    for typed in draw(index, count):
        yield KnownItem(typed.text, frozenset([typed.entry]), f"typed, {typed.form}")
    posts = sorted(index.archive.catalogue.every_post(), key=lambda post: crc32(f"asked:{post.id}".encode()))
    yield from islice(knownitems.titles(posts), count // 2)
    yield from islice(sentences(posts), count // 2)
    for item in islice(knownitems.questions(posts), count // 3):
        yield replace(item, right=item.right | {item.query.id}) if isinstance(item.query, Post) else item


def sentences(posts: Iterable[Post]) -> Iterator[KnownItem]:
    """Ask for posts by eight words in a row of one of their sentences."""
    for post in posts:
        if post.markup == "declaration":
            continue
        for sentence in passage(post).sentences:
            said = sentence.text.split()
            if sentence.field == "body" and len(said) >= 8 and not PLACEHOLDER.search(sentence.text):
                start = crc32(post.id.encode()) % max(1, len(said) - 8)
                text = " ".join(said[start : start + 8])
                if len(words(text)) >= 6 and "$" not in text:
                    yield KnownItem(text, frozenset([post.id]), "sentence")
                    break


def cases(index: Index, count: int) -> Iterator[Case]:
    """Ask every query with what is right in the collection, and without."""
    for asked in questions(index, count):
        try:
            query = (
                Query.of_text(asked.query, macros=index.macros)
                if isinstance(asked.query, str)
                else Query.of_post(asked.query)
            )
            ranked, _ = index.rank(query, depth=MOST_GRADED + len(asked.right))
        except MathAMRError:
            continue
        if isinstance(asked.query, Post):  # a question is not its own answer
            ranked = [each for each in ranked if each.id != asked.query.id]
        without = [each for each in ranked if each.id not in asked.right]
        for found, is_present in ((ranked, True), (without, False)):
            if found and (is_present or "part" not in asked.form):  # a part may well be in other entries
                yield _case(index, query, asked, found, is_present)


def _case(index: Index, query: Query, asked: KnownItem, found: list[RankedResult], is_present: bool) -> Case:
    confidence = Confidence(query, index.archive.lexical.posts, index.archive.manifest.model.name, found)
    first = found[0]
    return Case(
        confidence.group,
        asked.form,
        confidence.features(first),
        confidence.probability(first),
        confidence.matches()[0],
        first.id in asked.right,
        is_present,
    )


def run() -> None:
    count = int(os.environ.get("MATHAMR_COUNT", "300"))
    for setting, report in (("MATHAMR_FIT", _print_weights), ("MATHAMR_TEST", _print_reliability)):
        found: list[Case] = []
        for folder in os.environ.get(setting, "").split():
            with Index.open(folder) as index:
                own = list(cases(index, count))
            print(f"\n{folder}: {len(own)} first hits")
            _print_labels(own)
            found += own
        if found:
            report(found)


def _print_labels(found: Sequence[Case]) -> None:
    rows = [["", "first hits", "right", "right ones under “nothing here”", "absent", "absent ones declared"]]
    for form in ("all", *dict.fromkeys(case.form for case in found)):
        own = [case for case in found if form in ("all", case.form)]
        right = [case.match for case in own if case.is_right]
        absent = [case.match for case in own if not case.is_present]
        rows.append([form, str(len(own)), str(len(right)), _share(right), str(len(absent)), _share(absent)])
    print(aligned(rows), flush=True)


def _share(matches: Sequence[Match]) -> str:
    """Return the share of hits that are called only similar."""
    return f"{sum(match == 'similar' for match in matches) / len(matches):.3f}" if matches else "–"


def _print_reliability(found: Sequence[Case]) -> None:
    rows = [["chance", "first hits", "mean chance", "right"]]
    for low, high in pairwise(BINS):
        own = [case for case in found if low <= case.chance < high]
        if own:
            mean, right = np.mean([case.chance for case in own]), np.mean([case.is_right for case in own])
            rows.append([f"{low:.2f} to {min(high, 1):.2f}", str(len(own)), f"{mean:.3f}", f"{right:.3f}"])
    print(aligned(rows), flush=True)


def _print_weights(found: Sequence[Case]) -> None:
    for group, used in USED.items():
        own = [case for case in found if case.group == group]
        right = np.array([case.is_right for case in own])
        for name, chosen in (
            ("with vectors", used),
            ("by words", tuple(each for each in used if each in WITHOUT_VECTORS)),
        ):
            if not 0 < right.sum() < len(right):
                continue
            rows = np.array([(1.0, *(getattr(case.features, each) for each in chosen)) for case in own])
            weights = fitted(rows, right)
            shown = ", ".join(f"{each}={value:.2f}" for each, value in zip(chosen, weights[1:], strict=True))
            area = _area(_probability(rows, weights), right)
            print(
                f"{group}, {name}: {len(own)} hits, area {area:.3f}; ConfidenceWeights({weights[0]:.2f}, Features({shown}))"
            )


def fitted(rows: DoubleArray, right: BoolArray) -> DoubleArray:
    """Return the weights of a logistic regression by Newton's method; the first column of the rows is 1."""
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
    """Return the probability that a right hit has a higher chance than a wrong one."""
    yes, no = chance[right], chance[~right]
    return (
        float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean()) if len(yes) and len(no) else 0.5
    )
