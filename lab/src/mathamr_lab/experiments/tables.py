"""Tables of experiments, all by one writer: means and deviations over seeds with intervals over topics, tests, and published figures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mathamr.evaluation.comparison import Comparison, Difference, compare
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import LEVEL, bootstrap_interval
from mathamr.evaluation.table import shown_p
from mathamr_lab.experiments.experiment import FULL

MARKS = ("*", "†", "‡")
"""Marks of a significant difference from the first, the second and the third baseline."""


@dataclass(frozen=True)
class Spread:
    """A figure over seeds: its mean and its sample standard deviation."""

    mean: float
    deviation: float
    seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of one value a seed."""
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), deviation, len(values))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.deviation:.3f}" if self.seeds > 1 else f"{self.mean:.3f}"


@dataclass(frozen=True)
class MeasuredRow:
    """A row of a table: its scores by seed, its published figures, and means `known` from elsewhere."""

    name: str
    seeds: Mapping[int, Scores]
    published: Mapping[str, float | str] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)

    def averaged(self, seeds: Collection[int] = ()) -> Scores:
        """Return the mean for each topic over those of some seeds that it has, or over all."""
        runs = [each for seed, each in self.seeds.items() if seed in seeds] or list(self.seeds.values())
        values = {
            measure: {
                topic: float(np.mean([each.values[measure][topic] for each in runs])) for topic in by_topic
            }
            for measure, by_topic in runs[0].values.items()
        }
        return Scores(self.name, values)

    def spread(self, measure: str, topics: Collection[str] | None = None) -> Spread:
        """Return the mean over some topics or all, and its deviation over seeds."""
        return Spread.of([_mean(each, measure, topics) for each in self.seeds.values()])

    @property
    def best_seed(self) -> int:
        """The seed with the highest mean of the first measure; among equally good ones the smallest."""
        first = next(iter(self.seeds.values())).measures[0]
        return min(self.seeds, key=lambda seed: (-self.seeds[seed].mean(first), seed))


def comparison_table(
    rows: Sequence[MeasuredRow],
    measures: Sequence[str],
    *,
    baselines: Sequence[str] = (),
    baseline_of: Mapping[str, str] | None = None,
    floor: Scores | None = None,
    sets: Mapping[str, Sequence[str]] | None = None,
    list_tests: bool = False,
    source: str = "paper",
    searched: str = FULL,
) -> Iterator[str]:
    """Yield Markdown: a line per row, followed by how it was measured; rows without scores are left out.

    Every row is tested against all `baselines`; with `baseline_of` against its own alone, and the correction counts all
    tests of the table. `sets` are topics with a column of their own, for the first measure. `list_tests` adds a table of the
    tests. `source` has the published figures, and `searched` is what they were measured on.
    """
    found = [row for row in rows if row.seeds or row.known]
    averaged = {row.name: row.averaged() for row in found if row.seeds}
    against = [name for name in dict.fromkeys((baseline_of or {}).values()) or baselines if name in averaged]
    # A table of a paper is corrected for the paper's own comparisons: other rows and measures are not tested.
    of_paper = {row.name for row in found if row.published} or set(averaged)
    # Rows that lack a seed are compared over the seeds that all trained rows have.
    common = set.intersection(*([set(row.seeds) for row in found if len(row.seeds) > 1] or [set()]))
    tested = {row.name: row.averaged(common) for row in found if row.seeds}
    published = [name for name in measures if any(name in row.published for row in found)]

    def chosen(name: str) -> list[Scores]:
        named = (
            of_paper if baseline_of is None else {row for row, base in baseline_of.items() if base == name}
        )
        return [each for row, each in tested.items() if row in named or row == name]

    asked = (published if baseline_of is None else []) or measures
    comparisons = [compare(chosen(name), name, asked) for name in against]
    if baseline_of is not None:
        comparisons = _corrected_together(comparisons)
    sets = sets or {}
    heads = [
        *measures,
        *(f"{measures[0]} of {name}" for name in sets),
        *(published_head(source, name, searched) for name in published),
    ]
    cells = [["", *heads]]
    if floor is not None:
        of_sets = (_figure(_mean(floor, measures[0], topics)) for topics in sets.values())
        cells.append(
            [floor.run, *(_figure(floor.mean(name)) for name in measures), *of_sets, *[""] * len(published)]
        )
    most = max((len(row.seeds) for row in found), default=0)
    for row in found:
        if row.seeds:
            fewer = f", {len(row.seeds)} of {most} seeds" if 1 < len(row.seeds) < most else ""
            figures = [_measured(row, averaged[row.name], name, comparisons) for name in measures]
            figures += [str(row.spread(measures[0], topics)) for topics in sets.values()]
        else:
            fewer, figures = "", [_figure(row.known.get(name)) for name in measures] + [""] * len(sets)
        cells.append([row.name + fewer, *figures, *(_figure(row.published.get(name)) for name in published)])
    yield markdown_table(cells, 1)
    topics = len(next(iter(averaged.values())).topics) if averaged else 0
    notes = [f"{topics} topics", f"mean ± standard deviation over {most} seeds" if most > 1 else "one seed"]
    notes.append("in brackets the 95 % bootstrap interval over topics")
    notes += [
        f"{mark} differs from {name} ({comparison.differences[0].tests} paired t-tests by topic, Bonferroni corrected, p < {LEVEL})"
        for mark, name, comparison in zip(MARKS, against, comparisons, strict=False)
        if comparison.tests
    ]
    yield from ("", "; ".join(notes) + ".")
    if list_tests and any(each.tests for each in comparisons):
        yield from ("", difference_table([each for each in comparisons if each.tests]))


