"""The results of graph networks as Markdown: the thesis's tables of best seeds, of means and of costs, with its figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mathamr.evaluation.randomorder import random_scores
from mathamr.evaluation.scores import Scores
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.experiment import Column, GraphExperiment, Published, Variant
from mathamr_lab.experiments.plan import NO_SEED, MeasuredRun
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.stage import Figures
from mathamr_lab.experiments.tables import (
    MeasuredRow,
    Spread,
    comparison_table,
    markdown_table,
    published_head,
)

COLUMNS: dict[Column, tuple[str, str]] = {
    "seconds": ("Time/epoch (s)", ".1f"),
    "memory": ("Memory (GB)", ".2f"),
    "parameters": ("Parameters", ",.0f"),
    "index": ("Index (MB)", ".1f"),
    "vectors": ("Vectors", ",.0f"),
    "rate": ("Queries/s", ".1f"),
    "formulas": ("Indexed formulas", ",.0f"),
    "formula rate": ("Formula queries/s", ".1f"),
}
"""Costs: the head of each column, and how its figures are written."""
_OF_TRAINING: tuple[Column, ...] = ("seconds", "memory", "parameters")
"""Costs of the training, which reads other posts than are searched."""


def markdown(setting: ExperimentSetting, measured: Sequence[MeasuredRun], data: Figures) -> str:
    """Return the report on what is measured so far; `data` counts the posts and pairs."""
    experiment = setting.graphs
    parts = [f"# {experiment.title}", experiment.question, *experiment.beside]
    parts.append(_data(setting, data))
    for test in setting.tests:
        parts += _test(experiment, test, [each for each in measured if each.test.name == test.name])
    parts += ["## Costs", _costs(setting, measured), _cost_note(experiment)]
    return "\n\n".join(parts) + "\n"


def _data(setting: ExperimentSetting, data: Figures) -> str:
    changed = f", with {', '.join(setting.scale.changes)}" if setting.scale.changes else ""
    further = f", {data['further']:,} further posts included" if data.get("further") else ""
    return (
        f"{data.get('posts', 0):,} posts, {data.get('answers', 0):,} of them answers; {data.get('pairs', 0):,} pairs of"
        f" question and answer to train and validate on{further}; configuration `{setting.scale.config}`{changed}."
    )


def _test(experiment: GraphExperiment, test: TestSet, measured: Sequence[MeasuredRun]) -> Iterator[str]:
    best, means, _ = experiment.tables
    is_thesis = test.task == "answers" and not test.is_known_items
    if test.task == "formulas":
        best, means = experiment.formula_table, ""
    yield f"## {test.name}: {len(test.topics)} topics, {test.task}"
    if test.left_out:
        yield f"{test.left_out} judged topics without a relevant item are left out."
    found = {variant.name: _scores(measured, variant.name) for variant in experiment.variants}
    # Among the judged items alone every known item comes first, so that floor is meaningless.
    floor = None if test.is_known_items else random_scores(test.qrels, test.measures, 0)
    names = dict.fromkeys(each.row for each in measured if each.seed == NO_SEED)
    baselines = [MeasuredRow(name, _scores(measured, name)) for name in names]
    shown = _shown(experiment, test)

    def table(rows: Sequence[MeasuredRow]) -> str:
        pairs = {each.title: each.baseline for each in experiment.variants if each.baseline}
        titles = {each.name: each.title for each in experiment.variants}
        lines = comparison_table(
            [*rows, *baselines],
            shown,
            baseline_of={row: titles[base] for row, base in pairs.items()},
            floor=floor,
            list_tests=True,
            source="thesis",
            searched=experiment.searched,
        )
        return "\n".join(lines)

    chosen = best_seeds(experiment.variants, found)
    yield f"### Best seed{f' (thesis, Table {best})' if best and not test.is_known_items else ''}"
    yield table(
        [
            MeasuredRow(each.title, {seed: found[each.name][seed]}, _best(each.published, test))
            for each in experiment.variants
            if (seed := chosen.get(each.name)) is not None
        ]
    )
    yield f"Best seeds: {', '.join(f'{name} {seed}' for name, seed in chosen.items())}."
    if any(len(scores) > 1 for scores in found.values()):
        yield f"### All seeds{f' (thesis, Table {means})' if means and is_thesis else ''}"
        yield table(
            [
                MeasuredRow(each.title, found[each.name], _spreads(each.published) if is_thesis else {})
                for each in experiment.variants
            ]
        )


def _scores(measured: Sequence[MeasuredRun], row: str) -> dict[int, Scores]:
    return {
        each.seed: scores for each in measured if each.row == row and (scores := each.scores()) is not None
    }


def best_seeds(variants: Sequence[Variant], found: Mapping[str, Mapping[int, Scores]]) -> dict[str, int]:
    """Return the best seed of every measured variant; rankings of one model have one: that of the baseline, otherwise of the first row."""
    leads: dict[tuple[object, ...], int] = {}
    for variant in sorted(variants, key=lambda variant: variant.baseline is not None):
        if found[variant.name]:
            own = MeasuredRow(variant.name, found[variant.name]).best_seed
            leads.setdefault(variant.learned, own)
    chosen = {}
    for variant in variants:
        if scores := found[variant.name]:
            lead = leads[variant.learned]
            chosen[variant.name] = lead if lead in scores else MeasuredRow("", scores).best_seed
    return chosen


def _shown(experiment: GraphExperiment, test: TestSet) -> tuple[str, ...]:
    names = [str(measure) for measure in test.measures]
    wanted = experiment.measures
    return tuple(name for name in names if name in wanted) or tuple(names[: len(wanted) or None])


def _best(published: Published, test: TestSet) -> dict[str, str]:
    if test.is_known_items:
        return {}
    if test.task == "formulas":
        return {name: f"{value:.3f}" for name, value in published.formulas.items()}
    return {
        name: f"{value:.3f}{'*' if name in published.stars else ''}" for name, value in published.best.items()
    }


def _spreads(published: Published) -> dict[str, str]:
    return {name: f"{mean:.3f} ± {deviation:.3f}" for name, (mean, deviation) in published.spread.items()}


def _costs(setting: ExperimentSetting, measured: Sequence[MeasuredRun]) -> str:
    experiment = setting.graphs
    columns = [
        (column, any(column in variant.published.costs for variant in experiment.variants))
        for column in experiment.columns
    ]
    head = [""]
    for column, is_published in columns:
        name = COLUMNS[column][0]
        searched = experiment.trained if column in _OF_TRAINING else experiment.searched
        head += [name, *([published_head("thesis", name, searched)] if is_published else [])]
    rows = [head]
    for variant in experiment.variants:
        found = costs_of(setting, [each for each in measured if each.row == variant.name])
        cells = [variant.title]
        for column, is_published in columns:
            cells.append(_cost(found.get(column), column))
            if is_published:
                value = variant.published.costs.get(column)
                cells.append("" if value is None else format(value, COLUMNS[column][1]))
        rows.append(cells)
    return markdown_table(rows)


def costs_of(setting: ExperimentSetting, measured: Sequence[MeasuredRun]) -> dict[Column, Spread]:
    """Return the costs of a variant's runs over its seeds: memory in GB, the index in MB, search time over all sets of a task.

    Those of formula search are the number of indexed formulas and the queries a second.
    """
    values: dict[Column, list[float]] = {}
    tasks: tuple[tuple[str, Column, Column], ...]
    tasks = ("answers", "vectors", "rate"), ("formulas", "formulas", "formula rate")
    for task, size, rate in tasks:
        names = [test.name for test in setting.tests if test.task == task]
        runs = [each for each in measured if each.test.name in names]
        for each in (each for each in runs if each.test.name == names[0]):
            mark = each.train.mark() if each.train and task == "answers" else None
            if mark is not None:
                (learned,) = mark.figures["stages"].values()
                values.setdefault("seconds", []).append(learned["seconds an epoch"])
                values.setdefault("memory", []).append(learned["memory"] / 1e9)
                values.setdefault("parameters", []).append(mark.figures["parameters"])
            run = each.stage.mark()
            if run is not None and "vectors" in run.figures:
                values.setdefault(size, []).append(run.figures["vectors"])
                if task == "answers":
                    values.setdefault("index", []).append(run.figures["index bytes"] / 1e6)
        values[rate] = _rates(runs)
    return {column: Spread.of(found) for column, found in values.items() if found}


def _rates(measured: Sequence[MeasuredRun]) -> list[float]:
    """Return the queries a second over all test sets, one figure per seed."""
    found = []
    for seed in {each.seed for each in measured}:
        marks = [mark.figures for each in measured if each.seed == seed and (mark := each.stage.mark())]
        rows = [row for row in marks if "queries a second" in row]
        if rows:
            seconds = sum(row["topics"] / row["queries a second"] for row in rows)
            found.append(sum(row["topics"] for row in rows) / seconds)
    return found


def _cost(spread: Spread | None, column: Column) -> str:
    if spread is None:
        return "–"
    form = COLUMNS[column][1]
    mean, deviation = format(spread.mean, form), format(spread.deviation, form)
    varies = spread.seeds > 1 and float(deviation.replace(",", "")) > 0
    return f"{mean} ± {deviation}" if varies else mean


def _cost_note(experiment: GraphExperiment) -> str:
    table = f" (thesis: Table {experiment.tables[2]})" if experiment.tables[2] else ""
    return (
        f"Time and memory are those of training{table}: on a CPU the process's peak, on a GPU the GPU's."
        " The index is the 32-bit vectors of the answers; queries/s are searches of encoded topics, one after the other,"
        " in the processor's time."
    )
