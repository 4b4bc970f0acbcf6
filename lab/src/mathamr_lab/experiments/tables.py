"""Tables of experiments: means and deviations over seeds with intervals over topics, tests, and published figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mathamr.evaluation.comparison import Comparison, Difference, compare
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import LEVEL, bootstrap_interval
from mathamr.evaluation.table import shown_p
from mathamr_lab.experiments.experiment import FULL
from mathamr_lab.experiments.seedsummary import summarise

MARKS = ("*", "†", "‡")
"""Marks of a significant difference from the first, the second and the third baseline."""


@dataclass(frozen=True)
class MeasuredRow:
    """A row of a table: its scores by seed, its published figures, and means `known` from elsewhere."""

    name: str
    seeds: Mapping[int, Scores]
    published: Mapping[str, float] = field(default_factory=dict)
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

    def spread(self, measure: str, topics: Sequence[str] | None = None) -> str:
        """Return the mean over some topics or all, and its deviation over seeds."""
        chosen = {
            seed: each
            if topics is None
            else Scores(
                each.run,
                {
                    measure: {
                        topic: each.values[measure][topic]
                        for topic in topics
                        if topic in each.values[measure]
                    }
                },
            )
            for seed, each in self.seeds.items()
        }
        return str(summarise(chosen).spreads[measure])


def comparison_table(
    rows: Sequence[MeasuredRow],
    measures: Sequence[str],
    *,
    baselines: Sequence[str] = (),
    floor: Scores | None = None,
    sets: Mapping[str, Sequence[str]] | None = None,
    list_tests: bool = False,
    searched: str = FULL,
) -> Iterator[str]:
    """Return Markdown: a line per row, followed by how it was measured; rows without scores are left out.

    `sets` are topics with a column of their own, for the first measure. `list_tests` adds a table of the tests against the
    first baseline. `searched` is what the published figures were measured on.
    """
    found = [row for row in rows if row.seeds or row.known]
    averaged = {row.name: row.averaged() for row in found if row.seeds}
    against = [name for name in baselines if name in averaged]
    # A table of a paper is corrected for the paper's own comparisons: other rows and measures are not tested.
    of_paper = {row.name for row in found if row.published} or set(averaged)
    # Rows that lack a seed are compared over the seeds that all trained rows have.
    common = set.intersection(*([set(row.seeds) for row in found if len(row.seeds) > 1] or [set()]))
    tested = {row.name: row.averaged(common) for row in found if row.seeds}
    published = [name for name in measures if any(name in row.published for row in found)]
    comparisons = [
        compare(
            [each for row, each in tested.items() if row in of_paper or row == name],
            name,
            published or measures,
        )
        for name in against
    ]
    sets = sets or {}
    heads = [
        *measures,
        *(f"{measures[0]} of {name}" for name in sets),
        *(published_head("paper", name, searched) for name in published),
    ]
    cells = [["", *heads]]
    if floor is not None:
        of_sets = (_mean(floor, measures[0], topics) for topics in sets.values())
        cells.append(
            [floor.run, *(_figure(floor.mean(name)) for name in measures), *of_sets, *[""] * len(published)]
        )
    most = max((len(row.seeds) for row in found), default=0)
    for row in found:
        if row.seeds:
            fewer = f", {len(row.seeds)} of {most} seeds" if 1 < len(row.seeds) < most else ""
            figures = [_measured(row, averaged[row.name], name, comparisons) for name in measures]
            figures += [row.spread(measures[0], topics) for topics in sets.values()]
        else:
            fewer, figures = "", [_figure(row.known.get(name)) for name in measures] + [""] * len(sets)
        cells.append([row.name + fewer, *figures, *(_figure(row.published.get(name)) for name in published)])
    yield markdown_table(cells, 1)
    topics = len(next(iter(averaged.values())).topics) if averaged else 0
    notes = [f"{topics} topics", f"mean ± standard deviation over {most} seeds" if most > 1 else "one seed"]
    notes.append("in brackets the 95 % bootstrap interval over topics")
    notes += [
        f"{mark} differs from {name} ({comparison.tests} paired t-tests by topic, Bonferroni corrected, p < {LEVEL})"
        for mark, name, comparison in zip(MARKS, against, comparisons, strict=False)
        if comparison.tests
    ]
    yield from ("", "; ".join(notes) + ".")
    if list_tests and comparisons and comparisons[0].tests:
        yield from ("", difference_table(comparisons[0].differences, f"against {comparisons[0].baseline}"))


def published_head(source: str, name: str, searched: str = FULL) -> str:
    """Return the head of a column of published figures, which never share a column with ours: what was searched is another set."""
    return f"{source} {name} ({searched})"


def difference_table(
    differences: Sequence[Difference], head: str, named: Callable[[str], str] = lambda name: name
) -> str:
    """List tests against a baseline: the difference, its interval, and p before and after the correction."""
    cells = [[head, "measure", "difference", f"{1 - LEVEL:.0%} interval", "p", f"p × {len(differences)}"]]
    for each in differences:
        test = each.test
        interval = "–" if test.low is None else f"[{test.low:+.3f}, {test.high:+.3f}]"
        corrected = shown_p(each.corrected) + each.stars
        cells.append(
            [
                *(named(each.run), each.measure, f"{test.difference:+.3f}"),
                *(interval, shown_p(test.p_value), corrected),
            ]
        )
    return markdown_table(cells, 2)


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


def _mean(scores: Scores, measure: str, topics: Sequence[str]) -> str:
    return _figure(
        float(np.mean([scores.values[measure][each] for each in topics if each in scores.values[measure]]))
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
