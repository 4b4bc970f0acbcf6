"""An experiment's pictures, each as PNG and SVG: bars with intervals, loss curves, heatmaps of virtual nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.evaluation.significance import mean_interval
from mathamr.index.engines.engine import open_engine
from mathamr.posts.level import Level
from mathamr.systems.mathamrplus.system import PARTS
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.experiment import GraphExperiment, Variant
from mathamr_lab.experiments.findings import Findings, TestFindings, VariantFindings
from mathamr_lab.experiments.graphplan import GraphPlan
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.vectors import TOPICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c6d31", "#666666")
"""Colours that are distinguishable with any kind of colour vision (Okabe and Ito)."""
LETTERS = {Level.FORMULA: "F", Level.SENTENCE: "S", Level.DOCUMENT: "D"}
MOST_PANELS = 6
READABLE = range(3, 31)
"""The numbers of virtual nodes that a heatmap can show with labels."""


def draw(plan: GraphPlan, findings: Findings, folder: Path) -> list[str]:
    """Draws the available pictures and returns the names of the PNG files."""
    figures = {"bars": _bars(findings), "curves": _curves(plan), "heatmaps": _heatmaps(plan)}
    names = []
    for name, figure in figures.items():
        if figure is not None:
            for ending in ("png", "svg"):
                figure.savefig(folder / f"{name}.{ending}", dpi=110, metadata=_undated(ending))
            names.append(f"{name}.png")
    return names


def _undated(ending: str) -> dict[str, None]:
    """Leaves out the date, so that equal findings give equal files."""
    return {"Date": None} if ending == "svg" else {}


def _bars(findings: Findings) -> Figure | None:
    """Draws a panel per test set, with a bar per measure and variant."""
    from matplotlib.figure import Figure

    tests = [test for test in findings.tests if any(row.scores for row in test.rows)]
    if not tests:
        return None
    several = findings.seeds > 1
    count = len(findings.setting.graphs.variants)
    figure = Figure(figsize=(9, 3.0 * len(tests) + 0.3 * ((count + 2) // 3) + 0.5), layout="constrained")
    panels = figure.subplots(len(tests), 1, squeeze=False)[:, 0]
    for panel, test in zip(panels, tests, strict=True):
        rows = _side_by_side(findings.setting.graphs, [row for row in test.rows if row.scores])
        width = 0.8 / len(rows)
        for place, row in enumerate(rows):
            heights, errors = _heights(row, test, several)
            at = np.arange(len(test.measures)) + (place - (len(rows) - 1) / 2) * width
            panel.bar(
                at,
                heights,
                0.92 * width,
                yerr=errors,
                color=colour(findings.setting.graphs, row.variant),
                label=", ".join(row.variant.cells),
                error_kw={"elinewidth": 1, "capsize": 2},
            )
        panel.set_xticks(np.arange(len(test.measures)), test.measures)
        panel.set_title(f"{test.test.name} ({len(test.test.topics)} topics)", fontsize=10, loc="left")
        panel.set_ylim(bottom=0)
        _plain(panel)
    handles, labels = max(
        (panel.get_legend_handles_labels() for panel in panels), key=lambda both: len(both[1])
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    how = "standard deviation over seeds" if several else "95 % interval over topics"
    figure.suptitle(
        f"{findings.setting.graphs.title}: {'mean over seeds' if several else 'one seed'}, whiskers: {how}",
        fontsize=11,
    )
    return figure


def _heights(row: VariantFindings, test: TestFindings, several: bool) -> tuple[list[float], DoubleArray]:
    heights: list[float] = []
    errors: list[tuple[float, float]] = []
    assert row.summary is not None
    for measure in test.measures:
        spread = row.summary.spreads[measure]
        heights.append(spread.mean)
        interval = mean_interval(list(row.summary.best.values[measure].values()))
        if several or interval is None:
            errors.append((spread.deviation, spread.deviation))
        else:
            errors.append((spread.mean - interval[0], interval[1] - spread.mean))
    return heights, np.array(errors).T


def _side_by_side(experiment: GraphExperiment, rows: list[VariantFindings]) -> list[VariantFindings]:
    """Groups variants that share the last cell, if the table sets that cell side by side."""
    if not experiment.pivot:
        return rows
    order = list(dict.fromkeys(row.variant.cells[-1] for row in rows))
    return sorted(rows, key=lambda row: order.index(row.variant.cells[-1]))


def colour(experiment: GraphExperiment, variant: Variant) -> tuple[float, float, float]:
    """Returns a variant's colour; if the last cell is set side by side, a colour for that cell, paler from row to row."""
    from matplotlib.colors import to_rgb

    if not experiment.pivot:
        return to_rgb(COLOURS[experiment.variants.index(variant) % len(COLOURS)])
    firsts, lasts = (
        list(dict.fromkeys(each.cells[place] for each in experiment.variants)) for place in (0, -1)
    )
    pale = 0.75 * firsts.index(variant.cells[0]) / max(1, len(firsts) - 1)
    red, green, blue = to_rgb(COLOURS[lasts.index(variant.cells[-1]) % len(COLOURS)])
    return red + pale * (1 - red), green + pale * (1 - green), blue + pale * (1 - blue)


