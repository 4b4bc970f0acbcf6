"""`Run`: the ranking of a system for each topic, in the file formats of TREC and ARQMath."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mathamr.core.errors import MathAMRError
from mathamr.core.frames import data_frame
from mathamr.evaluation.columnfile import FormatError, Row, header_names, header_places, read_rows
from mathamr.posts.inputs import bare_name

if TYPE_CHECKING:
    from pandas import DataFrame

DEPTH = 1000
"""ARQMath's limit of results per topic, for runs that are written and for measures."""

_TREC = "topic Q0 id rank score tag"
_EXPECTED = (
    f"expected the 6 columns of TREC ({_TREC}), or those of ARQMath: "
    "5 (topic post rank score run) or 6 (topic formula post rank score run)"
)
_LAYOUTS = {"trec": (0, 2, 3, 4), "answers": (0, 1, 2, 3), "formulas": (0, 1, 3, 4)}
_WIDTHS = {"trec": 6, "answers": 5, "formulas": 6}
_HEADER = {
    "topic": ("topic", "topicid", "queryid", "query", "qid"),
    "id": ("visualid", "formulaid", "postid", "answerid", "docid", "docno", "id"),
    "rank": ("rank",),
    "score": ("score", "sim", "similarity"),
}


class RunHit(NamedTuple):
    """One result: an item and its score."""

    id: str
    score: float


class _Result(NamedTuple):
    line: int
    topic: str
    hit: RunHit
    rank: float


@dataclass(frozen=True)
class Run:
    """The hits of a system for each topic, best first.

    `disordered` counts the topics of a file whose ranks contradict the scores.
    """

    name: str
    rankings: Mapping[str, tuple[RunHit, ...]]
    disordered: int = field(default=0, compare=False)

    @classmethod
    def of(cls, name: str, scores: Mapping[str, Iterable[tuple[str, float]]]) -> Run:
        """Return a run from scores in any order.

        >>> [hit.id for hit in Run.of("mine", {"A.1": [("7", 0.5), ("9", 2.0), ("8", 0.5)]}).rankings["A.1"]]
        ['9', '8', '7']
        """
        rankings: dict[str, tuple[RunHit, ...]] = {}
        for topic, found in scores.items():
            hits = [RunHit(item, float(score)) for item, score in found]
            _check(name, topic, hits)
            rankings[topic] = ordered(hits)
        return cls(name, rankings)

    def ids(self, topic: str, depth: int = DEPTH) -> list[str]:
        """Return the items of a topic, best first; none if the run lacks the topic."""
        return [hit.id for hit in self.rankings.get(topic, ())[:depth]]

    @property
    def remarks(self) -> list[str]:
        """Remarks on the run's file."""
        if not self.disordered:
            return []
        return [f"{self.name}: the ranks contradict the scores in {self.disordered} topics; the scores count"]

    def to_dataframe(self) -> DataFrame:
        """Return the run as a table of pandas with PyTerrier's columns."""
        rows = (
            {"qid": topic, "docno": hit.id, "score": hit.score, "rank": rank}
            for topic, hits in self.rankings.items()
            for rank, hit in enumerate(hits)
        )
        return data_frame(rows, ("qid", "docno", "score", "rank"))

    def to_scores(self) -> dict[str, dict[str, float]]:
        """Return the scores by topic and item, as ir_measures and ranx take them."""
        return {topic: {hit.id: hit.score for hit in hits} for topic, hits in self.rankings.items()}

    def by_visual_id(self, visual_ids: Mapping[str, str]) -> tuple[Run, int]:
        """Return a run of formulas with each visual id once, at its best rank, and the number of formulas without one.

        ARQMath judges visual ids and leaves out formulas without one, as its own script does.
        """
        unknown = 0
        rankings: dict[str, tuple[RunHit, ...]] = {}
        for topic, hits in self.rankings.items():
            best: dict[str, RunHit] = {}
            for hit in hits:
                visual = visual_ids.get(hit.id)
                if visual is None:
                    unknown += 1
                elif visual not in best:
                    best[visual] = RunHit(visual, hit.score)
            rankings[topic] = ordered(best.values())
        return Run(self.name, rankings, self.disordered), unknown


def ordered(hits: Iterable[RunHit]) -> tuple[RunHit, ...]:
    """Return hits in the order of trec_eval: by score, and among equal scores the larger id first."""
    return tuple(sorted(hits, key=lambda hit: (hit.score, hit.id), reverse=True))


def read_run(path: Path | str, name: str | None = None) -> Run:
    """Read a run file; its format is detected by the number of columns, their values, or a header.

    Results are ordered by score, not by rank. The run is named after the file unless `name` is given.
    """
    path = Path(path)
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise FormatError(path, None, f"no results; {_EXPECTED}")
    names = header_names(first)
    if names is None:
        results = _without_header(path, [first, *rows])
    else:
        places = header_places(path, first, names, _HEADER)
        results = [_result(path, row, places, len(names)) for row in rows]
    found: dict[str, dict[str, _Result]] = {}
    for result in results:
        known = found.setdefault(result.topic, {})
        if (before := known.setdefault(result.hit.id, result)) is not result:
            raise FormatError(
                path,
                result.line,
                f"{result.hit.id!r} is ranked twice for topic {result.topic!r} (before in line {before.line}); "
                "a run has each item once",
            )
    rankings = {topic: ordered(result.hit for result in known.values()) for topic, known in found.items()}
    disordered = sum(_contradicts(list(known.values())) for known in found.values())
    return Run(name or Path(bare_name(path)).stem, rankings, disordered)


