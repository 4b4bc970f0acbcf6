"""Reranks runs of other systems by MathAMR, and fuses both (Mansouri, Oard and Zanibbi 2022, Table 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bonferroni, paired_t_test, stars
from mathamr.index.scored import Scored
from mathamr.search.fusion import fuse
from mathamr_lab.experiments.trials.scoretable import ScoreTable

MEASURES = ("nDCG'@10", "P'@10", "MAP'", "Bpref")


def reranked(run: Run, ours: Run) -> Run:
    """Reranks the results of a run by MathAMR's scores; results without a score follow in their old order."""
    found: dict[str, list[tuple[str, float]]] = {}
    for topic, hits in run.rankings.items():
        known = {hit.id: hit.score for hit in ours.rankings.get(topic, ())}
        lowest = min(known.values(), default=0.0) - 1
        rest = [hit for hit in hits if hit.id not in known]
        found[topic] = [(hit.id, known[hit.id]) for hit in hits if hit.id in known]
        found[topic] += [(hit.id, lowest - place) for place, hit in enumerate(rest)]
    return Run.of(f"{run.name}-reranked", found)


def of_judged(run: Run, qrels: Qrels) -> Run:
    """Returns the judged results of a run: if MathAMR scored no others, nothing else can be reranked or fused."""
    return Run.of(
        run.name,
        {
            topic: [(hit.id, hit.score) for hit in hits if hit.id in qrels.grades.get(topic, {})]
            for topic, hits in run.rankings.items()
        },
    )


def fused(run: Run, again: Run) -> Run:
    """Fuses a run and its reranking by score-weighted reciprocal ranks."""
    found = {
        topic: [
            (hit.id, hit.score)
            for hit in fuse(
                "score-rrf",
                [
                    [Scored(each.id, each.score) for each in hits],
                    [Scored(each.id, each.score) for each in again.rankings[topic]],
                ],
            )
        ]
        for topic, hits in run.rankings.items()
    }
    return Run.of(f"{run.name}-fused", found)


def markdown(
    originals: Mapping[str, Path], ours: Sequence[Path], qrels: Qrels, *, judged_only: bool = False
) -> str:
    """Reports every original run, reranked by the runs of MathAMR's seeds, and fused; means over seeds."""
    runs = {name: read_run(path) for name, path in originals.items()}
    if judged_only:
        runs = {name: of_judged(run, qrels) for name, run in runs.items()}
    shown = " Only judged formulas are ordered and fused." if judged_only else ""
    return "\n".join(_lines(runs, ours, qrels)) + shown


def _scores(path: Path, run: Run) -> Run:
    """Returns MathAMR's scores of a run's results: from a table of all formulas' scores, or from a run."""
    return ScoreTable.load(path).over(run, path.stem) if path.suffix == ".npz" else read_run(path)


def _lines(originals: Mapping[str, Run], ours: Sequence[Path], qrels: Qrels) -> Iterator[str]:
    chosen = measures(MEASURES)
    tests = 2 * len(originals) * len(MEASURES)
    yield "| run | topics | | " + " | ".join(MEASURES) + " |"
    yield "| --- | --: | --- |" + " --: |" * len(MEASURES)
    for name, run in originals.items():
        asked = Qrels({topic: grades for topic, grades in qrels.grades.items() if topic in run.rankings})
        original = evaluate(run, asked, chosen)
        means = [f"{original.mean(each):.3f}" for each in original.measures]
        yield _row(name, str(len(asked.topics)), "original", means)
        by_seed = [_scores(path, run) for path in ours]
        for what in ("reranked", "fused"):
            values = []
            for seed in by_seed:
                again = reranked(run, seed)
                values.append(evaluate(again if what == "reranked" else fused(run, again), asked, chosen))
            cells = []
            for each in original.measures:
                topics = list(original.values[each])
                averaged = [
                    float(np.mean([value.values[each][topic] for value in values])) for topic in topics
                ]
                test = paired_t_test(averaged, [original.values[each][topic] for topic in topics])
                corrected = None if test.p_value is None else bonferroni(test.p_value, tests)
                cells.append(f"{np.mean(averaged):.3f}{stars(corrected)}")
            yield _row("", "", what, cells)
    yield ""
    yield (
        f"The topics that a run has; {len(ours)} seeds of MathAMR; stars: a paired t-test against the original,"
        f" p × {tests} under .05, .01, .001."
    )


def _row(name: str, topics: str, what: str, cells: Sequence[str]) -> str:
    return "| " + " | ".join([name, topics, what, *cells]) + " |"
