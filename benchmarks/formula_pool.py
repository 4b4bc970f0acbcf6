"""Formula search on the complete judged pool of ARQMath-1: every formula of a topic's pool is ranked, nothing is retrieved.

Rankings of the 45 official topics by lexical terms, by the alignment of trees, by their fusions, beside a random order, BM25
over LaTeX n-grams and over tuples of the trees (bm25s), and Tangent-S, of whose stored orders only the mean nDCG' is known.
Runs of other systems (TREC columns, items named by visual id) take part where `MATHAMR_POOL_RUNS` names a folder of
`NAME.run` files: each is measured alone, with lexical terms, with aligned trees (by ranks alone, as SSEmb's paper fuses),
with both, and all together.

Nothing is chosen here: fusions have equal weights, scores in standard deviations. Tests are paired by topic.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks._data import data_folder
from mathamr.evaluation.baselines.bm25 import Bm25, Bm25OfLatex
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.fusedruns import fuse_runs
from mathamr.evaluation.measures import measures
from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.evaluation.table import aligned, means_table, p
from mathamr.experiments.judgedpool import Pool, PoolFormula
from mathamr.formulas.alignment import similarity
from mathamr.formulas.parse import READINGS
from mathamr.formulas.tree import Tree
from mathamr.formulas.tuples import tuples
from mathamr.index.lexical.bags import bag_of
from mathamr.index.lexical.lexicalindex import LexicalIndex

MEASURES = ["nDCG'", "MAP'", "P'@10", "Bpref"]
BASELINE = "lexical"
TANGENT_S = {"Tangent-S, layout trees": 0.810, "Tangent-S, operator trees": 0.799}
"""The mean nDCG' of Tangent-S' stored orders on this pool, as the data's description has them."""
FUSIONS = ("mean", "rrf", "max", "f1")
_PARTS = ("lexical", "alignment")


def run() -> None:
    pool = Pool.read(data_folder() / "arqmath1-formula-trees")
    legible = sum(formula.is_legible for formula in pool.formulas.values())
    print(
        f"{len(pool.formulas):,} formulas, of which {legible:,} can be read anew; {len(pool.official)} topics"
    )
    topics = [topic for topic in pool.grades if topic in pool.official]
    runs = _baselines(pool, topics) | _lexical(pool, topics) | {"alignment": _aligned(pool, topics)}
    runs |= _fused({name: runs[name] for name in _PARTS})
    runs |= _others(runs)
    qrels = pool.qrels(pool.official)
    scores = {name: evaluate(made, qrels, measures(MEASURES)) for name, made in runs.items()}
    comparison = compare(list(scores.values()), BASELINE)
    floor = random_scores(qrels, measures(MEASURES), 0)
    print(
        f"\n{len(qrels.grades)} topics; † is what the others are tested against (stars: Bonferroni corrected)"
    )
    print(means_table(comparison, [floor]))
    for name, value in TANGENT_S.items():
        print(f"{name:<28} {MEASURES[0]} {value:.3f}")
    _tests(scores)


def _baselines(pool: Pool, topics: Sequence[str]) -> dict[str, Run]:
    return {
        "BM25, LaTeX n-grams": _bm25("BM25, LaTeX n-grams", Bm25OfLatex, pool, topics, _latex),
        "BM25, layout tuples": _bm25("BM25, layout tuples", _Bm25OfTuples, pool, topics, _tuples_of(1)),
        "BM25, operator tuples": _bm25("BM25, operator tuples", _Bm25OfTuples, pool, topics, _tuples_of(0)),
    }


class _Bm25OfTuples(Bm25):
    """BM25 over whatever tokens a candidate's text lists, a line each."""

    def tokens(self, candidate: Candidate) -> list[str]:
        """The lines."""
        return candidate.text.split("\n")


def _latex(name: str, formula: PoolFormula) -> Candidate:
    return Candidate(name, "", (formula.latex,), "")


def _tuples_of(view: int) -> Callable[[str, PoolFormula], Candidate]:
    """Symbols, and pairs of symbols with the path between them, wherever they stand; of one of the two trees."""

    def made(name: str, formula: PoolFormula) -> Candidate:
        tree: Tree | None = formula.trees[view]
        if tree is None:
            return Candidate(name, "", (), "")
        pairs = (f"{each.ancestor} {each.path} {each.descendant}" for each in tuples(tree, 2))
        return Candidate(name, "\n".join([*tree.labels, *pairs]), (), "")

    return made


