"""`FormulaBed`: what an experiment with formulas searches and asks, in the form that an index and its topics have anywhere: posts,
topics, judgments.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.posts.post import Formula, Post
from mathamr_lab.experiments.collection import TestSet


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaBed:
    """Topics that ask for formulas, judgments by visual id, and `formulas` without posts, if the bed is no collection of posts.

    With `among_judged` a topic's own judged formulas alone are ranked. `measures` are those of the bed, if not those of the
    experiment; `sets` are topics that a table also shows separately, such as those of a year.
    """

    name: str
    topics: Callable[[], Sequence[Topic]]
    qrels: Callable[[], Qrels]
    formulas: Callable[[], Iterator[Formula]] | None = None
    digest: str = ""
    among_judged: bool = False
    measures: tuple[str, ...] = ()
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)


def write_posts(posts: Iterable[Post], path: Path) -> int:
    """Write posts as JSON lines, and return how many."""
    with path.open("w", encoding="utf-8") as file:
        return sum(file.write(post.to_json() + "\n") > 0 for post in posts)


def bed_of(test: TestSet) -> FormulaBed:
    """Return the bed of a test set, whose formulas are those of the posts; every file of several has topics of its own."""
    years = {topics.stem: [topic.id for topic in read_topics(topics)] for topics, _ in test.files}
    return FormulaBed(
        name=test.name,
        topics=lambda: test.topics,
        qrels=lambda: test.qrels,
        digest=test.digest,
        sets=years if len(years) > 1 else {},
    )


def formula_post(formula: Formula) -> Post:
    """Return a post of one formula, which has its id."""
    return Post(formula.id, "note", formula_text(formula), formulas=(formula,))


def formula_text(formula: Formula) -> str:
    """Return a formula as HTML, as ARQMath writes it."""
    return f'<span class="math-container" id="{html.escape(formula.id)}">{html.escape(formula.latex)}</span>'


def formula_topics(formulas: Iterable[Formula]) -> list[Topic]:
    """Return topics that ask for formulas, by the ids of these."""
    return [Topic(each.id, formula_post(each), each.id) for each in formulas]
