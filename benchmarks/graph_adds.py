"""What the graph adds to the text it stands beside: known items, by collection and kind of query, by topic, with intervals.

`MATHAMR_RUNS` is a folder with runs called COLLECTION.KIND.MODEL.STRATEGY.run, COLLECTION being `arq` (arqmath-mini) or
`pairs`, KIND `known` (whole questions) or `titles` (their titles alone), and MODEL a model and the same with `-text` behind
it: `mathamr run INDEX --task answers --topics TOPICS --strategy hybrid --out arq.known.mathamr-2.hybrid.run`.
Intervals are of the difference, by the bootstrap over topics; nothing is chosen here.
"""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks._data import data_folder
from mathamr.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import read_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.significance import bootstrap_interval, paired_t_test
from mathamr.evaluation.table import aligned

MEASURES = ["MRR@10", "recall@10", "recall@100"]
JUDGED = ["nDCG'", "MAP'", "Bpref"]
QRELS = {
    ("arq", "known"): "arqmath-mini/qrels/known-items.qrels",
    ("arq", "titles"): "arqmath-mini/qrels/known-items.qrels",
    ("arq", "t2020"): "arqmath-mini/qrels/task1-2020.qrels",
    ("arq", "t2021"): "arqmath-mini/qrels/task1-2021.qrels",
    ("pairs", "known"): "pairs/known-items.qrels",
}
TEXT = "-text"


def run() -> None:
    place = os.environ.get("MATHAMR_RUNS")
    if not place:
        raise MathAMRError(
            "this benchmark needs MATHAMR_RUNS, a folder of runs; see benchmarks/graph_adds.py"
        )
    rows = [["", "with", "without", "difference", "95 %", "p"]]
    for path in sorted(Path(place).glob("*.run")):
        collection, kind, rest = path.stem.split(".", 2)
        model, _, strategy = rest.rpartition(".")
        beside = path.with_name(f"{collection}.{kind}.{model}{TEXT}.{strategy}.run")
        if not beside.exists() or (collection, kind) not in QRELS:
            continue
        rows += _compared(path, beside, (collection, kind), f"{collection} {kind}, {model}, {strategy}")
    if len(rows) == 1:
        raise MathAMRError(f"{place} has no run of a model beside one of its text alone")
    print(aligned(rows))


def _compared(ours: Path, theirs: Path, of: tuple[str, str], name: str) -> list[list[str]]:
    qrels = read_qrels(data_folder() / QRELS[of])
    chosen = measures(MEASURES if of[1] in ("known", "titles") else JUDGED)
    found, text = (evaluate(read_run(path), qrels, chosen) for path in (ours, theirs))
    rows = []
    for measure in found.measures:
        topics = found.values[measure].keys() & text.values[measure].keys()
        pairs = [(found.values[measure][topic], text.values[measure][topic]) for topic in sorted(topics)]
        low, high = bootstrap_interval([a - b for a, b in pairs]) or (0.0, 0.0)
        test = paired_t_test([a for a, _ in pairs], [b for _, b in pairs])
        rows.append(
            [
                f"{name}: {measure}",
                f"{found.mean(measure):.4f}",
                f"{text.mean(measure):.4f}",
                f"{found.mean(measure) - text.mean(measure):+.4f}",
                f"{low:+.4f} to {high:+.4f}",
                "–" if test.p_value is None else f"{test.p_value:.2g}",
            ]
        )
    return rows