@dataclass(frozen=True)
class _Model:
    """A distinct model, under the name that its variants share."""

    label: str
    index: Path
    histories: tuple[list[dict[str, Any]], ...]
    curves: tuple[list[list[float]], ...]


def _models(plan: GraphPlan) -> list[_Model]:
    found: dict[Path, _Model] = {}
    seeds = range(plan.setting.seeds)
    for variant in plan.setting.graphs.variants:
        folder = plan.index_folder(variant, 0)
        stages = [
            next(
                (each.train for each in plan.measured if each.variant is variant and each.seed == seed), None
            )
            for seed in seeds
        ]
        marks = [mark for stage in stages if stage is not None and (mark := stage.mark()) is not None]
        if folder not in found and marks:
            found[folder] = _Model(
                _shared_cells(
                    [each for each in plan.setting.graphs.variants if plan.index_folder(each, 0) == folder]
                ),
                folder,
                tuple(mark.figures["history"] for mark in marks),
                tuple(mark.figures["curve"] for mark in marks),
            )
    return list(found.values())


def _shared_cells(variants: Sequence[Variant]) -> str:
    """Returns the cells that all of them share; those of the first if there are none."""
    rows = zip(*(variant.cells for variant in variants), strict=True)
    shared = [cells[0] for cells in rows if len(set(cells)) == 1]
    return ", ".join(shared or variants[0].cells)


def _curves(plan: GraphPlan) -> Figure | None:
    """Training and validation loss of every model, the mean over its seeds."""
    from matplotlib.figure import Figure

    models = _models(plan)
    if not models:
        return None
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, model in enumerate(models):
        colour = COLOURS[place % len(COLOURS)]
        left.plot(
            *_mean_line([whole_points(curve) for curve in model.curves]),
            color=colour,
            label=model.label,
            linewidth=1.2,
        )
        points = [
            [[row["step"], row["validation"]] for row in history if row["validation"] is not None]
            for history in model.histories
        ]
        for each in points:
            right.plot(*_mean_line([each]), color=colour, linewidth=0.6, alpha=0.4)
        right.plot(*_mean_line(points), color=colour, marker="o", markersize=3, linewidth=1.4)
    left.set_title("training loss", fontsize=10, loc="left")
    right.set_title("validation loss", fontsize=10, loc="left")
    for panel in (left, right):
        panel.set_xlabel("steps")
        _plain(panel)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return figure


