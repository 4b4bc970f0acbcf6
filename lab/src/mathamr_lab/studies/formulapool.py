"""Formula search on the complete judged pool of ARQMath-1: every formula of a topic's pool is ranked, nothing is retrieved.

Ranks the 45 official topics by all rankings without a network (BM25 over LaTeX n-grams and over tuples of the trees, lexical
terms, the alignment of trees), by the formula systems in the box, and by their fusions, beside a random order and Tangent-S, of
whose stored orders only the mean nDCG' is known. Runs of other systems (TREC columns, items named by visual id) take part
if `MATHAMR_POOL_RUNS` names a folder of `NAME.run` files: each is measured alone and with lexical terms.

Fusions add scores in standard deviations, with equal weights, or with weights chosen by cross-validation: topics are split into five
folds, each is ranked by the weights that are best (Bpref plus MAP') on the other four, for ten splits. Fusions of ranks choose nothing.
Tests are paired by topic.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import product
from math import gcd
from pathlib import Path

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.evaluation.table import aligned, means_table, shown_p
from mathamr.systems.models import load_system
from mathamr_lab.data import data_folder
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulaothers import OTHERS, other_scores
from mathamr_lab.experiments.formulascores import collection_scores, fused, ranked, reciprocal_ranks
from mathamr_lab.experiments.judgedpool import pool_collection
from mathamr_lab.studies.crossvalidation import DEALS, FOLDS, Values, cross_validated

MEASURES = ["nDCG'", "MAP'", "P'@10", "Bpref"]
CHOSEN_BY = ("Bpref", "MAP'")
BASELINE = "lexical"
TANGENT_S = {"Tangent-S, layout trees": 0.810, "Tangent-S, operator trees": 0.799}
"""The mean nDCG' of Tangent-S' stored orders on this pool, from the data's description."""
NODES, MUTUAL, SSEMB = "formula-graph, max", "formula-graph, mutual", "ssemb"
BOX = {
    NODES: ("formula-graph", "max"),
    MUTUAL: ("formula-graph", "mutual max"),
    SSEMB: ("ssemb", "structure"),
}
"""The rankings of the models in the box: the model, and the ranking of its scores."""
WEIGHTS = (0, 1, 2, 4)
"""The possible weights of a part of a fusion; 0 leaves it out."""
FUSIONS = (
    ("lexical", "alignment"),
    ("lexical", NODES),
    ("lexical", MUTUAL),
    ("lexical", SSEMB),
    ("alignment", SSEMB),
    ("alignment", NODES),
    ("lexical", "alignment", SSEMB),
    ("lexical", "alignment", MUTUAL),
    ("lexical", "alignment", NODES),
    ("lexical", "alignment", NODES, SSEMB),
)
HYBRID = ("lexical", "alignment", NODES)
"""The parts of `hybrid`, formula-graph's default ranking."""


def run() -> None:
    collection = pool_collection(data_folder() / "arqmath1-formula-trees")
    legible = sum(each.is_legible for each in collection.written)
    print(
        f"{len(collection.candidates):,} formulas, {legible:,} can be read again; {len(collection.topics)} topics"
    )
    scores = {name: matrix for name in OTHERS if (matrix := other_scores(name, collection)) is not None}
    made = {model: collection_scores(load_system(model), collection) for model, _ in BOX.values()}
    scores |= {name: fused(made[model], ranking) for name, (model, ranking) in BOX.items()}
    others = _given(collection)
    bench = _Bench(collection)
    rows = {name: bench.measured(name, matrix) for name, matrix in (scores | others).items()}
    parts: dict[str, tuple[str, ...]] = {}
    for chosen in (*FUSIONS, *(("lexical", name) for name in others)):
        name, own = " + ".join(f"[{each}]" if "," in each else each for each in chosen), {**scores, **others}
        fusions = {f"{name}, z": bench.weighted(own, chosen, (1.0,) * len(chosen))}
        fusions[f"{name}, ranks"] = reciprocal_ranks([own[each] for each in chosen], collection.ranked_ones())
        for called, matrix in fusions.items():
            rows[called], parts[called] = bench.measured(called, matrix), chosen
        rows[f"{name}, chosen"] = bench.chosen(f"{name}, chosen", own, chosen)
        parts[f"{name}, chosen"] = chosen
    called = "lexical + alignment + 2 [formula-graph, max], z"
    rows[called] = bench.measured(called, bench.weighted(scores, HYBRID, (1.0, 1.0, 2.0)))
    parts[called] = HYBRID
    print(
        f"\n{len(bench.qrels.grades)} topics; † is what the others are tested against (stars: Bonferroni corrected)"
    )
    floor = random_scores(bench.qrels, measures(MEASURES), 0)
    print(means_table(compare(list(rows.values()), BASELINE), [floor]))
    for name, value in TANGENT_S.items():
        print(f"{name:<28} {MEASURES[0]} {value:.3f}")
    _tests(rows, parts)


