"""Strata: the means of runs over groups of topics, such as those with simple and with complex formulas (MathAMR, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.columnfile import FormatError, read_rows
from mathamr.evaluation.comparison import Comparison, compare
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.topics import Topic
from mathamr.formulas.trees import trees_of

FORMULAS = "formulas"
"""The name of strata by the size of formulas, instead of a file."""
THIRDS = ("low", "medium", "high")


def read_strata(path: Path) -> dict[str, str]:
    """Read a file with a topic and its stratum on each line; return the stratum of every topic."""
    found: dict[str, str] = {}
    for row in read_rows(path):
        if len(row.columns) != 2:
            raise FormatError(path, row.line, f"expected a topic and its stratum, found {row}")
        if found.setdefault(row.columns[0], row.columns[1]) != row.columns[1]:
            raise FormatError(path, row.line, f"the topic {row.columns[0]!r} has two strata; give it one")
    return found


def by_formulas(topics: Iterable[Topic]) -> dict[str, str]:
    """Return the third of every topic by the nodes of an operator tree: that of its query formula, or its largest."""
    sizes = {topic.id: _size(topic) for topic in topics}
    ranked = sorted(sizes, key=lambda topic: sizes[topic])
    return {topic: THIRDS[3 * place // len(ranked)] for place, topic in enumerate(ranked)}


def _size(topic: Topic) -> int:
    formulas = topic.post.formulas if topic.formula is None else (topic.formula,)
    trees = (trees_of(formula, topic.post.macros)[0][0] for formula in formulas)
    return max((len(opt) for opt in trees if opt is not None), default=0)


def by_stratum(comparison: Comparison, strata: Mapping[str, str]) -> Iterator[tuple[str, Comparison]]:
    """Yield the scores of every stratum that has a judged topic, thirds in their order and others as they are listed."""
    order = dict.fromkeys([*(each for each in THIRDS if each in strata.values()), *strata.values()])
    groups = {name: [t for t in comparison.topics if strata.get(t) == name] for name in order}
    if not any(groups.values()):
        raise MathAMRError("none of the judged topics has a stratum; name the topics as the judgments do")
    for name, topics in groups.items():
        if topics:
            yield name, compare([_of_topics(scores, topics) for scores in comparison.scores])


def _of_topics(scores: Scores, topics: Iterable[str]) -> Scores:
    chosen = list(topics)
    return Scores(
        scores.run, {name: {topic: each[topic] for topic in chosen} for name, each in scores.values.items()}
    )
