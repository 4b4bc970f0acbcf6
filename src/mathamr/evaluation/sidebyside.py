"""The first results of several runs beside each other, with their grades: what a table of means does not show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from mathamr.core.errors import UnknownNameError
from mathamr.evaluation.runevaluation import RunEvaluation
from mathamr.formulas.mathml.styles import style_sheet
from mathamr.posts.post import Formula, Post
from mathamr.posts.rendering.posthtml import body_html, formula_html, title_html
from mathamr.text.wording import written_sentences

DEPTH = 10
_LONGEST = 4_000
"""Characters of a post that the page shows."""
_CUT = 100
"""Characters of a result in a line of text."""
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem; color: #1c2430; background: #fff; }
.query { border-left: .25rem solid #1846b8; padding: .1rem 1rem; max-width: 60rem; }
.runs { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(20rem, 1fr); gap: 1rem; overflow-x: auto; }
.hit { border: 1px solid #ccd3dd; border-left: .3rem solid #ccd3dd; border-radius: .3rem; margin: .5rem 0; padding: .3rem .6rem; }
.hit div { max-height: 11rem; overflow: auto; }
.grade-0 { border-left-color: #b3261e; } .grade-1 { border-left-color: #c98a00; }
.grade-2 { border-left-color: #5a9a3c; } .grade-3, .grade-4 { border-left-color: #1e7a34; }
small { color: #5b6675; } h2 { font-size: 1.05rem; } img { max-width: 100%; }
"""


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A result with its grade, `None` if it is unjudged, and what it is, if the posts were given: a formula of a post, or the post."""

    id: str
    grade: int | None
    post: Post | None = None
    formula: Formula | None = None

    @property
    def line(self) -> str:
        """The result in one line of text."""
        what = ""
        if self.formula is not None:
            what = f"${self.formula.latex}$"
        elif self.post is not None:
            what = " ".join(written_sentences(self.post))
        what = " ".join(what.split())
        return what if len(what) <= _CUT else what[: _CUT - 1] + "…"

    @property
    def html(self) -> str:
        """The result for a page."""
        if self.formula is not None and self.post is not None:
            return formula_html(self.formula, self.post.macros)
        return "" if self.post is None else f"<b>{title_html(self.post)}</b>{body_html(self.post, _LONGEST)}"


class SideBySide:
    """The first results of each run for some topics."""

    def __init__(self, evaluation: RunEvaluation, topics: Sequence[str], posts: Iterable[Post] = ()) -> None:
        for topic in topics:
            if topic not in evaluation.qrels.grades:
                raise UnknownNameError("judged topic", topic, list(evaluation.qrels.grades))
        self._evaluation, self._topics = evaluation, tuple(dict.fromkeys(topics))
        wanted = {each for run in evaluation.runs for topic in self._topics for each in run.ids(topic, DEPTH)}
        self._posts: dict[str, Post] = {}
        self._formulas: dict[str, tuple[Post, Formula]] = {}
        for post in posts:
            if post.id in wanted:
                self._posts[post.id] = post
            for formula in post.formulas:
                for name in {formula.id, formula.visual_id} & wanted:
                    self._formulas.setdefault(str(name), (post, formula))

    def hits(self, topic: str) -> dict[str, list[ShownHit]]:
        """Return the first results of every run, by its name."""
        asked, grades = self._evaluation.topics.get(topic), self._evaluation.qrels.grades[topic]
        # Posts and formulas may have the same ids.
        is_formula = not self._posts if asked is None else asked.formula_id is not None

        def shown(item: str) -> ShownHit:
            post, formula = (
                self._formulas.get(item, (None, None)) if is_formula else (self._posts.get(item), None)
            )
            return ShownHit(item, grades.get(item), post, formula)

        return {run.name: [shown(each) for each in run.ids(topic, DEPTH)] for run in self._evaluation.runs}

    def to_json(self) -> dict[str, dict[str, list[dict[str, object]]]]:
        """Return ids and grades by topic and run; the grade of an unjudged result is None."""
        return {
            topic: {
                run: [{"id": hit.id, "grade": hit.grade} for hit in hits]
                for run, hits in self.hits(topic).items()
            }
            for topic in self._topics
        }

    def to_text(self) -> str:
        """Return lines of rank, grade, id and text."""
        lines: list[str] = []
        for topic in self._topics:
            query = self._query(topic)
            lines.append(f"\n{topic}{f': {query.line}' if query.line else ''}")
            for run, hits in self.hits(topic).items():
                lines.append(f"  {self._heading(run, topic)}")
                lines += [
                    f"  {rank:>4}  {'–' if hit.grade is None else hit.grade}  {hit.id}  {hit.line}".rstrip()
                    for rank, hit in enumerate(hits, 1)
                ]
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return one page with a column for each run; formulas are MathML."""
        parts = [
            f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(", ".join(self._topics))}</title>'
        ]
        parts.append(f"<style>{_STYLE}{style_sheet()}</style>")
        for topic in self._topics:
            parts.append(
                f'<h1>{escape(topic)}</h1><section class="query">{self._query(topic).html}</section>'
            )
            parts.append('<section class="runs">')
            for run, hits in self.hits(topic).items():
                parts.append(f"<section><h2>{escape(self._heading(run, topic))}</h2>")
                for rank, hit in enumerate(hits, 1):
                    grade = "unjudged" if hit.grade is None else f"grade {hit.grade}"
                    place = f" in post {hit.post.id}" if hit.post and hit.formula else ""
                    head = f"{rank} · {grade} · {escape(hit.id + place)}"
                    kind = f"hit grade-{'none' if hit.grade is None else hit.grade}"
                    parts.append(
                        f'<article class="{kind}"><small>{head}</small><div>{hit.html}</div></article>'
                    )
                parts.append("</section>")
            parts.append("</section>")
        return "\n".join([*parts, "</html>", ""])

    def _query(self, topic: str) -> ShownHit:
        found = self._evaluation.topics.get(topic)
        return ShownHit(topic, None, found.post, found.formula) if found else ShownHit(topic, None)

    def _heading(self, run: str, topic: str) -> str:
        values = self._evaluation.comparison.of(run).values
        return f"{run}: {', '.join(f'{measure} {each[topic]:.3f}' for measure, each in values.items())}"
