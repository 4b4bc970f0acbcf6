"""The test sets of studies, and the environment variables that studies require."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.topics import Topic, read_topics

KNOWN = ["MRR@10", "recall@10", "recall@100"]
YEARS = ("2020", "2021")


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
    """Return the files of topics and judgments of arqmath-mini by name."""
    mini = data / "arqmath-mini"
    return [(mini / "topics" / f"{name}.xml", mini / "qrels" / f"{name}.qrels") for name in names]


def environment(name: str) -> str:
    """Return the value of an environment variable that a study requires."""
    if not os.environ.get(name):
        raise MathAMRError(
            f"this study needs the environment variable {name}; its module's docstring says for what"
        )
    return os.environ[name]
