"""Comparisons as plain-text tables."""

from __future__ import annotations

from collections.abc import Sequence

from mathamr.evaluation.comparison import Comparison
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import LEVEL


def means_table(comparison: Comparison, floors: Sequence[Scores] = ()) -> str:
    """Return `means_rows` as text."""
    return aligned(means_rows(comparison, floors))


def means_rows(comparison: Comparison, floors: Sequence[Scores] = ()) -> list[list[str]]:
    """Return the mean of every run on every measure; with a baseline, the differences from it and stars.

    `floors` are reference scores, such as those of a random order.
    """
    rows = [["", *comparison.measures]]
    for scores in comparison.scores:
        row = [f"{scores.run} †" if scores.run == comparison.baseline else scores.run]
        for measure in comparison.measures:
            difference = comparison.difference(scores.run, measure)
            cell = f"{scores.mean(measure):.3f}"
            if difference is not None:
                cell += f" {difference.test.difference:+.3f}{difference.stars:<3}"
            elif comparison.baseline:
                cell += " " * 10
            row.append(cell)
        rows.append(row)
    padding = " " * 10 if comparison.baseline else ""
    for floor in floors:
        rows.append([floor.run, *(f"{floor.mean(measure):.3f}{padding}" for measure in comparison.measures)])
    rows[0][1:] = [name.ljust(len(cell)) for name, cell in zip(rows[0][1:], rows[1][1:], strict=True)]
    return rows


def significance_table(comparison: Comparison) -> str:
    """Return `significance_rows` as text."""
    return aligned(significance_rows(comparison), left=2)


def significance_rows(comparison: Comparison) -> list[list[str]]:
    """Return every test against the baseline: difference, its interval, p, and p after the correction."""
    rows = [["", "", "difference", f"{1 - LEVEL:.0%} interval", "t", "p", f"p × {comparison.tests}", ""]]
    last = ""
    for each in comparison.differences:
        test = each.test
        shown = "" if each.run == last else each.run
        last = each.run
        interval = "–" if test.low is None else f"[{test.low:+.3f}, {test.high:+.3f}]"
        t = "–" if test.statistic is None else f"{test.statistic:.2f}"
        rows.append(
            [
                shown,
                each.measure,
                f"{test.difference:+.4f}",
                interval,
                t,
                shown_p(test.p_value),
                shown_p(each.corrected),
                each.stars,
            ]
        )
    return rows


def topics_table(comparison: Comparison) -> str:
    """Return every value as a table, one line per topic and run."""
    rows = [["topic", "run", *comparison.measures]]
    for topic in comparison.topics:
        for scores in comparison.scores:
            rows.append(
                [
                    topic,
                    scores.run,
                    *(f"{scores.values[measure][topic]:.4f}" for measure in comparison.measures),
                ]
            )
    return aligned(rows, left=2)


def shown_p(value: float | None) -> str:
    """Return a p-value as tables show it.

    >>> shown_p(0.0421), shown_p(0.00002), shown_p(None)
    ('.042', '<.001', '–')
    """
    if value is None:
        return "–"
    return "<.001" if value < 0.001 else f"{value:.3f}".lstrip("0") if value < 1 else "1"


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align columns, the first `left` of them to the left, the others to the right.

    >>> print(aligned([["", "P@10"], ["mine", "0.5"]]))
          P@10
    mine   0.5
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
