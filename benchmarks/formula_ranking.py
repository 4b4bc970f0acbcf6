"""How formulas are ranked by default, chosen by cross-validation on Task 2 of arqmath-mini, 2020 and 2021 together.

Candidates are the best by lexical terms, as in a search. The first of them are ordered again by a fusion of their terms,
of the alignment of their trees and, where they are at hand, of vectors; then the very formula and the same formula in other
letters come first. `MATHAMR_HYBRID` may name a folder with `runs/task2/NAME.run`, runs of other components that name
formulas by visual id (`benchmarks hybrid` makes `single.run`, the vectors of the model in the box).

Rows to believe are those called cross-validated: topics are dealt into five parts, each part is ranked by the choice that
is best (Bpref plus MAP') on the other four; that is done for ten deals, and a topic counts with its mean. `default` is the
ranking that users have, run by the very objects that they use; it was chosen on these topics.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from benchmarks._data import data_folder
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import DEPTH, read_run
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.table import means_table, significance_table
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.formulas.trees import Trees, trees_of
from mathamr.index.lexical.bags import formula_bag
from mathamr.index.lexical.lexicalindex import LexicalIndex, LexicalPart
from mathamr.index.making.lookkeys import look_keys
from mathamr.index.scored import Scored
from mathamr.posts.post import Formula
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.asked import Asked
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.query import Query
from mathamr.search.ranked import Demand
from mathamr.systems.mathamrplus.system import FORMULA, MathAMRPlusSystem
from mathamr.systems.ranking import (
    Aligned,
    Component,
    Fuse,
    Lexical,
    MaxSim,
    Nearest,
    NearestRows,
    Promote,
    Ranking,
    Rerank,
    fields_of,
)

MEASURES = ["Bpref", "MAP'", "nDCG'", "P'@10"]
CHOSEN_BY = 2
"""The first measures, whose sum decides which choice is best."""
YEARS = ("2020", "2021")
FOLDS, DEALS = 5, 10
DEEPEST = 400
"""Candidates whose trees are aligned at most."""
POOLS = (50, 100, 200, DEEPEST)
WEIGHTS = (0.25, 0.5, 1.0, 2.0)
LESS = (0.25, 0.5, 1.0)
FUSIONS = (("mean", "z"), ("mean", "min-max"), ("f1", "z"))

Values = Mapping[str, npt.NDArray[np.float64]]
"""By measure, a number a topic."""


class Table:
    """The formulas of the collection by their looks, as an index has them."""

    def __init__(self, path: Path) -> None:
        self.formulas: dict[str, tuple[Formula, tuple[str, ...]]] = {}
        self.visual_ids: dict[str, list[str]] = {}
        for post in read_posts(path, Report()):
            for formula, look in zip(post.formulas, look_keys(post), strict=True):
                self.formulas.setdefault(look, (formula, post.macros))
                known = self.visual_ids.setdefault(look, [])
                if formula.visual_id and formula.visual_id not in known:
                    known.append(formula.visual_id)

    @cached_property
    def _look_of(self) -> dict[str, str]:
        return {formula.id: look for look, (formula, _) in self.formulas.items()}

    def looks_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """The looks of formulas."""
        return {each: self._look_of[each] for each in formulas if each in self._look_of}

    def with_look(self, look: str) -> list[str]:
        """The one formula that stands for a look."""
        return [self.formulas[look][0].id] if look in self.formulas else []

    def first_with(self, looks: Sequence[str]) -> dict[str, str]:
        """The formula of each look."""
        return {look: self.formulas[look][0].id for look in looks if look in self.formulas}

    def trees(self, looks: Sequence[str]) -> dict[str, Trees]:
        """The trees of each look."""
        return {look: trees_of(*self.formulas[look])[0] for look in looks if look in self.formulas}

    def judged(self, looks: Iterable[str]) -> list[str]:
        """Looks by the visual ids of the collection, each once."""
        return list(dict.fromkeys(each for look in looks for each in self.visual_ids.get(look, ())))


class _Terms:
    """The lexical scores of one query's best candidates, known already."""

    def __init__(self, hits: Sequence[Scored]) -> None:
        self._hits = hits

    def search(self, _terms: object, k: int) -> list[Scored]:
        return list(self._hits[:k])

    def score(self, _terms: object, ids: Sequence[str]) -> list[Scored]:
        wanted = set(ids)
        return [hit for hit in self._hits if hit.id in wanted]


