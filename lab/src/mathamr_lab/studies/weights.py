"""The ranking of answers, chosen by nested cross-validation over all beds together: lexical search, one vector, MaxSim, shared letters, hubness correction.

`MATHAMR_RUNS` is a folder with BED.qrels and, for every bed, the runs BED.lexical.run, BED.single.run and BED.maxsim.run; BED.letters.run, whose scores say how many of
its letters a post shares with the question, is optional, and so is BED.npz with the names (`ids`, one a line, as bytes) and the vectors of all posts: beds without
it take no hubness correction. A bed counts by the mean of its questions (nDCG' where its name begins with `task`, MRR@10 elsewhere), and all beds alike. Five folds of
the questions: each is ranked with the weights that are best on the other four.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from zlib import crc32

import numpy as np

from mathamr.core.arrays import AnyFloatArray, DoubleArray
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.index.scored import Scored
from mathamr.search.fusion import shifted_z
from mathamr.search.hubness import hubness, penalise_hubs
from mathamr_lab.studies.testsets import environment

COMPONENTS = ("lexical", "single", "maxsim", "letters")
FOLDS = 5
POOL, NEIGHBOURS = 50, 10

Weights = tuple[float, float, float, float, float]
"""Of lexical search, one vector, MaxSim and shared letters, and the share of hubness that is taken off."""

NAMED: dict[str, Weights] = {
    "lexical alone": (1, 0, 0, 0, 0),
    "one vector alone": (0, 1, 0, 0, 0),
    "MaxSim alone": (0, 0, 1, 0, 0),
    "1 : 2 : 2": (1, 2, 2, 0, 0),
    "1 : 2 : 2, hubs .2": (1, 2, 2, 0, 0.2),
    "1 : 2 : 4, hubs .2": (1, 2, 4, 0, 0.2),
    "1 : 2 : 2, letters .5": (1, 2, 2, 0.5, 0),
}
_DENSE = ((4, 0), (3, 1), (2, 2), (1, 3), (0, 4))
GRID: tuple[Weights, ...] = tuple(
    (lexical, single, maxsim, letters, hubs)
    for lexical, (single, maxsim), letters, hubs in product((0, 0.5, 1, 1.5, 2), _DENSE, (0, 0.5), (0, 0.2))
)
"""The candidates, with those alone."""


@dataclass(frozen=True)
class Table:
    """One question: the candidates of all components, their normalised scores, a column a component, and their vectors if there are any.

    Hubness is that of the first `pool` candidates among their nearest `neighbours`.
    """

    ids: tuple[str, ...]
    scores: DoubleArray
    vectors: AnyFloatArray | None
    pool: int = POOL
    neighbours: int = NEIGHBOURS

    def ranked(self, weights: Weights, count: int | None = None) -> list[Scored]:
        """The first candidates by these weights, best first."""
        totals = self.scores @ np.array(weights[:4])
        order = np.argsort(-totals, kind="stable")[
            : None if count is None else max(count, self.pool if weights[4] else 0)
        ]
        hits = [Scored(self.ids[place], float(totals[place])) for place in order]
        if weights[4] and self.vectors is not None and len(hits) >= self.pool:
            pool = {self.ids[place]: self.vectors[place] for place in order[: self.pool]}
            first = penalise_hubs(hits[: self.pool], hubness(pool, self.neighbours), weights[4])
            return [*first, *hits[self.pool :]]
        return hits


@dataclass(frozen=True)
class RunBed:
    """The questions of a bed with their candidates and judgments."""

    name: str
    tables: Mapping[str, Table]
    qrels: Qrels

    def values(self, weights: Weights) -> dict[str, float]:
        """Returns the measure of every question."""
        if self.name.startswith("task"):
            rankings = {question: table.ranked(weights) for question, table in self.tables.items()}
            found = evaluate(Run.of(self.name, rankings), self.qrels, measures(["nDCG'"]))
            return dict(found.values["nDCG'"])
        return {question: self._reciprocal(question, weights) for question in self.tables}

    def _reciprocal(self, question: str, weights: Weights) -> float:
        grades = self.qrels.grades[question]
        for rank, hit in enumerate(self.tables[question].ranked(weights, 10)[:10], 1):
            if grades.get(hit.id, 0) > 0:
                return 1 / rank
        return 0.0


def read_bed(folder: Path, name: str, pool: int = POOL, neighbours: int = NEIGHBOURS) -> RunBed:
    """Reads the runs, judgments and vectors of a bed."""
    qrels = read_qrels(folder / f"{name}.qrels").with_relevant()
    paths = [folder / f"{name}.{component}.run" for component in COMPONENTS]
    runs = [read_run(path).rankings if path.exists() else {} for path in paths]
    known, vectors = {}, None
    if (folder / f"{name}.npz").exists():
        with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
            known = {each: place for place, each in enumerate(file["ids"].tobytes().decode().split("\n"))}
            vectors = file["vectors"].astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    tables = {}
    for question in qrels.grades:
        rankings = [run.get(question, ()) for run in runs]
        ids = tuple(dict.fromkeys(hit.id for ranking in rankings[:3] for hit in ranking))
        place = {each: number for number, each in enumerate(ids)}
        scores = np.zeros((len(ids), len(COMPONENTS)))
        for column, ranking in enumerate(rankings):
            hits = [hit for hit in ranking if hit.id in place]
            if hits:
                scores[[place[hit.id] for hit in hits], column] = shifted_z(
                    np.array([hit.score for hit in hits])
                )
        own = None if vectors is None else vectors[[known[each] for each in ids]]
        tables[question] = Table(ids, scores, own, pool, neighbours)
    return RunBed(name, tables, qrels)


def nested(
    values: Mapping[str, Mapping[Weights, Mapping[str, float]]],
) -> tuple[dict[str, float], list[Weights]]:
    """Returns the mean of every bed with weights that were chosen on other questions, and the weights of the folds."""
    chosen = [_best(values, lambda question, fold=fold: _fold(question) != fold) for fold in range(FOLDS)]  # type: ignore[misc]
    return {
        bed: fmean(found[chosen[_fold(question)]][question] for question in next(iter(found.values())))
        for bed, found in values.items()
    }, chosen


def _best(
    values: Mapping[str, Mapping[Weights, Mapping[str, float]]], is_used: Callable[[str], bool]
) -> Weights:
    def worth(weights: Weights) -> float:
        return fmean(
            fmean(value for question, value in found[weights].items() if is_used(question))
            for found in values.values()
        )

    return max(next(iter(values.values())), key=worth)


def _fold(question: str) -> int:
    # With a salt: held-out entries were chosen by the hash of their ids.
    return crc32(f"fold:{question}".encode()) % FOLDS


def run() -> None:
    print(report(Path(environment("MATHAMR_RUNS"))))


def report(folder: Path, grid: Sequence[Weights] = GRID, pool: int = POOL) -> str:
    """Returns the table of all beds, after a line with the weights that each selection chose in every fold."""
    names = sorted(path.name.removesuffix(".qrels") for path in folder.glob("*.qrels"))
    if not names:
        raise MathAMRError(f"{folder} has no judgments named BED.qrels")
    beds = [read_bed(folder, name, pool) for name in names]
    candidates = dict.fromkeys((*NAMED.values(), *grid))
    values = {bed.name: {weights: bed.values(weights) for weights in candidates} for bed in beds}
    rows = [["", *(f"{bed.name} ({len(bed.tables)})" for bed in beds), "mean"]]
    for label, weights in NAMED.items():
        rows.append(_line(label, {name: fmean(values[name][weights].values()) for name in names}))
    best = _best(values, lambda question: True)
    rows.append(
        _line(f"best on all, {_shown(best)}", {name: fmean(values[name][best].values()) for name in names})
    )
    lines = []
    for label, only in (
        ("nested, all candidates", candidates),
        ("nested, without hubness", [each for each in candidates if not each[4]]),
        ("nested, without letters", [each for each in candidates if not each[3]]),
        ("nested, without both", [each for each in candidates if not each[3] and not each[4]]),
    ):
        kept = {name: {each: found[each] for each in only} for name, found in values.items()}
        means, chosen = nested(kept)
        rows.append(_line(label, means))
        lines.append(f"{label}: {', '.join(map(_shown, chosen))}")
    return "\n".join([*lines, aligned(rows)])


def _line(label: str, means: Mapping[str, float]) -> list[str]:
    return [label, *(f"{value:.3f}" for value in means.values()), f"{fmean(means.values()):.4f}"]


def _shown(weights: Weights) -> str:
    return " : ".join(f"{weight:g}" for weight in weights)