def _bm25(
    name: str,
    kind: type[Bm25],
    pool: Pool,
    topics: Sequence[str],
    made: Callable[[str, PoolFormula], Candidate],
) -> Run:
    ranked = kind([made(*each) for each in pool.formulas.items()]).rank(
        [made(topic, pool.queries[topic]) for topic in topics], len(pool.formulas)
    )
    return _whole(name, pool, {topic: dict(hits) for topic, hits in zip(topics, ranked, strict=True)})


def _lexical(pool: Pool, topics: Sequence[str]) -> dict[str, Run]:
    """Our own terms, read both ways; `lexical` is the reading that an index has."""
    names = {"mathematician": BASELINE, "published": "lexical, published reading"}
    return {names[reading]: _of_terms(names[reading], reading, pool, topics) for reading in READINGS}


def _of_terms(name: str, reading: str, pool: Pool, topics: Sequence[str]) -> Run:
    with tempfile.TemporaryDirectory() as folder, LexicalIndex.open(Path(folder)) as index:
        index.formulas.update_bags(
            (each, bag_of(formula.terms(reading))) for each, formula in pool.formulas.items()
        )
        return _whole(
            name,
            pool,
            {
                topic: dict(index.formulas.score(pool.queries[topic].terms(reading), pool.grades[topic]))
                for topic in topics
            },
        )


def _aligned(pool: Pool, topics: Sequence[str]) -> Run:
    started = time.process_time()
    scores = {
        topic: {
            each: similarity(pool.queries[topic].trees, pool.formulas[each].trees)
            for each in pool.grades[topic]
        }
        for topic in topics
    }
    seconds, count = time.process_time() - started, sum(map(len, scores.values()))
    print(f"{count:,} pairs of formulas aligned, {1e6 * seconds / count:.0f} µs each")
    return _whole("alignment", pool, scores)


def _whole(name: str, pool: Pool, scores: Mapping[str, Mapping[str, float]]) -> Run:
    """A run that has every judged formula of a topic: what a system gave nothing comes last."""
    return Run.of(
        name,
        {
            topic: [(each, found.get(each, 0.0)) for each in pool.grades[topic]]
            for topic, found in scores.items()
        },
    )


def _fused(parts: Mapping[str, Run], fusions: Iterable[str] = FUSIONS) -> dict[str, Run]:
    found: dict[str, Run] = {}
    for fusion in fusions:
        name = f"{' + '.join(parts)}, {fusion}"
        normalisation = None if fusion == "rrf" else "z"
        found[name] = fuse_runs(list(parts.values()), fusion, normalisation=normalisation, name=name)
    return found


def _others(ours: Mapping[str, Run]) -> dict[str, Run]:
    place = os.environ.get("MATHAMR_POOL_RUNS")
    if not place:
        print("other systems are left out: MATHAMR_POOL_RUNS names no folder with runs")
        return {}
    given = {path.stem: read_run(path) for path in sorted(Path(place).glob("*.run"))}
    found = dict(given)
    parts = {name: ours[name] for name in _PARTS}
    for name, other in given.items():
        found |= _fused({BASELINE: parts[BASELINE], name: other}, ("mean", "rrf"))
        found |= _fused({"alignment": parts["alignment"], name: other}, ("rrf",))
        found |= _fused({**parts, name: other}, ("mean",))
    if len(given) > 1:
        found |= _fused({**parts, **given}, ("mean",))
    return found


def _tests(scores: Mapping[str, Scores]) -> None:
    """Every fusion against each of its parts."""
    rows = [["fusion", "part", *(f"{each}, p" for each in MEASURES)]]
    for name, found in scores.items():
        for part in name.partition(",")[0].split(" + ") if " + " in name else ():
            comparison = compare([scores[part], found], part)
            cells = [comparison.difference(name, each) for each in MEASURES]
            rows.append(
                [
                    name,
                    part,
                    *(f"{each.test.difference:+.4f}, {p(each.test.p_value)}" for each in cells if each),
                ]
            )
    print("\nfusions against their parts (paired t-tests by topic, not corrected)")
    print(aligned(rows, left=2))