class Remembering(FormulaRanker):
    """The ranker of users, whose components are asked once: hundreds of rankings want the same scores."""

    def __init__(self, topic: Topic, table: Table, lexicon: LexicalPart) -> None:
        query = Query.of_post(topic.post, topic.formula_id)
        asked = Asked(query, cast(Any, None), formula=query.target()[0])
        remembered = cast(LexicalPart, _Terms(lexicon.search(asked.terms, DEPTH)))
        super().__init__(asked, cast(Any, None), lambda: remembered, table, lambda _kind, _ids: {})
        self._table = table
        self.topic = topic.id
        self.fields: dict[str, list[Scored]] = {}
        """Scores of looks by what is no field of an engine here, best first."""

    @cached_property
    def _alignments(self) -> dict[str, float]:
        first = [hit.id for hit in self._by_words(self._lexicon(), Demand(DEEPEST))]
        return {hit.id: hit.score for hit in super()._aligned(first)}

    def _aligned(self, ids: Sequence[str]) -> list[Scored]:
        found = [Scored(each, self._alignments[each]) for each in ids if each in self._alignments]
        return sorted(found, key=lambda each: (-each.score, each.id))

    def _field_scores(self, name: str, ids: Sequence[str]) -> list[Scored]:
        wanted = set(ids)
        return [hit for hit in self.fields[name] if hit.id in wanted]

    def _by_field(self, leaf: Nearest | MaxSim | NearestRows, demand: Demand) -> list[Scored]:
        return self.fields[leaf.field][: demand.depth]

    def visual_ids(self, ranking: Ranking) -> list[str]:
        """What a ranking finds, as judges name it."""
        return self._table.judged(each.look for each in self.rank(ranking, Demand(DEPTH), "it") if each.look)


def run() -> None:
    folder = data_folder() / "arqmath-mini"
    table = Table(folder / "Posts.xml")
    with tempfile.TemporaryDirectory() as temporary, LexicalIndex.open(Path(temporary)) as index:
        index.formulas.update_bags((look, formula_bag(*each)) for look, each in table.formulas.items())
        rankers, grades = _topics(folder, table, index.formulas)
    others = _others(rankers, table)
    print(
        f"{len(table.formulas):,} looks, {len(rankers)} topics; vectors: {', '.join(others) or 'none given'}"
    )
    measured = _Measured(rankers, grades)
    rows: dict[str, Values] = {
        "lexical": measured.of(Lexical()),
        "lexical, promoted": measured.of(Promote(Lexical())),
        "aligned (of the first 400)": measured.of(
            Rerank(first=Lexical(), then=Aligned(), pool=DEEPEST, keeps_rest=True)
        ),
    }
    for name in others:
        rows[name] = measured.of(Nearest(name))
    rows["lexical + aligned, cross-validated"] = measured.cross_validated(
        [Promote(each) for each in _choices(POOLS, WEIGHTS)]
    )
    for name in others:
        rows[f"lexical + {name}, cross-validated"] = measured.cross_validated(
            [Promote(each) for each in _choices(POOLS, (0.0,), name)]
        )
        rows[f"lexical + aligned + {name}, cross-validated"] = measured.cross_validated(
            [Promote(each) for each in _choices((100, 200), WEIGHTS, name)]
        )
    usual = next(iter(MathAMRPlusSystem.rankings["formulas"].items()))
    if all(name in others for name in fields_of(usual[1])):
        rows[f"default ({usual[0]}), chosen here"] = measured.of(usual[1])
    _report(rows, [ranker.topic for ranker in rankers])


def _topics(
    folder: Path, table: Table, lexicon: LexicalPart
) -> tuple[list[Remembering], list[Mapping[str, int]]]:
    rankers: list[Remembering] = []
    grades: list[Mapping[str, int]] = []
    for year in YEARS:
        judged = read_qrels(folder / "qrels" / f"task2-{year}.qrels").with_relevant()
        for topic in read_topics(folder / "topics" / f"task2-{year}.xml"):
            if topic.id in judged.grades:
                rankers.append(Remembering(topic, table, lexicon))
                grades.append(judged.grades[topic.id])
    return rankers, grades


