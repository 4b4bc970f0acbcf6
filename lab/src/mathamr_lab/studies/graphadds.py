"""What the graph adds to the text encoder beside it: known items, by collection and kind of query, by topic, with intervals.

`MATHAMR_RUNS` is a folder with runs named COLLECTION.KIND.MODEL.STRATEGY.run, where COLLECTION is `arq` (arqmath-mini) or
`pairs`, KIND is `known` (complete questions), `titles` (their titles alone), `t2020` or `t2021` (Task 1, by year and
together; topics without a relevant answer are left out), and MODEL is a model, with and without the suffix `-text`:
`mathamr run INDEX --task answers --topics TOPICS --strategy hybrid --out arq.known.mathamr-2.hybrid.run`.
Intervals are bootstrapped over topics, for the difference; nothing is chosen here.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import read_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval, paired_t_test
from mathamr.evaluation.table import aligned
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import KNOWN, environment

JUDGED = ["nDCG'", "MAP'", "Bpref"]
QRELS = {
    ("arq", "known"): "arqmath-mini/qrels/known-items.qrels",
    ("arq", "titles"): "arqmath-mini/qrels/known-items.qrels",
    ("arq", "t2020"): "arqmath-mini/qrels/task1-2020.qrels",
    ("arq", "t2021"): "arqmath-mini/qrels/task1-2021.qrels",
    ("pairs", "known"): "pairs/known-items.qrels",
}
YEARS = ("t2020", "t2021")
TEXT = "-text"
Values = dict[str, list[tuple[float, float]]]
"""By measure, the value of every topic with the graph and without."""


def run() -> None:
    place = environment("MATHAMR_RUNS")
    rows = [["", "topics", "with", "without", "difference", "95 %", "p"]]
    years: dict[str, list[Values]] = {}
    for path in sorted(Path(place).glob("*.run")):
        collection, kind, rest = path.stem.split(".", 2)
        model, _, strategy = rest.rpartition(".")
        beside = path.with_name(f"{collection}.{kind}.{model}{TEXT}.{strategy}.run")
        if not beside.exists() or (collection, kind) not in QRELS:
            continue
        found = _by_topic(path, beside, (collection, kind))
        rows += _rows(found, f"{collection} {kind}, {model}, {strategy}")
        if kind in YEARS:
            years.setdefault(f"{collection} both years, {model}, {strategy}", []).append(found)
    for name, parts in years.items():
        if len(parts) == len(YEARS):
            rows += _rows({measure: [*parts[0][measure], *parts[1][measure]] for measure in parts[0]}, name)
    if len(rows) == 1:
        raise MathAMRError(f"{place} lacks a pair of runs, of a model and of its text alone")
    print(aligned(rows))


def _by_topic(ours: Path, theirs: Path, of: tuple[str, str]) -> Values:
    qrels = read_qrels(data_folder() / QRELS[of]).with_relevant()
    chosen = measures(JUDGED if of[1] in YEARS else KNOWN)
    found, text = (evaluate(read_run(path), qrels, chosen).values for path in (ours, theirs))
    return {
        measure: [
            (found[measure][topic], text[measure][topic])
            for topic in sorted(found[measure].keys() & text[measure].keys())
        ]
        for measure in found
    }


def _rows(values: Values, name: str) -> list[list[str]]:
    rows = []
    for measure, pairs in values.items():
        ours, theirs = [own for own, _ in pairs], [other for _, other in pairs]
        low, high = bootstrap_interval([own - other for own, other in pairs]) or (0.0, 0.0)
        test = paired_t_test(ours, theirs)
        rows.append(
            [
                f"{name}: {measure}",
                f"{len(pairs)}",
                f"{fmean(ours):.4f}",
                f"{fmean(theirs):.4f}",
                f"{fmean(ours) - fmean(theirs):+.4f}",
                f"{low:+.4f} to {high:+.4f}",
                "–" if test.p_value is None else f"{test.p_value:.2g}",
            ]
        )
    return rows
