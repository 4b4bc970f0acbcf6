"""`Case`: a topic on which two runs differ, with the hits of both and the ranks of the judged items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mathamr.evaluation.comparison import Comparison
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.runs import DEPTH, Run, RunHit
from mathamr.posts.post import Formula, Post

CASES = 5
"""The number of topics shown for gains and for losses."""

HITS = 5
MOST_JUDGED = 25


@dataclass(frozen=True)
class Standing:
    """A judged item: its grade and its rank in each run, `None` if a run lacks it."""

    item: str
    grade: int
    ranks: tuple[int | None, ...]


@dataclass(frozen=True)
class Case:
    """One topic: the values of the runs, their first hits, and the ranks of the best judged items."""

    topic: str
    values: tuple[float, ...]
    hits: tuple[tuple[RunHit, ...], ...]
    standings: tuple[Standing, ...]

    @property
    def items(self) -> set[str]:
        """The items whose text the page shows."""
        return {hit.id for hits in self.hits for hit in hits}


def differing(values: Mapping[str, float], baseline: Mapping[str, float], count: int = CASES) -> list[str]:
    """Return the topics that gain most, then those that lose most; topics without a difference are left out."""
    ranked = sorted(values, key=lambda topic: (baseline[topic] - values[topic], topic))
    gains = [topic for topic in ranked[:count] if values[topic] > baseline[topic]]
    losses = [topic for topic in reversed(ranked[-count:]) if values[topic] < baseline[topic]]
    return gains + losses


def hardest(values: Mapping[str, float], count: int = CASES) -> list[str]:
    """Return the topics with the lowest values, for a run without a baseline."""
    return sorted(values, key=lambda topic: (values[topic], topic))[:count]


def case(topic: str, comparison: Comparison, runs: Sequence[Run], qrels: Qrels, measure: str) -> Case:
    """Return the case of a topic for some runs."""
    places = [{item: rank for rank, item in enumerate(run.ids(topic, DEPTH), 1)} for run in runs]
    best = sorted(qrels.grades[topic].items(), key=lambda judged: (-judged[1], judged[0]))
    standings = tuple(
        Standing(item, grade, tuple(ranks.get(item) for ranks in places))
        for item, grade in best[:MOST_JUDGED]
    )
    values = tuple(comparison.of(run.name).values[measure][topic] for run in runs)
    hits = tuple(run.rankings.get(topic, ())[:HITS] for run in runs)
    return Case(topic, values, hits, standings)


@dataclass(frozen=True)
class Texts:
    """The posts and formulas of hits, by id; both are empty if no posts were given."""

    posts: Mapping[str, Post]
    formulas: Mapping[str, tuple[Formula, Post]]
    are_given: bool


def find_texts(posts: Iterable[Post], items: set[str], *, are_formulas: bool) -> Texts:
    """Look up items in a collection: posts by id, or formulas by visual id in the first post that has them."""
    found: dict[str, Post] = {}
    formulas: dict[str, tuple[Formula, Post]] = {}
    are_given = False
    for post in posts:
        are_given = True
        if not are_formulas:
            if post.id in items:
                found[post.id] = post
            continue
        for formula in post.formulas:
            visual = formula.visual_id or formula.id
            if visual in items and visual not in formulas:
                formulas[visual] = formula, post
    return Texts(found, formulas, are_given)
