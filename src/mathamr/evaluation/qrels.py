"""`Qrels`: relevance judgments by topic, in the formats of TREC and ARQMath."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.evaluation.columnfile import FormatError, Row, header_names, header_places, read_rows

RELEVANT = 2
"""The lowest grade that binary measures count as relevant: ARQMath's "medium" (its grades go from 0 to 3)."""

PARTIAL, FULL = 1, 3
"""NTCIR-12's thresholds: partially relevant from 1, fully relevant from 3 (its grades go from 0 to 4)."""

_EXPECTED = "expected 4 columns: topic, iteration, id, grade"
_GRADE = re.compile(r"[+-]?[0-9]{1,6}(?:\.0+)?")
_HEADER = {
    "topic": ("topic", "topicid", "queryid", "query", "qid", "topicnumber"),
    "id": ("visualid", "postid", "answerid", "docid", "docno", "formulaid", "id"),
    "grade": ("grade", "relevance", "rel", "score", "rating", "judgment", "label"),
}


@dataclass(frozen=True)
class Qrels:
    """Grades by topic and item; an item without a grade is unjudged.

    `unjudged` counts the lines of a file with a negative grade, which marks unjudged items in TREC.
    """

    grades: Mapping[str, Mapping[str, int]]
    unjudged: int = field(default=0, compare=False)

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics, in the order of the file."""
        return tuple(self.grades)

    @property
    def judgments(self) -> int:
        """The number of judged items over all topics."""
        return sum(map(len, self.grades.values()))

    def relevant(self, topic: str, threshold: int = RELEVANT) -> frozenset[str]:
        """Return the items of a topic with at least this grade."""
        return frozenset(item for item, grade in self.grades.get(topic, {}).items() if grade >= threshold)

    def among(self, items: Collection[str]) -> Qrels:
        """Return the judgments of these items; a topic that has none left stays, without judgments.

        >>> Qrels({"A.1": {"7": 2, "8": 0}}).among({"7"}).grades
        {'A.1': {'7': 2}}
        """
        return Qrels(
            {
                topic: {item: grade for item, grade in grades.items() if item in items}
                for topic, grades in self.grades.items()
            }
        )

    def with_relevant(self, threshold: int = RELEVANT) -> Qrels:
        """Return the judgments of the topics that have a relevant item."""
        return Qrels(
            {topic: grades for topic, grades in self.grades.items() if self.relevant(topic, threshold)}
        )


def read_qrels(path: Path | str) -> Qrels:
    """Read judgments in TREC's four columns (topic, iteration, id, grade), or in the columns that a header names.

    In ARQMath's files the id is that of a post in Task 1 and a visual id in Task 2.
    """
    path = Path(path)
    grades: dict[str, dict[str, int]] = {}
    unjudged = 0
    places: tuple[int, ...] | None = None
    width = 0
    for row in read_rows(path):
        if places is None:
            names = header_names(row)
            places = (0, 2, 3) if names is None else header_places(path, row, names, _HEADER)
            width = 4 if names is None else len(names)
            if names is not None:
                continue
        topic, item, grade = _judgment(path, row, places, width)
        judged = grades.setdefault(topic, {})
        if item in judged:
            raise FormatError(path, row.line, f"{item!r} was already judged for topic {topic!r}")
        if grade < 0:
            unjudged += 1
        else:
            judged[item] = grade
    if not grades:
        raise FormatError(path, None, f"no judgments; {_EXPECTED}")
    return Qrels(grades, unjudged)


def write_qrels(qrels: Qrels, path: Path | str) -> None:
    """Write the judgments in TREC's format, one per line."""
    lines = (
        f"{topic} 0 {item} {grade}\n"
        for topic, grades in qrels.grades.items()
        for item, grade in grades.items()
    )
    Path(path).write_text("".join(lines), encoding="utf-8")


def _judgment(path: Path, row: Row, places: tuple[int, ...], width: int) -> tuple[str, str, int]:
    if len(row.columns) != width:
        expected = _EXPECTED if width == 4 else f"expected {width} columns, as in the header"
        raise FormatError(path, row.line, f"{expected}; found {len(row.columns)}: {row}")
    topic, item, grade = (row.columns[place] for place in places)
    if not _GRADE.fullmatch(grade):
        raise FormatError(path, row.line, f"expected a whole number as the grade, found {grade!r}")
    if not topic or not item:
        raise FormatError(path, row.line, f"expected a topic and an id, found an empty column: {row}")
    return topic, item, int(float(grade))
