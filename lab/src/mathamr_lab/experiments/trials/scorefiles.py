"""The files of trials: a folder of runs with their scores, written as they are computed."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import RELEVANT, Qrels, read_qrels
from mathamr.evaluation.runs import Run, run_lines
from mathamr.evaluation.scores import evaluate
from mathamr_lab.training.checkpoint import TrainingProgress

JUDGED = ("nDCG'", "MAP'", "P'@10", "Bpref", "nDCG'@5", "nDCG'@10", "P'@5")
LEARNED = "learned.json"
"""How the models of a row learned: steps, and losses by epoch."""
KNOWN = ("MRR@10", "recall@10", "recall@100")
_BEGAN = time.monotonic()


def say(line: str) -> None:
    """Print a line of progress with the time."""
    print(f"[{time.monotonic() - _BEGAN:6.1f} s] {line}", file=sys.stderr, flush=True)


def judgments(folder: Path, name: str, relevant: int = RELEVANT) -> Qrels:
    """Read the judgments of `NAME.qrels`, or of several years, `NAME-YEAR.qrels`, as one.

    Topics without an item of at least the grade `relevant` are left out, as ARQMath did.
    """
    grades: dict[str, Mapping[str, int]] = {}
    for path in sorted((*folder.glob(f"{name}.qrels"), *folder.glob(f"{name}-2*.qrels"))):
        grades |= read_qrels(path).with_relevant(relevant).grades
    return Qrels(grades)


def keep_run(
    out: Path,
    name: str,
    scores: Mapping[str, Mapping[str, float]],
    qrels: Qrels,
    names: Iterable[str] = JUDGED,
    depth: int = 0,
    *,
    judged_only: bool = False,
) -> dict[str, float]:
    """Write a run's measures by topic (`NAME.json`) and its best `depth` results (`NAME.run.gz`); return the means.

    With `judged_only` a topic's own judged items alone are measured, however many others are ranked above them.
    """
    path = out / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    rounded = {
        topic: [(item, round(score, 5)) for item, score in found.items()] for topic, found in scores.items()
    }
    run = Run.of(name.replace("/", "-"), rounded)
    if depth:
        with gzip.open(path.with_suffix(".run.gz"), "wt", encoding="utf-8") as file:
            file.writelines(run_lines(run, depth))
    if judged_only:
        run = Run.of(
            run.name,
            {
                topic: [each for each in ranked if each[0] in qrels.grades.get(topic, ())]
                for topic, ranked in rounded.items()
            },
        )
    found = evaluate(run, qrels, measures(names))
    if not any(value for each in found.values.values() for value in each.values()):
        raise MathAMRError(
            f"{name}: no result of any topic is judged relevant, so that every measure is 0; results and judgments"
            " name items differently, or are of different collections"
        )
    path.write_text(json.dumps(found.values) + "\n", encoding="utf-8")
    means = {each: found.mean(each) for each in found.measures}
    say(f"{name}: " + ", ".join(f"{each} {value:.4f}" for each, value in means.items()))
    return means


def keep_figures(folder: Path, figures: Mapping[str, Any]) -> None:
    """Write how the models of a row learned."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LEARNED).write_text(json.dumps(figures) + "\n", encoding="utf-8")


def learned_figures(progress: TrainingProgress) -> dict[str, Any]:
    """Return what a training went through: steps, the loss of every epoch and of its validation, and the epoch that was taken."""
    checks = [row["validation"] for row in progress.history]
    return {
        "steps": progress.history[-1]["step"] if progress.history else 0,
        "losses": [row["loss"] for row in progress.history],
        "validation": [check["loss"] for check in checks if check and "loss" in check],
        "spearman": [check["spearman"] for check in checks if check and "spearman" in check],
        "kept": progress.best_epoch,
    }