def whole_points(curve: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    """Removes the points of few steps from a curve: an epoch ends with one, often of a small batch with a low loss.

    >>> whole_points([(10, 3.0), (20, 2.9), (22, 1.1), (32, 2.8)])
    [(10, 3.0), (20, 2.9), (32, 2.8)]
    """
    steps = np.diff([point[0] for point in curve], prepend=0.0)
    return [point for point, count in zip(curve, steps, strict=True) if 2 * count > np.median(steps)]


def _mean_line(curves: Sequence[Sequence[Sequence[float]]]) -> tuple[list[float], list[float]]:
    """The mean of curves at the steps that all of them reached."""
    shared = min((len(curve) for curve in curves), default=0)
    if not shared:
        return [], []
    steps = [point[0] for point in curves[0][:shared]]
    return steps, np.mean([[point[1] for point in curve[:shared]] for curve in curves], axis=0).tolist()


def _heatmaps(plan: GraphPlan) -> Figure | None:
    """Cosines between the virtual nodes of a topic and of its best answer, by every model (thesis, Figure 4.1)."""
    from matplotlib.figure import Figure

    models = [model for model in _models(plan) if (model.index / TOPICS).exists()][:MOST_PANELS]
    pair = _pair(plan, models)
    if pair is None:
        return None
    topic, answer = pair
    columns = min(2, len(models))
    lines = (len(models) + columns - 1) // columns
    figure = Figure(figsize=(5.2 * columns, 4.3 * lines), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False)
    image: Any = None
    for panel, model in zip(panels.flat, models, strict=False):
        query, post = _parts(model.index / TOPICS, [topic]), _parts(model.index / EXACT, [answer])
        if topic in query and answer in post:
            image = _heatmap(panel, model.label, query[topic], post[answer])
    for panel in list(panels.flat)[len(models) :]:
        panel.axis("off")
    figure.colorbar(image, ax=panels, shrink=0.6, label="cosine")
    figure.suptitle(
        f"virtual nodes of topic {topic} (down) and of post {answer} (across); dots: the best match of each row",
        fontsize=10,
    )
    return figure


def _parts(folder: Path, ids: Sequence[str]) -> dict[str, Vectors]:
    """The vectors of the parts of posts."""
    engine = open_engine(folder, read_only=True)
    try:
        return engine[PARTS].fetch(ids)
    finally:
        engine.close()


def _heatmap(panel: Any, label: str, query: Vectors, post: Vectors) -> Any:
    cosines = query.vectors @ post.vectors.T
    image = panel.imshow(cosines, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
    panel.plot(cosines.argmax(1), np.arange(len(cosines)), "k.", markersize=5)
    for axis, vectors in ((panel.yaxis, query), (panel.xaxis, post)):
        if len(vectors) in READABLE:
            axis.set_ticks(np.arange(len(vectors)), list(_names(vectors)), fontsize=6)
    panel.set_title(label, fontsize=9, loc="left")
    return image


def _names(vectors: Vectors) -> Iterator[str]:
    """F1, F2, … for formulas, S1, … for sentences, D for the document."""
    counts: dict[Level, int] = {}
    for number in vectors.levels:
        level = Level(int(number))
        counts[level] = counts.get(level, 0) + 1
        yield LETTERS[level] + ("" if level == Level.DOCUMENT else str(counts[level]))


def _pair(plan: GraphPlan, models: Sequence[_Model]) -> tuple[str, str] | None:
    """Chooses the (topic, answer) to show: the first topic with an answer of the best grade, both of a readable size."""
    tests = [test for test in plan.setting.tests if test.task == "answers"]
    if not models or not tests:
        return None
    topics = _parts(models[0].index / TOPICS, [tests[0].key(topic) for topic in tests[0].topics])
    graded = dict.fromkeys(item for grades in tests[0].qrels.grades.values() for item in grades)
    posts = _parts(models[0].index / EXACT, list(graded))
    first: tuple[str, str] | None = None
    for topic in tests[0].topics:
        grades = tests[0].qrels.grades[topic.id]
        for item in sorted(grades, key=lambda item: (-grades[item], item)):
            if item not in posts or grades[item] < max(grades.values()):
                continue
            pair = (tests[0].key(topic), item)
            if pair[0] not in topics:
                continue
            first = first or pair
            if len(topics[pair[0]]) in READABLE and len(posts[item]) in READABLE:
                return pair
    return first


def _plain(panel: Any) -> None:
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(axis="y", linewidth=0.4, alpha=0.5)
    panel.set_axisbelow(True)
    panel.tick_params(labelsize=8)
