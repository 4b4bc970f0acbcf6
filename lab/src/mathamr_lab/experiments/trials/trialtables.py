"""Tables of trials, from the files of scores that they write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import Run, read_run
from mathamr.evaluation.scores import Scores
from mathamr_lab.experiments.experiment import TrialExperiment, TrialRow, TrialTable
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table, markdown_table
from mathamr_lab.experiments.trials.scorefiles import LEARNED

PREPARED, SHARES, STRATA = "prepared", "shares.json", "complexity.json"
STRATA_NAMES = ("low", "medium", "high")


def row_scores(folder: Path, row: TrialRow, test: str, seeds: Sequence[int]) -> MeasuredRow:
    """Return the scores of a row, for all seeds that exist."""
    wanted = seeds if "{seed}" in row.scores else [0]
    found: dict[int, Scores] = {}
    for seed in wanted:
        name = row.scores.format(seed=seed)
        for path in (folder / name / f"{test}.json", folder / f"{name}.json"):
            if path.is_file():
                found[seed] = Scores(row.name, _json(path))
                break
    return MeasuredRow(row.name, found, row.published)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise MathAMRError(f"cannot read {path}: {error}") from error


def markdown(
    experiment: TrialExperiment,
    folder: Path,
    prepared: Path,
    seeds: Sequence[int],
    judged: Mapping[str, Qrels],
) -> str:
    """Return the tables of an experiment from a trial's folder; what is not measured yet is left out."""
    lines = [f"# {experiment.title}", "", experiment.question, ""]
    if experiment.note:
        lines += [experiment.note, ""]
    for table in experiment.tables:
        found = [row_scores(folder, row, table.test, seeds) for row in table.rows]
        if not any(row.seeds for row in found):
            continue
        lines += [f"## {table.title}", ""]
        if table.answers:
            lines += [_recall(table, found, folder, prepared, seeds, judged[table.test]), ""]
        elif table.least:
            lines += [_by_share(table, found, prepared), ""]
        else:
            lines += comparison_table(
                found,
                table.measures,
                baselines=[found[0].name],
                list_tests=True,
                searched=table.searched,
            )
            lines += [f"Beside it the paper's {table.source}." if table.source else "", ""]
            if table.strata and (strata := _strata(table, found, prepared)):
                lines += [strata, ""]
    learned = list(_learned(experiment, folder, seeds))
    if len(learned) > 1:
        lines += ["## How the models learned", "", markdown_table(learned), ""]
    return "\n".join(lines)


def _strata(table: TrialTable, found: Sequence[MeasuredRow], prepared: Path) -> str:
    """Return P'@10 by the complexity of topics, if the collection says how complex they are."""
    path = prepared / STRATA
    if not path.exists():
        return ""
    by_topic: dict[str, str] = _json(path)
    lines = [["P'@10", *STRATA_NAMES]]
    for row in (row for row in found if row.seeds):
        topics = next(iter(row.seeds.values())).topics
        groups = [[each for each in topics if by_topic.get(each) == name] for name in STRATA_NAMES]
        lines.append([row.name, *(row.spread("P'@10", group) if group else "" for group in groups)])
    return markdown_table(lines)


def _learned(experiment: TrialExperiment, folder: Path, seeds: Sequence[int]) -> Iterator[list[str]]:
    """Yield the steps of each part of a row's models, and its losses at the start, at three quarters, and at the end."""
    yield ["row", "part", "steps", "loss of the first, the three-quarter and the last epoch", "epoch taken"]
    for row in experiment.trial_rows:
        path = folder / row.scores.format(seed=seeds[0]) / LEARNED
        if not path.exists():
            continue
        for part, each in _json(path).items():
            losses = each["validation"] or each["losses"]
            if losses:
                shown = [losses[0], losses[3 * (len(losses) - 1) // 4], losses[-1]]
                curve = " ".join(f"{value:.4f}" for value in shown)
                yield [row.name, part, f"{each['steps']:,}", curve, str(each["kept"])]


def _by_share(table: TrialTable, found: Sequence[MeasuredRow], prepared: Path) -> str:
    """Return a line for the topics above each share of mathematics."""
    shares = shares_of(prepared)[table.test]
    lines = [["", "share of mathematics", "topics", *table.measures]]
    for row in (row for row in found if row.seeds):
        every = next(iter(row.seeds.values())).topics
        for least in table.least:
            topics = [topic for topic in every if shares.get(topic, 0.0) > least or not least]
            if topics:
                cells = [row.spread(name, topics) for name in table.measures]
                lines.append([row.name, _above(least), str(len(topics)), *cells])
    return markdown_table(lines)


def _recall(
    table: TrialTable,
    found: Sequence[MeasuredRow],
    folder: Path,
    prepared: Path,
    seeds: Sequence[int],
    qrels: Qrels,
) -> str:
    """Return a line for the relevant answers above each share of mathematics: how many of them were found."""
    shares = shares_of(prepared)["answers"]
    lines = [["", "share of mathematics", "answers", *table.measures]]
    for declared, row in zip(table.rows, found, strict=True):
        paths = {
            seed: folder / declared.scores.format(seed=seed) / f"{table.test}.run.gz"
            for seed in seeds
            if seed in row.seeds
        }
        runs = {seed: read_run(path) for seed, path in paths.items()}
        for least in table.least if runs else ():
            wanted = [
                (topic, item)
                for topic in qrels.topics
                for item in qrels.relevant(topic)
                if shares.get(item, 0.0) > least or not least
            ]
            values = {
                seed: Scores(row.name, {name: _found(run, wanted, name) for name in table.measures})
                for seed, run in runs.items()
            }
            recalled = MeasuredRow(row.name, values)
            cells = [recalled.spread(name) for name in table.measures]
            lines.append([row.name, _above(least), str(len(wanted)), *cells])
    return markdown_table(lines)


def _found(run: Run, wanted: Sequence[tuple[str, str]], measure: str) -> dict[str, float]:
    """Return 1 for every relevant answer that the run has within the measure's depth, otherwise 0."""
    depth = int(measure.partition("@")[2])
    best = {topic: set(run.ids(topic, depth)) for topic, _ in wanted}
    return {f"{topic} {item}": float(item in best[topic]) for topic, item in wanted}


def shares_of(prepared: Path) -> dict[str, dict[str, float]]:
    """Return the shares of mathematics of topics, by test set, and of `answers`."""
    row: dict[str, dict[str, float]] = _json(prepared / SHARES)
    return row


def _above(least: float) -> str:
    return f"> {least:.0%}" if least else "all"
