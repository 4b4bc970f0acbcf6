"""What `mathamr posts` prints: counts, tags, problems and sample posts."""

from __future__ import annotations

from collections import Counter

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mathamr.cli.safeconsole import SafeConsole
from mathamr.posts.passage import PLACEHOLDER, Sentence, passage
from mathamr.posts.post import Post
from mathamr.posts.postcounts import PostCounts
from mathamr.posts.postkind import KINDS, plural
from mathamr.posts.report import Report

SENTENCES_SHOWN = 5
LATEX_SHOWN = 120
TEXT_SHOWN = 400
TAGS_SHOWN = 12


def show_posts_read(summary: PostCounts, report: Report, console: SafeConsole | None = None) -> None:
    """Print the counts, the problems, and the sample posts."""
    console = console or SafeConsole()
    console.print(_counts(summary, report))
    for verb, style, counts in (
        ("skipped", "red", report.skipped),
        ("missing", "red", report.missing),
        ("repaired", "yellow", report.repaired),
        ("ignored", "dim", report.ignored),
        ("excluded", "dim", report.excluded),
    ):
        _show_problems(console, verb, style, counts, report)
    if lines := report.lines_of_macros():
        console.print()
        for line in lines:
            console.print(Text(line, style="yellow"))
    if not report.skipped:
        console.print("\n[green]nothing skipped[/]")
    for post in summary.samples:
        console.print()
        show_post(post, console)


def show_post(post: Post, console: SafeConsole) -> None:
    """Print a post as people read it: its title, then its first sentences with their formulas."""
    facts = [post.kind, post.id]
    if post.place is not None:
        facts.append(str(post.place))
    if post.parent:
        facts.append(f"to {post.parent}")
    if post.score is not None:
        facts.append(f"score {post.score}")
    if post.date:
        facts.append(post.date[:10])
    facts.append(f"{len(post.formulas)} formula{'' if len(post.formulas) == 1 else 's'}")
    console.print(Text(" · ".join(facts), style="dim"))
    sentences = passage(post).sentences
    latex = {formula.id: formula.latex or formula.presentation_mathml or "" for formula in post.formulas}
    for sentence in (sentence for sentence in sentences if sentence.field == "title"):
        line = _rendered(sentence, latex)
        line.stylize("bold")
        console.print(line)
    body = [sentence for sentence in sentences if sentence.field == "body"]
    for sentence in body[:SENTENCES_SHOWN]:
        console.print(Padding.indent(_rendered(sentence, latex), 2))
    if len(body) > SENTENCES_SHOWN:
        console.print(Text(f"  … {len(body) - SENTENCES_SHOWN} more sentences", style="dim"))
    if post.tags:
        console.print(Text("  " + "  ".join(f"#{tag}" for tag in post.tags), style="green"))


def _rendered(sentence: Sentence, latex: dict[str, str]) -> Text:
    formulas = {place.name: latex.get(place.formula, "") for place in sentence.placeholders}
    line, done = Text(), 0
    for match in PLACEHOLDER.finditer(sentence.text):
        line.append(sentence.text[done : match.start()])
        source = " ".join(formulas.get(match.group(), "").split())
        line.append(f"${_cut(source, LATEX_SHOWN)}$", style="cyan")
        done = match.end()
        if len(line) > TEXT_SHOWN:
            return line.append(" …", style="dim")
    line.append(_cut(sentence.text[done:], TEXT_SHOWN))
    return line


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "…"


def _counts(summary: PostCounts, report: Report) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", justify="right")
    table.add_column()
    kinds = summary.kinds
    parts = [f"{kinds[kind]:,} {kind if kinds[kind] == 1 else plural(kind)}" for kind in KINDS if kinds[kind]]
    table.add_row(f"{summary.posts:,}", "posts" + (f": {', '.join(parts)}" if parts else ""))
    formulas = [f"{summary.display_formulas:,} displayed"]
    if summary.visual_ids:
        formulas.append(f"{summary.visual_ids:,} with a visual id")
    if summary.mathml:
        formulas.append(f"{summary.mathml:,} with MathML")
    table.add_row(f"{summary.formulas:,}", f"formulas: {', '.join(formulas)}")
    if "formulas_listed" in report.companions:
        listed, found = report.companions["formulas_listed"], report.companions["formulas_found"]
        text = f"of {listed:,} formula ids of the tables found" + (" (all)" if listed == found else "")
        table.add_row(f"{found:,}", text)
    if report.words_left_out:
        table.add_row(
            f"{report.words_left_out:,}",
            f"of {report.words_read:,} words read are in no post (--json names some)",
        )
    for count, name in (
        (summary.links, "links"),
        (summary.accepted, "accepted answers"),
        (summary.scored, "scores"),
        (summary.dated, "dates"),
    ):
        if count:
            table.add_row(f"{count:,}", name)
    if summary.tags:
        common = ", ".join(f"{tag} {count:,}" for tag, count in summary.tags.most_common(TAGS_SHOWN))
        more = ", …" if len(summary.tags) > TAGS_SHOWN else ""
        table.add_row(f"{len(summary.tags):,}", Text(f"tags: {common}{more}"))
    return table


def _show_problems(console: SafeConsole, verb: str, style: str, counts: Counter[str], report: Report) -> None:
    if not counts:
        return
    console.print(f"\n[{style}]{counts.total():,} {verb}[/]")
    for cause, count in counts.most_common():
        console.print(Text(f"{count:>8,} {cause}"))
        for problem in report.examples[cause][:2]:
            console.print(Padding.indent(Text(str(problem), style="dim"), 11))