def _others(rankers: Sequence[Remembering], table: Table) -> list[str]:
    """Gives every topic the scores of other components' runs; their names."""
    place = os.environ.get("MATHAMR_HYBRID")
    paths = sorted((Path(place) / "runs" / "task2").glob("*.run")) if place else []
    look_of = {each: look for look, known in table.visual_ids.items() for each in known}
    found: list[str] = []
    for path in paths:
        name = FORMULA if path.stem == "single" else path.stem
        if name == "lexical":
            continue
        made = read_run(path)
        for ranker in rankers:
            best: dict[str, Scored] = {}
            for hit in made.rankings.get(ranker.topic, ()):
                look = look_of.get(hit.id)
                if look is not None:
                    best.setdefault(look, Scored(look, hit.score))
            ranker.fields[name] = list(best.values())
        found.append(name)
    return found


def _choices(pools: Sequence[int], weights: Sequence[float], other: str | None = None) -> list[Rerank]:
    """Rankings that order the first candidates again: by terms and alignment, and by another component."""
    more = LESS if other else (0.0,)
    return [
        Rerank(
            first=Lexical(),
            then=Fuse(
                parts=(
                    Component("lexical", Lexical()),
                    Component("aligned", Aligned(), weight),
                    *((Component(other, Nearest(other), share),) if other else ()),
                ),
                fusion=fusion,
                normalisation=normalisation,
            ),
            pool=pool,
            keeps_rest=True,
        )
        for pool, weight, share, (fusion, normalisation) in product(pools, weights, more, FUSIONS)
    ]


class _Measured:
    """Rankings measured on all topics."""

    def __init__(self, rankers: Sequence[Remembering], grades: Sequence[Mapping[str, int]]) -> None:
        self._rankers, self._grades = rankers, grades
        self._measures = measures(MEASURES)

    def of(self, ranking: Ranking) -> Values:
        """The values of a ranking."""
        found = [ranker.visual_ids(ranking) for ranker in self._rankers]
        return {
            str(measure): np.array(
                [measure.of(ids, grades) for ids, grades in zip(found, self._grades, strict=True)]
            )
            for measure in self._measures
        }

    def cross_validated(self, choices: Sequence[Ranking]) -> Values:
        """Every topic by the choice that is best on the parts it is not in; the mean over several deals."""
        tried = [self.of(choice) for choice in choices]
        quality = np.stack([sum(values[each] for each in MEASURES[:CHOSEN_BY]) for values in tried])
        total = {measure: np.zeros(len(self._rankers)) for measure in MEASURES}
        taken: dict[int, int] = {}
        for deal in range(DEALS):
            parts = np.random.default_rng(deal).permutation(len(self._rankers)) % FOLDS
            for part in range(FOLDS):
                inside = parts == part
                best = int(quality[:, ~inside].mean(axis=1).argmax())
                taken[best] = taken.get(best, 0) + 1
                for measure in MEASURES:
                    total[measure][inside] += tried[best][measure][inside] / DEALS
        overall = int(quality.mean(axis=1).argmax())
        for best, count in sorted(taken.items(), key=lambda each: -each[1])[:3]:
            print(f"  taken {count} of {FOLDS * DEALS} times: {_said(choices[best])}")
        print(f"  best on all topics: {_said(choices[overall])}")
        return total


def _said(ranking: Ranking) -> str:
    inner = ranking.ranking if isinstance(ranking, Promote) else ranking
    assert isinstance(inner, Rerank)
    assert isinstance(inner.then, Fuse)
    parts = ", ".join(f"{part.name} {part.weight:g}" for part in inner.then.parts)
    return f"first {inner.pool}, {inner.then.fusion} of {inner.then.normalisation}, {parts}"


def _report(rows: Mapping[str, Values], topics: Sequence[str]) -> None:
    scores = [
        Scores(
            name,
            {measure: dict(zip(topics, map(float, found), strict=True)) for measure, found in values.items()},
        )
        for name, values in rows.items()
    ]
    comparison = compare(scores, "lexical")
    print(f"\n{len(topics)} topics of {' and '.join(YEARS)}")
    print(means_table(comparison))
    print("\npaired t-tests by topic")
    print(significance_table(comparison))
