"""Heatmaps of virtual nodes as SVG (thesis, Figure 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mathamr.core.drawing import document, shape, text
from mathamr.index.engines.engine import open_engine
from mathamr.posts.level import Level
from mathamr.systems.mathamrplus.system import PARTS
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.experiment import Variant
from mathamr_lab.experiments.graphplan import GraphPlan
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.vectors import TOPICS

PICTURE = "heatmaps.svg"
LETTERS = {Level.FORMULA: "F", Level.SENTENCE: "S", Level.DOCUMENT: "D"}
MOST_PANELS = 6
READABLE = range(3, 31)
"""The numbers of virtual nodes that a heatmap can show with labels."""
_CELL, _MARGIN = 13.0, 44.0


def draw(plan: GraphPlan, folder: Path) -> list[str]:
    """Draw the cosines between the virtual nodes of a topic and of its best answer, a panel a model; return the names of the files."""
    models = [each for each in _models(plan) if (each[1] / TOPICS).exists()][:MOST_PANELS]
    pair = _pair(plan, [index for _, index in models])
    if pair is None:
        return []
    topic, answer = pair
    panels: list[str] = []
    below, widest = 40.0, 0.0
    for label, index in models:
        query, post = _parts(index / TOPICS, [topic]), _parts(index / EXACT, [answer])
        if topic in query and answer in post:
            panels += _panel(label, query[topic], post[answer], below)
            below += _MARGIN + 24 + _CELL * len(query[topic])
            widest = max(widest, _MARGIN + _CELL * len(post[answer]))
    said = f"virtual nodes of topic {topic} (down) and of post {answer} (across); dots: the best match of each row"
    title = text(8, 20, said, 12, "#333333")
    background = shape("rect", width="100%", height="100%", fill="#ffffff")
    picture = document(max(widest + 20, 7.0 * len(said)), below, said, background, title, *panels)
    (folder / PICTURE).write_text(picture, encoding="utf-8")
    return [PICTURE]


def _panel(label: str, query: Vectors, post: Vectors, top: float) -> Iterator[str]:
    """Yield the shapes of a heatmap: blue cells for negative cosines, red ones for positive."""
    cosines = query.vectors @ post.vectors.T
    yield text(8, top, label, 11, "#333333")
    for names, is_row in ((list(_names(query)), True), (list(_names(post)), False)):
        for place, name in enumerate(names if len(names) in READABLE else ()):
            along = _MARGIN + _CELL * place
            x, y = (20.0, top + along) if is_row else (along, top + _MARGIN - 14)
            yield text(x, y, name, 7, "#555555")
    for row, values in enumerate(cosines):
        best = int(values.argmax())
        for column, value in enumerate(values):
            x, y = _MARGIN + _CELL * column, top + _MARGIN - 10 + _CELL * row
            fade = round(255 * (1 - min(1.0, abs(float(value)))))
            colour = f"#ff{fade:02x}{fade:02x}" if value > 0 else f"#{fade:02x}{fade:02x}ff"
            yield shape("rect", x=x, y=y, width=_CELL, height=_CELL, fill=colour)
            if column == best:
                yield shape("circle", cx=x + _CELL / 2, cy=y + _CELL / 2, r=2, fill="#000000")


def _models(plan: GraphPlan) -> list[tuple[str, Path]]:
    """Return the distinct models: the cells that all variants of one share, and the folder of its vectors."""
    found: dict[Path, list[Variant]] = {}
    for variant in plan.setting.graphs.variants:
        found.setdefault(plan.index_folder(variant, 0), []).append(variant)
    return [(_shared_cells(variants), folder) for folder, variants in found.items()]


def _shared_cells(variants: Sequence[Variant]) -> str:
    """Return the cells that all of them share; those of the first if there are none."""
    rows = zip(*(variant.cells for variant in variants), strict=True)
    shared = [cells[0] for cells in rows if len(set(cells)) == 1]
    return ", ".join(shared or variants[0].cells)


def _parts(folder: Path, ids: Sequence[str]) -> dict[str, Vectors]:
    """Return the vectors of the parts of posts."""
    engine = open_engine(folder, read_only=True)
    try:
        return engine[PARTS].fetch(ids)
    finally:
        engine.close()


def _names(vectors: Vectors) -> Iterator[str]:
    """Yield F1, F2, … for formulas, S1, … for sentences, D for the document."""
    counts: dict[Level, int] = {}
    for number in vectors.levels:
        level = Level(int(number))
        counts[level] = counts.get(level, 0) + 1
        yield LETTERS[level] + ("" if level == Level.DOCUMENT else str(counts[level]))


def _pair(plan: GraphPlan, indexes: Sequence[Path]) -> tuple[str, str] | None:
    """Choose the (topic, answer) to show: the first topic with an answer of the best grade, both of a readable size."""
    tests = [test for test in plan.setting.tests if test.task == "answers"]
    if not indexes or not tests:
        return None
    topics = _parts(indexes[0] / TOPICS, [tests[0].key(topic) for topic in tests[0].topics])
    graded = dict.fromkeys(item for grades in tests[0].qrels.grades.values() for item in grades)
    posts = _parts(indexes[0] / EXACT, list(graded))
    first: tuple[str, str] | None = None
    for topic in tests[0].topics:
        grades = tests[0].qrels.grades[topic.id]
        best = max(grades.values())
        for item in sorted(item for item, grade in grades.items() if grade == best and item in posts):
            pair = (tests[0].key(topic), item)
            if pair[0] in topics:
                first = first or pair
                if len(topics[pair[0]]) in READABLE and len(posts[item]) in READABLE:
                    return pair
    return first
