"""The test sets of studies, and the small statistics that all of their tables print."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import paired_t_test
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.systems.ranking import QueryKind, Task

KNOWN = ["MRR@10", "recall@10", "recall@100"]
JUDGED = ["Bpref", "MAP'", "nDCG'", "P'@10"]
YEARS = ("2020", "2021")


@dataclass(frozen=True)
class TopicSet:
    """Topics with judgments over one collection."""

    name: str
    collection: str
    task: Task
    topics: tuple[Topic, ...]
    qrels: Qrels
    kind: QueryKind = "question"

    @property
    def measures(self) -> list[str]:
        """The measures to report."""
        return JUDGED if self.name.startswith("task") else KNOWN

    @property
    def is_held_out(self) -> bool:
        """True if no weight may be chosen on these topics."""
        return self.name == "pairs"

    @property
    def chosen_by(self) -> list[str]:
        """The measures whose sum decides which weights are best."""
        return JUDGED[:2] if self.name.startswith("task") else KNOWN[:1]


def read_topic_files(files: Sequence[tuple[Path, Path]]) -> tuple[list[Topic], Qrels]:
    """Read files of topics and judgments as one set; topics without a relevant item are left out."""
    grades: dict[str, Mapping[str, int]] = {}
    topics: list[Topic] = []
    for topic_file, qrels_file in files:
        judged = read_qrels(qrels_file).with_relevant()
        grades |= judged.grades
        topics += [topic for topic in read_topics(topic_file) if topic.id in judged.grades]
    return topics, Qrels(grades)


def mini_files(data: Path, *names: str) -> list[tuple[Path, Path]]:
    """The files of topics and judgments of arqmath-mini by name."""
    mini = data / "arqmath-mini"
    return [(mini / "topics" / f"{name}.xml", mini / "qrels" / f"{name}.qrels") for name in names]


def topic_sets(data: Path) -> list[TopicSet]:
    """The judged topics and known items of arqmath-mini and of the pairs."""
    pairs = data / "pairs"
    named: list[tuple[str, str, Task, list[tuple[Path, Path]]]] = [
        ("task1", "arqmath", "answers", mini_files(data, *(f"task1-{year}" for year in YEARS))),
        ("task2", "arqmath", "formulas", mini_files(data, *(f"task2-{year}" for year in YEARS))),
        ("known-items", "arqmath", "answers", mini_files(data, "known-items")),
        ("pairs", "pairs", "answers", [(pairs / "known-items.xml", pairs / "known-items.qrels")]),
    ]
    found = []
    for name, collection, task, files in named:
        topics, qrels = read_topic_files(files)
        found.append(TopicSet(name, collection, task, tuple(topics), qrels))
    return found


def environment(name: str) -> str:
    """Returns the value of an environment variable that a study requires."""
    if not os.environ.get(name):
        raise MathAMRError(
            f"this study needs the environment variable {name}; its module's docstring says for what"
        )
    return os.environ[name]


def mean_and_error(found: Scores, measure: str) -> str:
    """The mean over topics and its standard error."""
    values = list(found.values[measure].values())
    return f"{found.mean(measure):.3f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.3f}"


def p_value(found: Mapping[str, float], other: Mapping[str, float]) -> str:
    """The p-value of the paired t-test over topics, not corrected for the number of tests."""
    test = paired_t_test([found[topic] for topic in other], list(other.values()))
    return "–" if test.p_value is None else f"{test.p_value:.1g}"
