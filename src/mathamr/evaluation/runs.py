"""`Run`: what a system ranked for each topic, in TREC's columns or those of ARQMath."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.columnfile import FormatError, Row, header_names, read_rows
from mathamr.posts.inputs import bare_name

DEPTH = 1000
"""How many results a topic may have in a run that is written, and how deep measures look: ARQMath's limit."""

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
    """One result: an item and the score by which it is ranked."""

    id: str
    score: float


class _Result(NamedTuple):
    line: int
    topic: str
    hit: RunHit
    rank: float


@dataclass(frozen=True)
class Run:
    """The results of a system: for each topic its hits, best first.

    `disordered` counts the topics of a file in which the ranks contradict the scores.
    """

    name: str
    rankings: Mapping[str, tuple[RunHit, ...]]
    disordered: int = field(default=0, compare=False)

    @classmethod
    def of(cls, name: str, scores: Mapping[str, Iterable[tuple[str, float]]]) -> Run:
        """A run of the scores that a system gave, in any order.

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
        """The items of a topic, best first; none where the run lacks the topic."""
        return [hit.id for hit in self.rankings.get(topic, ())[:depth]]

    @property
    def remarks(self) -> list[str]:
        """What a user of the run should know about its file."""
        if not self.disordered:
            return []
        return [f"{self.name}: the ranks contradict the scores in {self.disordered} topics; the scores count"]

    def by_visual_id(self, visual_ids: Mapping[str, str]) -> tuple[Run, int]:
        """A run of formulas with each look only once, at its best rank; and how many formulas have no visual id.

        ARQMath judges looks: a formula without a visual id is left out, as its own script does.
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
    """Hits in the order in which trec_eval sees them: by score, and among equal scores the larger id first."""
    return tuple(sorted(hits, key=lambda hit: (hit.score, hit.id), reverse=True))


def read_run(path: Path | str, name: str | None = None) -> Run:
    """A run file; its columns are told by their number, by what stands in them, or by a header.

    The scores count, not the ranks. The run is named after the file unless `name` is given.
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
        places = _places(path, first, names)
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
    """The run in TREC's six columns, with at most `depth` results a topic."""
    write_lines(run_lines(run, depth), path)


def write_lines(lines: Iterable[str], path: Path | str) -> None:
    """The lines of a run into a file; `-` is standard output."""
    text = "".join(lines)
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"{path}: the run cannot be written ({error.strerror or error})") from error


def run_lines(run: Run, depth: int = DEPTH) -> Iterator[str]:
    """The lines of a TREC run file."""
    tag = "_".join(run.name.split()) or "run"
    for topic, hits in run.rankings.items():
        for rank, hit in enumerate(hits[:depth], 1):
            yield f"{topic} Q0 {hit.id} {rank} {hit.score!r} {tag}\n"


def check_once(specs: Iterable[str]) -> None:
    """Refuses a run that is given twice."""
    for spec, count in Counter(specs).items():
        if count > 1:
            raise MathAMRError(f"the run {spec} is given twice")


def named_apart(runs: Sequence[Run], specs: Sequence[str]) -> list[Run]:
    """Runs of the same name are called by their paths instead."""
    names = Counter(run.name for run in runs)
    return [
        replace(run, name=spec) if names[run.name] > 1 else run for run, spec in zip(runs, specs, strict=True)
    ]


def few(topics: Sequence[str]) -> str:
    """The first topics of some, for a message.

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
        if len(hit.id.split()) != 1 or len(topic.split()) != 1:
            raise MathAMRError(
                f"run {name!r}: an id or topic with a space cannot be written: {hit.id!r}, {topic!r}"
            )
        seen.add(hit.id)


def _without_header(path: Path, rows: list[Row]) -> list[_Result]:
    """The results of a file without header: TREC's second column always says the same, a formula's id does not."""
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


def _places(path: Path, row: Row, names: tuple[str, ...]) -> tuple[int, int, int, int]:
    found: list[int] = []
    for meaning, known in _HEADER.items():
        place = next((names.index(name) for name in known if name in names), None)
        if place is None:
            raise FormatError(path, row.line, f"the header {row} names no {meaning} ({', '.join(known)})")
        found.append(place)
    return found[0], found[1], found[2], found[3]


def _result(path: Path, row: Row, places: tuple[int, int, int, int], width: int) -> _Result:
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
    """Whether a topic's ranks put a lower score above a higher one."""
    scores = [result.hit.score for result in sorted(results, key=lambda result: result.rank)]
    return any(below > above for above, below in pairwise(scores))
