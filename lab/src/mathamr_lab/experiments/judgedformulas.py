"""The judged formulas of a collection with their contexts: what MathAMR learns from, and what its experiments rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.topics import Topic
from mathamr.graphs.corpus import build_graphs
from mathamr.graphs.store import GraphStore
from mathamr.posts.post import Post
from mathamr.systems.mathamr.context import ContextName, contexts
from mathamr_lab.experiments.collection import collection_of, judgments, sets_by_task
from mathamr_lab.experiments.formulaplaces import judged_sentences, topic_sentences
from mathamr_lab.systems.mathamr.judgedlines import JudgedPair
from mathamr_lab.training.export import ids_in

FOLDS, FIRST_YEAR = "folds", "first-year"
TOPICS = "contexts.topics="
"""The change that says what is trained on: `first-year` (topics of ARQMath-1, numbers below 200), `folds`, or a file of topics."""
_YEAR_OF = re.compile(r"\D*(\d+)$")


@dataclass(frozen=True, slots=True, eq=False)
class ContextMaterials:
    """Topics and sentences with judged formulas, the stores that have their graphs, and the judgments of visual classes."""

    topics: Sequence[Topic]
    posts: Sequence[Post]
    graphs: Sequence[GraphStore]
    qrels: Qrels

    def pairs(self, context: str, topics: Iterable[str]) -> list[JudgedPair]:
        """Return judged pairs of lines of these topics: every place of a judged visual class is a candidate."""
        lines: dict[str, list[str]] = {}
        for post in self.posts:
            written = self._lines(post, context)
            for formula in post.formulas:
                known = lines.setdefault(formula.visual_id or "", [])
                if formula.id in written and written[formula.id] not in known:
                    known.append(written[formula.id])
        query = {topic.id: self._lines(topic.post, context) for topic in self.topics}
        asked = {topic.id: topic.formula_id for topic in self.topics}
        return [
            JudgedPair(topic, line, candidate, max(0, min(3, grade)))
            for topic in topics
            if topic in query and (line := query[topic].get(asked[topic] or "")) is not None
            for visual, grade in self.qrels.grades[topic].items()
            for candidate in lines.get(visual, ())
        ]

    def _lines(self, post: Post, context: str) -> dict[str, str]:
        store = next(each for each in self.graphs if post.id in each)
        return dict(contexts(store.graph(post.id), post, cast("ContextName", context)))

    def splits(self, topics: str, folds: int = 5) -> Iterator[tuple[list[str], list[str]]]:
        """Yield (topics to train on, topics to rank)."""
        known = [topic.id for topic in self.topics if topic.id in self.qrels.grades]
        return split_topics(known, topics, folds)


def split_topics(judged: Iterable[str], topics: str, folds: int = 5) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (topics to train on, topics to rank) of judged topics."""
    known = sorted(judged)
    if topics == FOLDS:
        order = np.random.default_rng([0, 11]).permutation(len(known))
        for start in range(folds):
            fold = {known[place] for place in order[start::folds]}
            if fold:
                yield [each for each in known if each not in fold], sorted(fold)
        return
    if topics == FIRST_YEAR:
        learned = {each for each in known if (found := _YEAR_OF.match(each)) and int(found[1]) < 200}
    else:
        learned = set(ids_in(Path(topics)))
    asked = [each for each in known if each not in learned]
    if not asked or len(asked) == len(known):
        raise MathAMRError(
            f"of {len(known)} judged topics {len(asked)} are left to rank with {TOPICS}{topics}: name a file with some"
            f" of their ids, or --set {TOPICS}{FOLDS}"
        )
    yield [each for each in known if each in learned], asked


def judged_pairs(corpus: Path, context: str, parser: str = "builtin") -> list[JudgedPair]:
    """Return the judged lines of a collection with topics and judgments of Task 2 beside its posts."""
    collection = collection_of([corpus])
    tests = sets_by_task(collection).get("task2", [])
    topics, qrels = topic_sentences(topic for test in tests for topic in test.topics), judgments(tests)
    posts = list(judged_sentences(collection.posts(), judged_items(qrels)))
    with TemporaryDirectory() as folder, GraphStore(Path(folder), create=True) as graphs:
        build_graphs([*posts, *(topic.post for topic in topics)], graphs, parser=parser)
        found = ContextMaterials(topics, posts, [graphs], qrels).pairs(context, qrels.topics)
    if not found:
        raise MathAMRError(f"{corpus} has no judged formula of a topic: MathAMR learns from those of Task 2")
    return found


def judged_items(qrels: Qrels) -> set[str]:
    """Return everything that is judged for any topic."""
    return {item for grades in qrels.grades.values() for item in grades}
