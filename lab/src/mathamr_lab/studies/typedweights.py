"""Weights of words, formulas, one vector and MaxSim for typed formulas, chosen by nested cross-validation over all indexes together.

`MATHAMR_TYPED` names indexes, separated by spaces, `MATHAMR_COUNT` the number of queries of each (400). Queries are those of the study `typed`; those that are
held back are only reported. Every index counts alike. Five folds: each is ranked with the weights that are best on the other four.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.evaluation.knownitems import KnownItem
from mathamr.evaluation.table import aligned
from mathamr.evaluation.tuning import reciprocal_ranks
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import DOCUMENT, PARTS
from mathamr.systems.ranking import FORMULA_SEARCH, Lexical, MaxSim, Nearest, Ranking
from mathamr_lab.data import environment
from mathamr_lab.studies.typed import WITH_WORDS
from mathamr_lab.studies.typedqueries import draw

COMPONENTS: dict[str, Ranking] = {
    "lexical": Lexical(),
    "formula": FORMULA_SEARCH,
    "single": Nearest(DOCUMENT),
    "maxsim": MaxSim(PARTS),
}
FOLDS = 5
Weights = tuple[float, ...]
GRID: tuple[Weights, ...] = tuple(
    (1.0, *others)
    for others in product((0.0, 1.0, 2.0, 3.0, 4.0, 6.0), (0.0, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 0.25, 0.5, 1.0, 2.0, 4.0))
)  # fmt: skip
SHOWN: dict[str, Weights] = {
    "words alone": (1.0, 0.0, 0.0, 0.0),
    "formulas alone": (0.0, 1.0, 0.0, 0.0),
    "before, a formula": (1.0, 0.0, 0.5, 4.0),
    "before, with words": (1.0, 0.0, 4.0, 4.0),
    "in use, a formula": (1.0, 8.0, 0.0, 0.5),
    "in use, with words": (1.0, 4.0, 0.5, 1.0),
}


def nested(
    values: Mapping[str, DoubleArray], folds: Mapping[str, DoubleArray]
) -> tuple[dict[str, float], list[int]]:
    """Return the mean of every index with weights that were chosen on other queries, and the places of those weights."""
    chosen = [
        int(np.mean([own[folds[name] != fold].mean(0) for name, own in values.items()], axis=0).argmax())
        for fold in range(FOLDS)
    ]
    means = {
        name: float(np.mean([own[place, chosen[int(fold)]] for place, fold in enumerate(folds[name])]))
        for name, own in values.items()
    }
    return means, chosen


def run() -> None:
    count = int(os.environ.get("MATHAMR_COUNT", "400"))
    candidates = [*SHOWN.values(), *GRID]
    grid = np.array(candidates)
    rows: dict[tuple[str, str, bool], list[DoubleArray]] = defaultdict(list)
    folds: dict[tuple[str, str], list[int]] = defaultdict(list)
    for folder in environment("MATHAMR_TYPED").split():
        with Index.open(folder) as index:
            for query in draw(index, count):
                group = "with words" if query.form in WITH_WORDS else "a formula"
                item = KnownItem(query.text, frozenset([query.entry]), query.form)
                ranks = reciprocal_ranks(index, list(COMPONENTS.values()), query.text, item, grid)
                rows[group, Path(folder).stem, query.held].append(ranks)
                if not query.held:
                    folds[group, Path(folder).stem].append(crc32(f"fold:{query.entry}".encode()) % FOLDS)
    for group in ("a formula", "with words"):
        used = {name: np.array(own) for (kind, name, held), own in rows.items() if kind == group and not held}
        held = {
            name: np.array(own) for (kind, name, is_held), own in rows.items() if kind == group and is_held
        }
        means, chosen = nested(used, {name: np.array(folds[group, name]) for name in used})
        best = int(np.mean([own.mean(0) for own in used.values()], axis=0).argmax())
        table = [[f"{group}, MRR@10", *used, *(f"{name}, held back" for name in held)]]
        for label, place in (
            *((label, candidates.index(each)) for label, each in SHOWN.items()),
            ("best", best),
        ):
            cells = [f"{own[:, place].mean():.3f}" for own in (*used.values(), *held.values())]
            table.append([f"{label}, {_said(candidates[place])}", *cells])
        table.append(["nested", *(f"{mean:.3f}" for mean in means.values()), *("" for _ in held)])
        print(aligned(table))
        print("chosen in the folds:", "; ".join(_said(candidates[place]) for place in chosen), flush=True)


def _said(weights: Weights) -> str:
    return " : ".join(f"{weight:g}" for weight in weights)