class _Bench:
    """Weighs and measures matrices of scores on the pool."""

    def __init__(self, collection: FormulaCollection) -> None:
        self._collection = collection
        self.qrels = Qrels(collection.grades).with_relevant()
        place = {name: number for number, name in enumerate(collection.candidates)}
        self._judged = [[place[item] for item in collection.grades[topic]] for topic in collection.topics]

    def measured(self, name: str, matrix: FloatArray) -> Scores:
        """Returns the measures of one ranking."""
        return evaluate(Run.of(name, ranked(self._collection, matrix)), self.qrels, measures(MEASURES))

    def weighted(
        self, scores: Mapping[str, FloatArray], parts: Sequence[str], weights: Sequence[float]
    ) -> FloatArray:
        """Returns the weighted sum of scores, in standard deviations over each topic's judged formulas."""
        found = np.zeros_like(scores[parts[0]])
        for topic, chosen in enumerate(self._judged):
            for name, weight in zip(parts, weights, strict=True):
                own = scores[name][topic, chosen]
                found[topic, chosen] += weight * (own - own.mean()) / max(float(own.std()), 1e-9)
        return found

    def chosen(self, name: str, scores: Mapping[str, FloatArray], parts: Sequence[str]) -> Scores:
        """Returns the measures with weights chosen inside the folds."""
        products = (weights for weights in product(WEIGHTS, repeat=len(parts)) if any(weights))
        # (2, 4) ranks as (1, 2) does.
        grid = [weights for weights in products if gcd(*weights) == 1]
        tried = [self._values(self.weighted(scores, parts, weights)) for weights in grid]
        values, taken = cross_validated(tried, CHOSEN_BY)
        best, count = taken.most_common(1)[0]
        weights = ", ".join(f"{part} {weight:g}" for part, weight in zip(parts, grid[best], strict=True))
        print(f"  {name}: {count} of {FOLDS * DEALS} times {weights}", flush=True)
        return Scores(
            name,
            {
                measure: dict(zip(self.qrels.grades, map(float, found), strict=True))
                for measure, found in values.items()
            },
        )

    def _values(self, matrix: FloatArray) -> Values:
        scores = self.measured("it", matrix)
        return {
            measure: np.array([found[topic] for topic in self.qrels.grades])
            for measure, found in scores.values.items()
        }


def _given(collection: FormulaCollection) -> dict[str, FloatArray]:
    place = os.environ.get("MATHAMR_POOL_RUNS")
    if not place:
        print("runs of other systems are left out: MATHAMR_POOL_RUNS names no folder with runs")
        return {}
    numbers = {name: number for number, name in enumerate(collection.candidates)}
    found: dict[str, FloatArray] = {}
    for path in sorted(Path(place).glob("*.run")):
        made = read_run(path)
        matrix = np.zeros((len(collection.topics), len(numbers)), np.float32)
        for row, topic in zip(matrix, collection.topics, strict=True):
            hits = made.rankings.get(topic, ())
            row[:] = min((hit.score for hit in hits), default=0.0)
            for hit in hits:
                if hit.id in numbers:
                    row[numbers[hit.id]] = hit.score
        found[f"run {path.stem}"] = matrix
    return found


def _tests(scores: Mapping[str, Scores], parts: Mapping[str, Sequence[str]]) -> None:
    """Tests every fusion against each of its parts."""
    rows = [["fusion", "part", *(f"{each}, p" for each in MEASURES)]]
    for name, own in parts.items():
        for part in own:
            comparison = compare([scores[part], scores[name]], part)
            cells = [comparison.difference(name, each) for each in MEASURES]
            rows.append(
                [
                    name,
                    part,
                    *(f"{each.test.difference:+.4f}, {shown_p(each.test.p_value)}" for each in cells if each),
                ]
            )
    print("\nfusions against their parts (paired t-tests by topic, not corrected)")
    print(aligned(rows, left=2))
