"""Labels of the graphs of questions and their answers, the pairs that a graph network learns from (thesis, section 3.4)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from mathamr.posts.post import Post
from mathamr.posts.postkind import ANSWERING

PairLabels = Mapping[str, Mapping[str, Any]]


def pair_labels(posts: Iterable[Post]) -> PairLabels:
    """Return the labels of every post that belongs to a pair, by its id.

    A question lists its `answers`; an answer names its `question`, and says whether it was `accepted` (None where the question
    does not say).

    >>> posts = [Post("1", "question", "?", accepted_answer="3"), *(Post(i, "answer", "!", parent="1") for i in "23")]
    >>> pair_labels([*posts, Post("4", "note", "")])["3"]
    {'question': '1', 'accepted': True}
    """
    accepted: dict[str, str | None] = {}
    parents: dict[str, str] = {}
    for post in posts:
        accepted[post.id] = post.accepted_answer
        if post.kind in ANSWERING and post.parent:
            parents[post.id] = post.parent
    labels: dict[str, dict[str, Any]] = {}
    for answer, question in parents.items():
        if question in accepted:
            chosen = accepted[question]
            labels.setdefault(question, {"answers": []})["answers"].append(answer)
            labels[answer] = {"question": question, "accepted": None if chosen is None else chosen == answer}
    return labels


def labelled(penman: str, labels: Mapping[str, Any]) -> str:
    """Return a graph's Penman text with labels among its metadata, each as JSON."""
    lines = [f"# ::{name} {json.dumps(value)}" for name, value in labels.items()]
    return "\n".join([*lines, penman])
