"""A self-contained report page on a comparison, without scripts or network, for light and dark mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.comparison import Comparison
from mathamr.evaluation.report.case import Case, Texts, case, differing, find_texts, hardest
from mathamr.evaluation.report.chart import Bar, bars, difference_bars
from mathamr.evaluation.runevaluation import RunEvaluation, skipped_lines
from mathamr.evaluation.runs import Run, RunHit
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.significance import LEVEL, mean_interval
from mathamr.evaluation.table import shown_p
from mathamr.evaluation.topics import Topic
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.rendering.posthtml import body_html, formula_html, title_html
from mathamr.posts.report import Report

LONGEST_TEXT = 6000
"""Characters of a post that the page shows."""
_STYLES = ("evaluation/report/style.css", "serve/page/formulas.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_page(assessment: RunEvaluation, path: Path, posts: Path | None = None) -> list[str]:
    """Write the page to a file; `posts` is where the texts of hits are found.

    What was skipped while reading them is returned, a line a cause, unless a baseline has said it before.
    """
    report = Report()
    text = page(assessment, () if posts is None else read_posts(posts, report))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MathAMRError(f"{path}: cannot be written ({error.strerror})") from error
    return [line for line in skipped_lines(report) if line not in assessment.remarks]


def page(evaluation: RunEvaluation, posts: Iterable[Post] = ()) -> str:
    """Return the page; `posts` are read once, and only those that it shows stay in memory."""
    pairs = [(run, base, _cases(evaluation, run, base)) for run, base in _pairs(evaluation)]
    items = {item for _, _, cases in pairs for each in cases for item in each.items}
    are_formulas = any(topic.formula_id for topic in evaluation.topics.values())
    texts = find_texts(posts, items, are_formulas=are_formulas)
    sections = "\n".join(_pair(evaluation, run, base, cases, texts) for run, base, cases in pairs)
    names = ", ".join(scores.run for scores in evaluation.comparison.scores)
    style = "".join(files("mathamr").joinpath(name).read_text(encoding="utf-8") for name in _STYLES)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Evaluation: {escape(names)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_head(evaluation)}\n{_means(evaluation)}\n{_tests(evaluation.comparison)}\n{sections}\n{_every_value(evaluation)}\n"
        "</body>\n</html>\n"
    )


def _first(evaluation: RunEvaluation) -> str:
    """Return the measure by which topics are chosen: the first."""
    return evaluation.comparison.measures[0]


def _pairs(evaluation: RunEvaluation) -> list[tuple[Run, Run | None]]:
    """Return the sections of the page: each run with the baseline, or each run alone."""
    by_name = {run.name: run for run in evaluation.runs}
    baseline = evaluation.comparison.baseline
    if baseline is None:
        return [(run, None) for run in evaluation.runs]
    return [(run, by_name[baseline]) for run in evaluation.runs if run.name != baseline]


def _cases(evaluation: RunEvaluation, run: Run, base: Run | None) -> list[Case]:
    values = evaluation.comparison.of(run.name).values[_first(evaluation)]
    if base is None:
        topics, runs = hardest(values), [run]
    else:
        topics = differing(values, evaluation.comparison.of(base.name).values[_first(evaluation)])
        runs = [run, base]
    return [
        case(topic, evaluation.comparison, runs, evaluation.qrels, _first(evaluation)) for topic in topics
    ]


def _head(evaluation: RunEvaluation) -> str:
    comparison = evaluation.comparison
    words = [f"{len(comparison.topics)} judged topics", f"{evaluation.qrels.judgments:,} judgments"]
    if comparison.baseline:
        words.append(f"baseline: {escape(comparison.baseline)}")
        words.append(f"{comparison.tests} paired t-tests, Bonferroni corrected")
    return f'<h1>Evaluation</h1>\n<p class="faint">{" · ".join(words)}</p>'


def _means(evaluation: RunEvaluation) -> str:
    comparison = evaluation.comparison
    best = {name: max(each.mean(name) for each in comparison.scores) for name in comparison.measures}
    rows = []
    for scores in comparison.scores:
        cells = "".join(_mean_cell(comparison, scores, name, best[name]) for name in comparison.measures)
        mark = " †" if scores.run == comparison.baseline else ""
        rows.append(f"<tr><td>{escape(scores.run)}{mark}</td>{cells}</tr>")
    for scores in evaluation.floors:
        cells = "".join(f"<td>{scores.mean(name):.3f}</td>" for name in comparison.measures)
        rows.append(f'<tr class="faint"><td>{escape(scores.run)}</td>{cells}</tr>')
    header = "".join(f"<th>{escape(name)}</th>" for name in comparison.measures)
    legend = ["In brackets: 95 % confidence interval of the mean over topics."]
    if comparison.baseline:
        legend.append(
            "† baseline; differences to it, * p &lt; .05, ** p &lt; .01, *** p &lt; .001 after correction."
        )
    missing = [f"{escape(each.run)} lacks {len(each.missing)}" for each in comparison.scores if each.missing]
    if missing:
        legend.append(f"Judged topics that a run lacks count as zero: {'; '.join(missing)}.")
    return (
        f'<h2>Means</h2>\n<div class="scroll"><table><thead><tr><th></th>{header}</tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table></div>\n<p class="faint">{" ".join(legend)}</p>'
    )


def _mean_cell(comparison: Comparison, scores: Scores, measure: str, best: float) -> str:
    mean = scores.mean(measure)
    interval = mean_interval(list(scores.values[measure].values()))
    shown = f'<span class="best">{mean:.3f}</span>' if mean == best and mean > 0 else f"{mean:.3f}"
    if interval:
        shown += f" <small>[{interval[0]:.2f}, {interval[1]:.2f}]</small>"
    difference = comparison.difference(scores.run, measure)
    if difference is not None:
        value = difference.test.difference
        shown += f'<br><span class="{_direction(value)}">{value:+.3f}</span>{difference.stars}'
    return f"<td>{shown}</td>"


def _tests(comparison: Comparison) -> str:
    if not comparison.differences:
        return ""
    rows = []
    for each in comparison.differences:
        test = each.test
        interval = "–" if test.low is None else f"[{test.low:+.3f}, {test.high:+.3f}]"
        statistic = "–" if test.statistic is None else f"{test.statistic:.2f}"
        rows.append(
            f'<tr><td>{escape(each.run)}</td><td class="left">{escape(each.measure)}</td>'
            f'<td class="{_direction(test.difference)}">{test.difference:+.4f}</td><td>{interval}</td>'
            f"<td>{statistic}</td><td>{shown_p(test.p_value)}</td><td>{shown_p(each.corrected)}{each.stars}</td></tr>"
        )
    return (
        "<details><summary>The tests: differences, intervals, p-values</summary>\n"
        '<div class="scroll"><table><thead><tr><th>run</th><th class="left">measure</th><th>difference</th>'
        f"<th>{1 - LEVEL:.0%} interval</th><th>t</th><th>p</th><th>p × {comparison.tests}</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _pair(evaluation: RunEvaluation, run: Run, base: Run | None, cases: Sequence[Case], texts: Texts) -> str:
    comparison = evaluation.comparison
    links = {each.topic: f"#{_anchor(run.name, each.topic)}" for each in cases}
    charts = []
    for measure in comparison.measures:
        values = comparison.of(run.name).values[measure]
        if base is None:
            hints = [
                Bar(topic, value, f"{topic}: {value:.3f}", links.get(topic, ""))
                for topic, value in values.items()
            ]
            chart = bars(f"{measure} of {run.name} by topic", hints)
        else:
            name = f"{measure} of {run.name} minus {base.name} by topic"
            baseline = comparison.of(base.name).values[measure]
            chart = difference_bars(name, (run.name, base.name), values, baseline, links)
            chart += _tally(values, baseline)
        charts.append(chart if measure == _first(evaluation) else _folded(f"by {measure}", chart))
    if base is None:
        title, choice = escape(run.name), "lowest"
    else:
        title, choice = f"{escape(run.name)} against {escape(base.name)}", "most different"
    shown = "\n".join(
        _case(evaluation, each, [run] if base is None else [run, base], texts) for each in cases
    )
    return (
        f"<h2>{title}: {escape(_first(evaluation))} by topic</h2>\n{''.join(charts)}\n"
        f"<h2>The topics with the {choice} {escape(_first(evaluation))}</h2>\n"
        f"{shown or '<p>No topic differs.</p>'}"
    )


def _tally(values: Mapping[str, float], baseline: Mapping[str, float]) -> str:
    better = sum(values[topic] > baseline[topic] for topic in values)
    worse = sum(values[topic] < baseline[topic] for topic in values)
    return (
        f'<p class="faint"><span class="up">{better} topics better</span>, '
        f'<span class="down">{worse} worse</span>, {len(values) - better - worse} the same</p>'
    )


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{inside}</details>"


def _case(evaluation: RunEvaluation, each: Case, runs: Sequence[Run], texts: Texts) -> str:
    topic = evaluation.topics.get(each.topic)
    values = ", ".join(
        f"{escape(run.name)} {value:.3f}" for run, value in zip(runs, each.values, strict=True)
    )
    change = ""
    if len(each.values) == 2:
        difference = each.values[0] - each.values[1]
        change = f'<strong class="{_direction(difference)}">{difference:+.3f}</strong>'
    columns = "".join(
        _hits(run, hits, evaluation.qrels.grades[each.topic], texts)
        for run, hits in zip(runs, each.hits, strict=True)
    )
    return (
        f'<article class="case" id="{_anchor(runs[0].name, each.topic)}">'
        f'<header><h3>{escape(each.topic)}</h3>{change}<span class="faint">{values}</span></header>'
        f'{_question(topic)}<div class="columns">{columns}</div>{_standings(each, runs)}</article>'
    )


def _question(topic: Topic | None) -> str:
    if topic is None:
        return ""
    title = title_html(topic.post)
    shown = (f'<p class="title">{title}</p>' if title else "") + body_html(topic.post, LONGEST_TEXT)
    asked = f'" data-formula="{escape(topic.formula_id)}"' if topic.formula_id else ""
    return f'<div class="question text">{shown.replace(asked, f" query{asked}") if asked else shown}</div>'


def _hits(run: Run, hits: Sequence[RunHit], grades: Mapping[str, int], texts: Texts) -> str:
    shown = "".join(
        f'<div class="hit"><div class="head"><span>{rank}</span>{_grade(grades.get(hit.id))}'
        f"<span>{escape(hit.id)}{_place(hit.id, texts)}</span><span>{hit.score:.4g}</span></div>"
        f"{_text(hit.id, texts)}</div>"
        for rank, hit in enumerate(hits, 1)
    )
    return f"<section><h4>{escape(run.name)}</h4>{shown or '<p>Nothing found.</p>'}</section>"


def _place(item: str, texts: Texts) -> str:
    """Return the post in which a formula was found."""
    if item not in texts.formulas:
        return ""
    post = texts.formulas[item][1]
    return f" in {post.kind} {escape(post.id)}"


def _text(item: str, texts: Texts) -> str:
    if item in texts.formulas:
        formula, post = texts.formulas[item]
        drawn = formula_html(replace(formula, display=True), post.macros)
        return f'<div class="text">{drawn}</div>'
    if item in texts.posts:
        return f'<div class="text short" tabindex="0">{body_html(texts.posts[item], LONGEST_TEXT)}</div>'
    return '<p class="faint">not among the posts that were given</p>' if texts.are_given else ""


def _standings(each: Case, runs: Sequence[Run]) -> str:
    rows = "".join(
        f"<tr><td>{_grade(standing.grade)}</td><td>{escape(standing.item)}</td>"
        + "".join(f"<td>{'–' if rank is None else rank}</td>" for rank in standing.ranks)
        + "</tr>"
        for standing in each.standings
    )
    header = "".join(f"<th>{escape(run.name)}</th>" for run in runs)
    return (
        '<details class="standings"><summary>Where the judged items stand</summary><div class="scroll"><table>'
        f"<thead><tr><th>grade</th><th>item</th>{header}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _every_value(evaluation: RunEvaluation) -> str:
    comparison = evaluation.comparison
    header = "".join(f"<th>{escape(scores.run)}</th>" for scores in comparison.scores)
    rows = "".join(
        f"<tr><td>{escape(topic)}</td>"
        + "".join(f"<td>{scores.values[_first(evaluation)][topic]:.3f}</td>" for scores in comparison.scores)
        + "</tr>"
        for topic in comparison.topics
    )
    return (
        f"<details><summary>{escape(_first(evaluation))} of every topic</summary>"
        f'<div class="scroll"><table><thead><tr><th>topic</th>{header}</tr></thead><tbody>{rows}</tbody></table></div>'
        "</details>"
    )


def _grade(grade: int | None) -> str:
    if grade is None:
        return '<span class="grade" title="unjudged">–</span>'
    return f'<span class="grade g{min(grade, 3)}" title="grade {grade}">{grade}</span>'


def _direction(value: float) -> str:
    return "up" if value > 0 else "down" if value < 0 else "faint"


def _anchor(run: str, topic: str) -> str:
    return quote(f"{run}-{topic}", safe="")