def write_run(run: Run, path: Path | str, depth: int = DEPTH) -> None:
    """Write the run in TREC's six columns, with at most `depth` results per topic."""
    write_lines(run_lines(run, depth), path)


def write_lines(lines: Iterable[str], path: Path | str) -> None:
    """Write the lines of a run to a file; `-` is standard output."""
    text = "".join(lines)
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"{path}: the run cannot be written ({error.strerror or error})") from error


def is_column(name: str) -> bool:
    r"""Return True if a run file can hold the id of a topic or result.

    >>> is_column("limits of a sum.md"), is_column("two\nlines"), is_column(" x")
    (True, False, False)
    """
    return bool(name) and name == name.strip() and not any(each in name for each in "\t\r\n\0")


def run_lines(run: Run, depth: int = DEPTH) -> Iterator[str]:
    """Yield the lines of a TREC run file; its columns are separated by tabs if an id has spaces."""
    tag = "_".join(run.name.split()) or "run"
    names = (
        name for topic, hits in run.rankings.items() for name in (topic, *(hit.id for hit in hits[:depth]))
    )
    gap = "\t" if any(len(name.split()) > 1 for name in names) else " "
    for topic, hits in run.rankings.items():
        for rank, hit in enumerate(hits[:depth], 1):
            yield gap.join((topic, "Q0", hit.id, str(rank), repr(hit.score), tag)) + "\n"


def check_once(specs: Iterable[str]) -> None:
    """Raise an error if a run appears twice."""
    for spec, count in Counter(specs).items():
        if count > 1:
            raise MathAMRError(f"the run {spec} appears twice")


def named_apart(runs: Sequence[Run], specs: Sequence[str]) -> list[Run]:
    """Name runs by their paths if they share a name."""
    names = Counter(run.name for run in runs)
    return [
        replace(run, name=spec) if names[run.name] > 1 else run for run, spec in zip(runs, specs, strict=True)
    ]


def few(topics: Sequence[str]) -> str:
    """Return the first three topics, for a message.

    >>> few(["A.1", "A.2", "A.3", "A.4"])
    'A.1, A.2, A.3, …'
    """
    return ", ".join(topics[:3]) + (", …" if len(topics) > 3 else "")


def _check(name: str, topic: str, hits: Sequence[RunHit]) -> None:
    seen: set[str] = set()
    for hit in hits:
        if hit.id in seen:
            raise MathAMRError(f"run {name!r}: {hit.id!r} is ranked twice for topic {topic!r}")
        if not math.isfinite(hit.score):
            raise MathAMRError(f"run {name!r}: the score of {hit.id!r} for topic {topic!r} is {hit.score}")
        if not (is_column(hit.id) and is_column(topic)):
            raise MathAMRError(
                f"run {name!r}: a blank id or topic, or one with a tab or line break, cannot be written: {hit.id[:100]!r},"
                f" {topic[:100]!r}"
            )
        seen.add(hit.id)


def _without_header(path: Path, rows: list[Row]) -> list[_Result]:
    """Return the results of a file without header; in TREC's format, unlike ARQMath's, the second column is constant."""
    width = len(rows[0].columns)
    if width == 5:
        layout = "answers"
    elif width == 6:
        second = {row.columns[1] for row in rows if len(row.columns) == 6}
        same = len(second) == 1 and (len(rows) > 1 or not next(iter(second)).isdigit() or second == {"0"})
        layout = "trec" if same else "formulas"
    else:
        raise FormatError(path, rows[0].line, f"{_EXPECTED}; found {width} columns: {rows[0]}")
    return [_result(path, row, _LAYOUTS[layout], _WIDTHS[layout]) for row in rows]


def _result(path: Path, row: Row, places: Sequence[int], width: int) -> _Result:
    columns = row.columns
    if len(columns) != width:
        raise FormatError(
            path, row.line, f"expected {width} columns, as in the first line; found {len(columns)}: {row}"
        )
    topic, item, rank, score = (columns[place] for place in places)
    if not topic or not item:
        raise FormatError(path, row.line, f"expected a topic and an id, found an empty column: {row}")
    return _Result(
        row.line, topic, RunHit(item, _number(path, row, "score", score)), _number(path, row, "rank", rank)
    )


def _number(path: Path, row: Row, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FormatError(path, row.line, f"expected a number as the {what}, found {text[:40]!r}: {row}")
    return value


def _contradicts(results: list[_Result]) -> bool:
    """Return True if the ranks of a topic put a lower score above a higher one."""
    scores = [result.hit.score for result in sorted(results, key=lambda result: result.rank)]
    return any(below > above for above, below in pairwise(scores))
