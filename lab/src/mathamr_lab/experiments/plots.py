"""Heatmaps of virtual nodes, as PNG and SVG (thesis, Figure 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.index.engines.engine import open_engine
from mathamr.posts.level import Level
from mathamr.systems.mathamrplus.system import PARTS
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.experiment import Variant
from mathamr_lab.experiments.graphplan import GraphPlan
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.vectors import TOPICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LETTERS = {Level.FORMULA: "F", Level.SENTENCE: "S", Level.DOCUMENT: "D"}
MOST_PANELS = 6
READABLE = range(3, 31)
"""The numbers of virtual nodes that a heatmap can show with labels."""


def draw(plan: GraphPlan, folder: Path) -> list[str]:
    """Draw the heatmaps, if there are vectors, and return the names of the PNG files."""
    figure = _heatmaps(plan)
    if figure is None:
        return []
    for ending in ("png", "svg"):
        # Without a date, so that equal findings give equal files.
        figure.savefig(
            folder / f"heatmaps.{ending}", dpi=110, metadata={"Date": None} if ending == "svg" else {}
        )
    return ["heatmaps.png"]


@dataclass(frozen=True)
class _Model:
    """A distinct model, under the name that its variants share."""

    label: str
    index: Path


def _models(plan: GraphPlan) -> list[_Model]:
    found: dict[Path, _Model] = {}
    for variant in plan.setting.graphs.variants:
        folder = plan.index_folder(variant, 0)
        if folder not in found:
            sharing = [each for each in plan.setting.graphs.variants if plan.index_folder(each, 0) == folder]
            found[folder] = _Model(_shared_cells(sharing), folder)
    return list(found.values())


def _shared_cells(variants: Sequence[Variant]) -> str:
    """Return the cells that all of them share; those of the first if there are none."""
    rows = zip(*(variant.cells for variant in variants), strict=True)
    shared = [cells[0] for cells in rows if len(set(cells)) == 1]
    return ", ".join(shared or variants[0].cells)


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
    """Return the vectors of the parts of posts."""
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
    """Choose the (topic, answer) to show: the first topic with an answer of the best grade, both of a readable size."""
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
