"""Tables of trials: means and deviations over seeds, what the seed printed beside them, and paired tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import read_run
from mathamr.evaluation.significance import LEVEL, bonferroni, bootstrap_interval, paired_t_test, stars
from mathamr_lab.experiments.trials.declared import TrialExperiment, TrialRow, TrialTable

PREPARED, SHARES = "prepared", "shares.json"


@dataclass(frozen=True, slots=True)
class RowScores:
    """What a row was measured to: for every seed the values by measure and topic."""

    row: TrialRow
    seeds: Mapping[int, Mapping[str, Mapping[str, float]]]

    def mean(self, measure: str, topics: Sequence[str] | None = None) -> list[float]:
        """The mean of a measure, seed by seed."""
        return [
            float(np.mean([values[measure][topic] for topic in topics or list(values[measure])]))
            for values in self.seeds.values()
        ]

    def by_topic(self, measure: str, topics: Sequence[str]) -> list[float]:
        """The mean over seeds of every topic."""
        return [
            float(np.mean([values[measure][topic] for values in self.seeds.values()])) for topic in topics
        ]


def row_scores(folder: Path, row: TrialRow, test: str, seeds: Sequence[int]) -> RowScores | None:
    """The scores of a row, of as many seeds as are there; `None` where none is."""
    wanted = seeds if "{seed}" in row.scores else [0]
    found: dict[int, Mapping[str, Mapping[str, float]]] = {}
    for seed in wanted:
        name = row.scores.format(seed=seed)
        for path in (folder / name / f"{test}.json", folder / f"{name}.json"):
            if path.is_file():
                found[seed] = _read(path)
                break
    return RowScores(row, found) if found else None


def _read(path: Path) -> Mapping[str, Mapping[str, float]]:
    try:
        row: Mapping[str, Mapping[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MathAMRError(f"cannot read the scores in {path}: {error}") from error
    return row


def markdown(
    experiment: TrialExperiment, folder: Path, seeds: Sequence[int], judged: Mapping[str, Qrels]
) -> str:
    """The tables of an experiment from a trial's folder; what is not measured yet is left out."""
    lines = [f"# {experiment.title}", "", experiment.question, ""]
    if experiment.note:
        lines += [experiment.note, ""]
    for table in experiment.tables:
        found = [each for row in table.rows if (each := row_scores(folder, row, table.test, seeds))]
        if not found:
            continue
        lines += [f"## {table.title}", ""]
        if table.answers:
            lines += [*_recall(table, found, folder, seeds, judged[table.test]), ""]
        elif table.least:
            lines += [*_by_share(table, found, folder), ""]
        else:
            lines += [*_compared(table, found), ""]
    return "\n".join(lines)


def _compared(table: TrialTable, found: Sequence[RowScores]) -> Iterator[str]:
    published = [name for name in table.measures if any(name in each.row.published for each in found)]
    topics = list(next(iter(found[0].seeds.values()))[table.measures[0]])
    seeds = max(len(each.seeds) for each in found)
    yield _line(["", *table.measures, *(f"paper {name}" for name in published)])
    yield _rule(1 + len(table.measures) + len(published))
    for each in found:
        fewer = len(each.seeds) < seeds and "{seed}" in each.row.scores
        name = f"{each.row.name}, {len(each.seeds)} of {seeds} seeds" if fewer else each.row.name
        cells = [name, *(_with_interval(each, measure, topics) for measure in table.measures)]
        yield _line([*cells, *(_told(each.row.published.get(name)) for name in published)])
    yield ""
    yield (
        f"{len(topics)} topics; "
        + (f"mean and standard deviation over {seeds} seeds" if seeds > 1 else "one seed")
        + ", in brackets the 95 % bootstrap interval over topics."
        + (f" Beside it the paper's {table.source}." if table.source else "")
    )
    tests = (len(found) - 1) * len(table.measures)
    if tests:
        yield ""
        yield from _tests(table, found, topics, tests)


def _tests(table: TrialTable, found: Sequence[RowScores], topics: Sequence[str], tests: int) -> Iterator[str]:
    first = found[0]
    yield _line(
        [f"against {first.row.name}", "measure", "difference", f"{1 - LEVEL:.0%} interval", f"p × {tests}"]
    )
    yield _rule(5)
    for each in found[1:]:
        for name in table.measures:
            test = paired_t_test(each.by_topic(name, topics), first.by_topic(name, topics))
            corrected = None if test.p_value is None else bonferroni(test.p_value, tests)
            told = "–" if corrected is None else f"{corrected:.3f}{stars(corrected)}"
            interval = "–" if test.low is None else f"[{test.low:+.3f}, {test.high:+.3f}]"
            yield _line([each.row.name, name, f"{test.difference:+.3f}", interval, told])


def _by_share(table: TrialTable, found: Sequence[RowScores], folder: Path) -> Iterator[str]:
    """Rows of topics above each share of mathematics."""
    shares = shares_of(folder)[table.test]
    yield _line(["", "share of mathematics", "topics", *table.measures])
    yield _rule(3 + len(table.measures))
    for each in found:
        every = list(next(iter(each.seeds.values()))[table.measures[0]])
        for least in table.least:
            topics = [topic for topic in every if shares.get(topic, 0.0) > least or not least]
            if topics:
                cells = [_spread(each.mean(name, topics)) for name in table.measures]
                yield _line([each.row.name, _above(least), str(len(topics)), *cells])


def _recall(
    table: TrialTable, found: Sequence[RowScores], folder: Path, seeds: Sequence[int], qrels: Qrels
) -> Iterator[str]:
    """The share of relevant answers above each share of mathematics that were found."""
    shares = shares_of(folder)["answers"]
    yield _line(["", "share of mathematics", "answers", *table.measures])
    yield _rule(3 + len(table.measures))
    for each in found:
        runs = [
            read_run(folder / each.row.scores.format(seed=seed) / f"{table.test}.run.gz")
            for seed in seeds
            if seed in each.seeds
        ]
        for least in table.least:
            wanted = [
                (topic, item)
                for topic in qrels.topics
                for item in qrels.relevant(topic)
                if shares.get(item, 0.0) > least or not least
            ]
            cells = []
            for name in table.measures:
                depth = int(name.partition("@")[2])
                values = []
                for run in runs:
                    best = {topic: set(run.ids(topic, depth)) for topic, _ in wanted}
                    values.append(float(np.mean([item in best[topic] for topic, item in wanted])))
                cells.append(_spread(values))
            yield _line([each.row.name, _above(least), str(len(wanted)), *cells])


def shares_of(folder: Path) -> dict[str, dict[str, float]]:
    """The shares of mathematics of topics, by test set, and of `answers`."""
    path = folder / PREPARED / SHARES
    try:
        row: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MathAMRError(f"cannot read the shares of mathematics in {path}: {error}") from error
    return row


def _above(least: float) -> str:
    return f"> {least:.0%}" if least else "all"


def _spread(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.3f}"
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"


def _with_interval(each: RowScores, measure: str, topics: Sequence[str]) -> str:
    interval = bootstrap_interval(each.by_topic(measure, topics))
    told = "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"
    return _spread(each.mean(measure)) + told


def _told(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _rule(count: int) -> str:
    return _line(["---", *["--:"] * (count - 1)])
