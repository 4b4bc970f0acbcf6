"""Heatmaps of virtual nodes (thesis, Figure 4.1), as `mathamr explain` draws them: a picture for each model of an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mathamr.index.engines.engine import open_engine
from mathamr.posts.level import Level
from mathamr.search.alignment import LEVEL_NAMES, AlignedPart, Alignment
from mathamr.search.fragment import Fragment
from mathamr.search.heatmap import save_heatmap
from mathamr.systems.mathamrplus.system import PARTS
from mathamr.systems.vectors import Vectors
from mathamr_lab.experiments.collection import TestSet
from mathamr_lab.experiments.setting import EXACT
from mathamr_lab.experiments.vectors import TOPICS

MOST_PICTURES = 6
READABLE = range(3, 31)
"""The numbers of virtual nodes that a heatmap shows well."""


def draw(tests: Sequence[TestSet], models: Sequence[tuple[str, Path]], folder: Path) -> list[str]:
    """Draw the cosines between the virtual nodes of a topic and of its best answer, for the first models; return the names of the files.

    A model is given by the name of its variant and the folder of its vectors; one without vectors yet is left out.
    """
    known = [(name, index) for name, index in models if (index / TOPICS).exists()][:MOST_PICTURES]
    pair = _pair(tests, known[0][1]) if known else None
    names = []
    for name, index in known if pair is not None else ():
        topic, answer = pair or ("", "")
        query, post = _parts(index / TOPICS, [topic]), _parts(index / EXACT, [answer])
        if topic in query and answer in post:
            cosines = query[topic].vectors @ post[answer].vectors.T
            rows, columns = (tuple(_named(each)) for each in (query[topic], post[answer]))
            names.append(f"heatmap-{name}.svg")
            save_heatmap(
                Alignment(f"{answer}, topic {topic}", "", rows, columns, cosines), folder / names[-1]
            )
    return names


def _parts(folder: Path, ids: Sequence[str]) -> dict[str, Vectors]:
    """Return the vectors of the parts of posts."""
    engine = open_engine(folder, read_only=True)
    try:
        return engine[PARTS].fetch(ids)
    finally:
        engine.close()


def _named(vectors: Vectors) -> Iterator[AlignedPart]:
    """Yield F1, F2, … for formulas, S1, … for sentences, D for the document."""
    counts: dict[Level, int] = {}
    for number in vectors.levels:
        level = Level(int(number))
        counts[level] = counts.get(level, 0) + 1
        name = level.name[0] + ("" if level == Level.DOCUMENT else str(counts[level]))
        yield AlignedPart(LEVEL_NAMES[level], name, (Fragment("text", name),))


def _pair(tests: Sequence[TestSet], index: Path) -> tuple[str, str] | None:
    """Choose the (topic, answer) to show: the first topic with an answer of the best grade, both of a readable size."""
    test = next(test for test in tests if test.task == "answers")
    topics = _parts(index / TOPICS, [test.key(topic) for topic in test.topics])
    posts = _parts(index / EXACT, [item for grades in test.qrels.grades.values() for item in grades])
    pairs = [
        (test.key(topic), item)
        for topic in test.topics
        for grades in [test.qrels.grades[topic.id]]
        for item in sorted(item for item, grade in grades.items() if grade == max(grades.values()))
        if test.key(topic) in topics and item in posts
    ]
    readable = (
        pair for pair in pairs if len(topics[pair[0]]) in READABLE and len(posts[pair[1]]) in READABLE
    )
    return next(readable, pairs[0] if pairs else None)
