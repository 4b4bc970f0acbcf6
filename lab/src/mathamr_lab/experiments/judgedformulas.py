"""The judged formulas of a collection with their contexts: what MathAMR learns from, and what its experiments rank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mathamr.amr.parser import load_parser
from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.systems.mathamr.system import MathAMRSystem
from mathamr_lab.experiments.collection import collection_of, judgments, sets_by_task
from mathamr_lab.experiments.formulaplaces import FormulaPlace, collection_places, topic_places
from mathamr_lab.systems.mathamr.judgedlines import JudgedPair
from mathamr_lab.training.export import ids_in

FOLDS, FIRST_YEAR = "folds", "first-year"
TOPICS = "contexts.topics="
"""The change that says what is trained on: `first-year` (topics of ARQMath-1, numbers below 200), `folds`, or a file of topics."""
_YEAR_OF = re.compile(r"\D*(\d+)$")


@dataclass(frozen=True, slots=True, eq=False)
class ContextMaterials:
    """Query formulas, candidate formulas, and the judgments of visual classes."""

    topics: Sequence[FormulaPlace]
    places: Sequence[FormulaPlace]
    qrels: Qrels

    def pairs(self, context: str, topics: Iterable[str]) -> list[JudgedPair]:
        """Return judged pairs of lines of these topics: every place of a judged visual class is a candidate."""
        lines: dict[str, list[str]] = {}
        for place in self.places:
            known = lines.setdefault(place.visual, [])
            if place.contexts[context] not in known:
                known.append(place.contexts[context])
        query = {place.topic: place.contexts[context] for place in self.topics}
        return [
            JudgedPair(topic, query[topic], line, max(0, min(3, grade)))
            for topic in topics
            if topic in query
            for visual, grade in self.qrels.grades[topic].items()
            for line in lines.get(visual, ())
        ]

    def splits(self, topics: str, folds: int = 5) -> Iterator[tuple[list[str], list[str]]]:
        """Yield (topics to train on, topics to rank)."""
        known = [place.topic for place in self.topics if place.topic in self.qrels.grades]
        return split_topics(known, topics, folds)

    def rank(self, system: MathAMRSystem, topics: Iterable[str]) -> dict[str, list[tuple[str, float]]]:
        """Return the cosines of visual classes for each topic, each by its best place."""
        context, asked = system.configuration.context, set(topics)
        queries = [place for place in self.topics if place.topic in asked]
        table = system.encoder.encode([place.contexts[context] for place in (*queries, *self.places)])
        names, of = np.unique([place.visual for place in self.places], return_inverse=True)
        found = {}
        for place, vector in zip(queries, table, strict=False):
            best = np.full(len(names), -2.0, np.float32)
            np.maximum.at(best, of, table[len(queries) :] @ vector)
            found[place.topic] = list(zip(names.tolist(), best.tolist(), strict=True))
        return found


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
    collection, reader = collection_of([corpus]), load_parser(parser)
    tests = sets_by_task(collection).get("task2", [])
    topics, qrels = [topic for test in tests for topic in test.topics], judgments(tests)
    places = list(collection_places(collection.posts(), qrels, reader))
    materials = ContextMaterials(list(topic_places(topics, reader)), places, qrels)
    found = materials.pairs(context, qrels.topics)
    if not found:
        raise MathAMRError(f"{corpus} has no judged formula of a topic: MathAMR learns from those of Task 2")
    return found
