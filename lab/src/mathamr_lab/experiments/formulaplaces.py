"""Sentences with formulas of interest as posts of their own, which experiments with MathAMR parse, index and learn from.

The other sentences are not parsed, so that a collection with judgments is ready in a minute.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from mathamr.evaluation.topics import Topic
from mathamr.posts.passage import PLACEHOLDER, passage
from mathamr.posts.post import Post
from mathamr_lab.experiments.formulabed import formula_text

PLACES_A_VISUAL = 5
"""The maximum number of places that are read of one judged visual class."""


def sentence_posts(post: Post, wanted: Collection[str]) -> Iterator[Post]:
    """Yield a post for each sentence with a formula of these ids; only those have a visual id there."""
    formulas = {formula.id: formula for formula in post.formulas}
    for number, sentence in enumerate(passage(post).sentences):
        own = {
            place.name: formulas[place.formula]
            for place in sentence.placeholders
            if place.formula in formulas
        }
        if not any(formula.id in wanted for formula in own.values()):
            continue
        texts = {name: formula_text(formula) for name, formula in own.items()}
        yield Post(
            f"{post.id}/{number}",
            "note",
            PLACEHOLDER.sub(lambda found: texts.get(found[0], found[0]), html.escape(sentence.text)),  # noqa: B023
            formulas=tuple(
                formula if formula.id in wanted else replace(formula, visual_id=None)
                for formula in own.values()
            ),
            macros=post.macros,
        )


def topic_sentences(topics: Iterable[Topic]) -> list[Topic]:
    """Return the topics with the sentence of their query formula alone."""
    return [
        Topic(topic.id, replace(post, id=topic.id), topic.formula_id)
        for topic in topics
        for post in [*sentence_posts(topic.post, {topic.formula_id or ""})][:1]
    ]


def judged_sentences(
    posts: Iterable[Post], judged: Iterable[str], further: Iterable[str] = ()
) -> Iterator[Post]:
    """Yield the sentences of some places of each judged visual class, and of one of each `further` one."""
    for post, wanted in judged_places(posts, judged, further):
        yield from sentence_posts(post, wanted)


def judged_places(
    posts: Iterable[Post], judged: Iterable[str], further: Iterable[str] = ()
) -> Iterator[tuple[Post, set[str]]]:
    """Yield posts with the ids of their formulas that are some places of a judged visual class, or one of a `further` one."""
    left = dict.fromkeys(further, 1) | dict.fromkeys(judged, PLACES_A_VISUAL)
    for post in posts:
        own: set[str] = set()
        for formula in post.formulas:
            if left.get(formula.visual_id or "", 0):
                left[formula.visual_id or ""] -= 1
                own.add(formula.id)
        if own:
            yield post, own