def _corrected_together(comparisons: Sequence[Comparison]) -> list[Comparison]:
    tests = sum(each.tests for each in comparisons)
    return [
        replace(each, differences=tuple(replace(one, tests=tests) for one in each.differences))
        for each in comparisons
    ]


def published_head(source: str, name: str, searched: str = FULL) -> str:
    """Return the head of a column of published figures, which never share a column with ours: what was searched is another set."""
    return f"{source} {name} ({searched})"


def difference_table(comparisons: Sequence[Comparison]) -> str:
    """List tests against baselines: the difference, its interval, and p before and after the correction."""
    tests = comparisons[0].differences[0].tests
    cells = [["", "against", "measure", "difference", f"{1 - LEVEL:.0%} interval", "p", f"p × {tests}"]]
    cells += [_test(each, str(one.baseline)) for one in comparisons for each in one.differences]
    return markdown_table(cells, 3)


def _test(difference: Difference, baseline: str) -> list[str]:
    test = difference.test
    interval = "–" if test.low is None else f"[{test.low:+.3f}, {test.high:+.3f}]"
    corrected = shown_p(difference.corrected) + difference.stars
    return [
        *(difference.run, baseline, difference.measure, f"{test.difference:+.3f}"),
        *(interval, shown_p(test.p_value), corrected),
    ]


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table with the first row as its head; all but the first `left` columns are right-aligned."""
    rule = ["---"] * left + ["--:"] * (len(rows[0]) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [rows[0], rule, *rows[1:]])


def _measured(row: MeasuredRow, averaged: Scores, measure: str, comparisons: Sequence[Comparison]) -> str:
    marks = ""
    for mark, comparison in zip(MARKS, comparisons, strict=False):
        difference = comparison.difference(row.name, measure)
        marks += mark if difference is not None and difference.is_significant else ""
    interval = bootstrap_interval(list(averaged.values[measure].values()))
    shown = "" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]"
    return f"{row.spread(measure)}{marks}{shown}"


def _mean(scores: Scores, measure: str, topics: Collection[str] | None) -> float:
    values = scores.values[measure]
    return float(np.mean([value for topic, value in values.items() if topics is None or topic in topics]))


def _figure(value: float | str | None) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
