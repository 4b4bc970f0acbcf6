"""An experiment's findings as Markdown, in the form of the thesis's tables with its figures beside ours."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from mathamr.evaluation.significance import LEVEL
from mathamr_lab.experiments.experiment import CitedSystem, Column, GraphExperiment, Published
from mathamr_lab.experiments.findings import Findings, TestFindings
from mathamr_lab.experiments.seedsummary import Spread
from mathamr_lab.experiments.setting import ExperimentSetting
from mathamr_lab.experiments.tables import difference_table, markdown_table, published_head

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


def markdown(findings: Findings, pictures: Sequence[str] = ()) -> str:
    """Return the complete report."""
    experiment = findings.setting.graphs
    parts = [f"# {experiment.title}", f"{experiment.question} (Thesis, section {experiment.section}.)"]
    parts.append("```\n" + command(findings.setting) + "\n```")
    parts.append(_data(findings))
    for test in findings.tests:
        parts += _test_parts(findings, test)
    parts += ["## Costs", _costs(findings), _cost_note(experiment)]
    if pictures:
        parts += ["## Pictures", *(f"![{name}]({name})" for name in pictures)]
    return "\n\n".join(parts) + "\n"


def command(setting: ExperimentSetting) -> str:
    """Return the command that reproduces these findings."""
    words = ["mathamr", "experiment", setting.graphs.name, *setting.collection.options]
    words += ["--scale", setting.scale.name]
    for change in setting.changes:
        words += ["--set", change]
    words += ["--seeds", str(setting.seeds)]
    for name in setting.baselines:
        words += ["--baseline", name]
    named = {
        "store": setting.store,
        "parser": setting.parser if setting.parser != "builtin" else None,
        "parser-model": setting.parser_model,
        "engine": setting.wanted_engine,
    }
    words += [word for name, value in named.items() if value for word in (f"--{name}", str(value))]
    words += ["--accepted"] if setting.accepted else []
    return shlex.join([*words, "--out", str(setting.out)])


def _data(findings: Findings) -> str:
    setting, corpus = findings.setting, findings.corpus
    changed = f", with {', '.join(setting.scale.changes)}" if setting.scale.changes else ""
    further = f", {corpus['further']:,} further posts included" if corpus.get("further") else ""
    return (
        f"{corpus.get('posts', 0):,} posts, {corpus.get('answers', 0):,} of them answers; {findings.pairs:,} pairs of"
        f" question and answer to train and validate on{further}; configuration `{setting.scale.config}`{changed};"
        f" {findings.seeds} seed{'s' if findings.seeds != 1 else ''}."
    )


def _test_parts(findings: Findings, test: TestFindings) -> Iterator[str]:
    experiment = findings.setting.graphs
    best, means, _ = experiment.tables
    is_thesis = test.test.task == "answers" and not test.test.is_known_items
    what = "formulas" if test.test.task == "formulas" else "answers"
    yield f"## {test.test.name}: {len(test.test.topics)} topics, {what}"
    if test.test.left_out:
        yield f"{test.test.left_out} judged topics without a relevant item are left out."
    yield f"### Best seed{f' (thesis, Table {best})' if best and is_thesis else ''}"
    yield _best(experiment, test, is_thesis)
    cited = [system for system in experiment.systems if system.task == test.test.task]
    if cited and not test.test.is_known_items:
        yield "Systems that the thesis cites, on ARQMath-3:"
        yield _cited(cited, test.measures)
    if test.differences:
        yield (
            f"† baseline. * p < {LEVEL} after Bonferroni's correction for {len(test.differences)} two-tailed paired"
            " t-tests over topics, best seed against best seed."
        )
    if findings.seeds > 1:
        yield f"### Mean ± standard deviation over {findings.seeds} seeds" + (
            f" (thesis, Table {means})" if means and is_thesis else ""
        )
        yield _means(experiment, test, is_thesis)
    if test.differences:
        yield "### Tests"
        yield difference_table(test.differences, "", lambda name: ", ".join(experiment.variant(name).cells))


def _best(experiment: GraphExperiment, test: TestFindings, is_thesis: bool) -> str:
    has_thesis = is_thesis and any(row.variant.published.best for row in test.rows)
    rows = [_head(experiment, test, has_thesis, "seed")]
    baselines = {row.variant.baseline for row in test.rows}
    for row in test.rows:
        cells = [*row.variant.cells]
        cells[0] += " †" if row.variant.name in baselines else ""
        found = row.summary
        if found is None:
            cells += ["–"] * (len(test.measures) + 1)
        else:
            stars = {name: test.stars(row.variant.name, name) for name in test.measures}
            cells += [f"{found.best.mean(name):.3f}{stars[name]}" for name in test.measures]
            cells.append(str(found.best_seed))
        rows.append(cells + [_published(row.variant.published, name) for name in test.measures if has_thesis])
    for scores in test.references:
        cells = [scores.run, *[""] * (len(experiment.heads) - 1)]
        cells += [f"{scores.mean(name):.3f}" for name in test.measures]
        rows.append(cells + [""] * (len(rows[0]) - len(cells)))
    return markdown_table(rows, len(experiment.heads))


def _head(experiment: GraphExperiment, test: TestFindings, has_thesis: bool, *further: str) -> list[str]:
    thesis = [published_head("thesis", name, experiment.searched) for name in test.measures if has_thesis]
    return [*experiment.heads, *test.measures, *further, *thesis]


def _cited(systems: Sequence[CitedSystem], names: Sequence[str]) -> str:
    rows = [["", *(published_head("thesis", name) for name in names)]]
    rows += [[system.name, *(_figure(system.figures.get(name)) for name in names)] for system in systems]
    return markdown_table(rows)


def _published(published: Published, name: str) -> str:
    value = published.best.get(name)
    return "" if value is None else f"{value:.3f}{'*' if name in published.stars else ''}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _means(experiment: GraphExperiment, test: TestFindings, is_thesis: bool) -> str:
    has_thesis = is_thesis and any(row.variant.published.spread for row in test.rows)
    rows = [_head(experiment, test, has_thesis)]
    for row in test.rows:
        spreads = None if row.summary is None else row.summary.spreads
        ours = ("–" if spreads is None else str(spreads[name]) for name in test.measures)
        theirs = (_published_spread(row.variant.published, name) for name in test.measures if has_thesis)
        rows.append([*row.variant.cells, *ours, *theirs])
    return markdown_table(rows, len(experiment.heads))


def _published_spread(published: Published, name: str) -> str:
    if name not in published.spread:
        return ""
    mean, deviation = published.spread[name]
    return f"{mean:.3f} ± {deviation:.3f}"


_OF_TRAINING: tuple[Column, ...] = ("seconds", "memory", "parameters")
"""Costs of the training, which reads other posts than are searched."""


def _costs(findings: Findings) -> str:
    experiment = findings.setting.graphs
    columns = [
        (column, any(column in variant.published.costs for variant in experiment.variants))
        for column in experiment.columns
    ]
    head = list(experiment.heads)
    for column, is_published in columns:
        name = COLUMNS[column][0]
        searched = experiment.trained if column in _OF_TRAINING else experiment.searched
        head += [name, *([published_head("thesis", name, searched)] if is_published else [])]
    rows = [head]
    for variant in experiment.variants:
        cells = [*variant.cells]
        for column, is_published in columns:
            cells.append(_cost(findings.costs[variant.name].get(column), column))
            if is_published:
                value = variant.published.costs.get(column)
                cells.append("" if value is None else format(value, COLUMNS[column][1]))
        rows.append(cells)
    return markdown_table(rows, len(experiment.heads))


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
