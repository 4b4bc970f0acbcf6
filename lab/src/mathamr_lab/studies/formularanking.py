"""Cross-validates the default ranking of formulas on the judged formulas of ARQMath, 2020 and 2021 together.

Lexical terms are ranked alone, and with the alignment of trees, with the nodes of formula-graph in the box (MaxSim, in one direction and both) and with both,
with every fixed weight and with weights chosen inside the folds: topics are split into five folds, each is ranked by the
choice that is best (Bpref plus MAP') on the other four; that is repeated for ten splits, and a topic counts with its mean. Scores are
shares of the best or, as a formula-graph index fuses them, in standard deviations (z). The current weights of the lexical fields were chosen on the
topics of arqmath-mini, so compare rows where both sides choose inside the folds. `alike` are the nodes of the default ranking: in the
reading of the lexical terms, by the network without torch, and `alike, mean` is the mean of both views where the default ranking takes the better one; shares are chosen by all judgments of other topics, in arqmath-mini and in the pool.

There are two sets: Task 2 of arqmath-mini, and every topic once, where those of 2020 have their complete judged pool. All judged formulas of a
topic are ranked, with idf of the complete collection, so that nothing depends on the depth of a run. Scores of other
components take part if `MATHAMR_HYBRID` names a folder: its `runs/task2/NAME.run` are read (formulas by visual id;
the study `hybrid` makes `single.run`, the vectors of the model in the box).

At the end the default ranking and lexical search run over all of arqmath-mini, with the classes that the product uses: for the topics, and for
formulas of the collection with other letters.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.evaluation.comparison import compare
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import read_qrels
from mathamr.evaluation.runs import DEPTH, Run, read_run
from mathamr.evaluation.scores import Scores
from mathamr.evaluation.table import means_table, significance_table
from mathamr.evaluation.topics import Topic, read_topics
from mathamr.formulas.alignment import similarity
from mathamr.formulas.latex.lexer import tokenize
from mathamr.formulas.parse import FormulaError, parse
from mathamr.formulas.renaming import FEWEST_SYMBOLS, form_key
from mathamr.formulas.tree import Opt, Slt
from mathamr.formulas.trees import Trees, trees_of
from mathamr.index.build.visualkeys import visual_keys
from mathamr.index.lexical.bags import bag_of, formula_bag
from mathamr.index.lexical.lexicalindex import FORMULAS, LexicalIndex, LexicalPart
from mathamr.index.lexical.terms import FORMULA_FIELDS, Terms, formula_terms, reading_in_force
from mathamr.posts.post import Formula
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.formularanker import FormulaRanker
from mathamr.search.fusion import by_top
from mathamr.search.options import SearchOptions
from mathamr.search.query import Query, QueryError
from mathamr.search.querycontext import QueryContext
from mathamr.systems.formulagraph.numpynodes import nodes_of
from mathamr.systems.mathamrplus.system import ALIGNED_POOL, MathAMRPlusSystem
from mathamr.systems.models import load_system
from mathamr.systems.ranking import Aligned, Component, Fuse, Lexical, Promote, Ranking, Rerank, fields_of
from mathamr_lab.data import data_folder
from mathamr_lab.experiments.formulacollection import FormulaCollection
from mathamr_lab.experiments.formulascores import collection_scores, fused
from mathamr_lab.experiments.judgedpool import JudgedPool
from mathamr_lab.studies.crossvalidation import DEALS, FOLDS, Values, cross_validated

MEASURES = ["Bpref", "MAP'", "nDCG'", "P'@10"]
CHOSEN_BY = 2
"""The first measures, whose sum decides which choice is best."""
YEARS = ("2020", "2021")
RENAMED = 200
FIELD_WEIGHTS = {
    "latex": (0.25, 0.5, 1.0),
    "paths": (0.0, 0.25, 0.5),
    "parts": (0.5, 1.0),
    "shapes": (0.5, 1.0, 2.0),
}
SHARES = (0.0, 0.1, 0.2, 0.4)
"""The weights of a component beside lexical terms, with scores as shares of the best."""
USUAL = 0.1
"""The weight of the alignment in the default ranking."""
NODE_SHARES = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The possible weights of nodes beside that."""
ALIKE_SHARES = (0.0, 0.2, 0.4, 0.8)
WIDER = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)
"""The possible weights of both if they are chosen by all judgments: the range that was tried first, and a wider one."""
DEVIATIONS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The same with scores in standard deviations."""
NODES = {"nodes": "max", "nodes both ways": "mutual max"}
"""Components of formula-graph, by the rankings of its scores."""

Scale = Callable[[DoubleArray], DoubleArray]
Choice = tuple[tuple[float, ...], tuple[float, ...]]
"""The weights of the lexical fields, and those of the other components."""


@dataclass
class Judged:
    """A topic, its judged formulas, and the scores of each component for them."""

    topic: str
    ids: list[str]
    grades: Mapping[str, int]
    fields: DoubleArray
    """A row per formula: the contribution of each lexical field at weight 1."""
    others: dict[str, DoubleArray] = field(default_factory=dict)

    def ranked(self, weights: Sequence[float], shares: Mapping[str, float], scale: Scale) -> list[str]:
        """Ranks the formulas by the sum of the components, all in one scale; equal ones by id."""
        scores = self.fields @ np.array(weights)
        asked = {name: share for name, share in shares.items() if share}
        if asked and len(scores):
            scores = scale(scores)
            for name, share in asked.items():
                scores = scores + share * scale(self.others[name])
        return [self.ids[place] for place in np.lexsort((np.array(self.ids), -scores))]


def shares_of_best(scores: DoubleArray) -> DoubleArray:
    """Returns scores as shares of the best."""
    return by_top(np.asarray(scores, np.float64))


def deviations(scores: DoubleArray) -> DoubleArray:
    """Returns scores in standard deviations from their mean."""
    found: DoubleArray = (scores - scores.mean()) / max(float(scores.std()), 1e-9)
    return found


def run() -> None:
    folder = data_folder()
    mini = folder / "arqmath-mini"
    table = Table(mini / "Posts.xml")
    with tempfile.TemporaryDirectory() as temporary, LexicalIndex.open(Path(temporary)) as index:
        index.formulas.update_bags((visual, formula_bag(*each)) for visual, each in table.formulas.items())
        judged = {year: _mini(mini, year, table, index.formulas) for year in YEARS}
        others = _runs([each for topics in judged.values() for each in topics])
        _compare("arqmath-mini, 2020 and 2021", [*judged["2020"], *judged["2021"]], others)
        pool = _pool(folder / "arqmath1-formula-trees")
        _compare("every topic once: 2020 from the pool, 2021 from arqmath-mini", [*pool, *judged["2021"]], [])
        _chosen_by_all(judged, pool)
        _searched(mini, table, index.formulas)
        _renamed(table, index.formulas)


def _judged(
    topic: str,
    grades: Mapping[str, int],
    evidence: Mapping[str, Mapping[str, float]],
    query: Trees,
    trees: Mapping[str, Trees],
) -> Judged:
    """Builds a judged topic; `evidence` has the contribution of each field with the current weights; equal `trees` are compared once."""
    found = {id(trees[each]): trees[each] for each in evidence}
    aligned = {key: similarity(query, each) for key, each in found.items()}
    views = nodes_of("formula-graph").by_view(query, list(found.values()))
    alike, mean = (
        dict(zip(found, each.tolist(), strict=True)) for each in (views.max(axis=0), views.mean(axis=0))
    )
    rows = [
        [found.get(name, 0.0) / FORMULAS.fields[name] for name in FORMULA_FIELDS]
        for found in evidence.values()
    ]
    others = {
        name: np.array([scores[id(trees[each])] for each in evidence])
        for name, scores in (("aligned", aligned), ("alike", alike), ("alike, mean", mean))
    }
    return Judged(topic, list(evidence), grades, np.array(rows).reshape(-1, len(FORMULA_FIELDS)), others)


def _mini(folder: Path, year: str, table: Table, lexicon: LexicalPart) -> list[Judged]:
    grades = read_qrels(folder / "qrels" / f"task2-{year}.qrels").with_relevant().grades
    found: list[Judged] = []
    asked: dict[str, Trees] = {}
    for topic in read_topics(folder / "topics" / f"task2-{year}.xml"):
        if topic.id not in grades or topic.formula is None:
            continue
        visuals = {each: table.visual_of[each] for each in grades[topic.id] if each in table.visual_of}
        terms = formula_terms(topic.formula, topic.post.macros)
        evidence = lexicon.evidence(terms, set(visuals.values()))
        trees = trees_of(topic.formula, topic.post.macros, reading_in_force())[0]
        known = table.trees(list(evidence), reading_in_force())
        named = {each: evidence[visual] for each, visual in visuals.items()}
        read = {each: known[visual] for each, visual in visuals.items()}
        found.append(_judged(topic.id, grades[topic.id], named, trees, read))
        asked[topic.id] = trees_of(topic.formula, topic.post.macros)[0]
    names = dict.fromkeys(each for topic in found for each in topic.ids)
    published = table.trees([table.visual_of[each] for each in names])
    _give_nodes(found, asked, {each: published[table.visual_of[each]] for each in names})
    return found


def _pool(folder: Path) -> list[Judged]:
    pool, reading = JudgedPool.read(folder), reading_in_force()
    grades = pool.qrels(pool.official).grades
    formulas = {each: pool.formulas[each] for judged in grades.values() for each in judged}

    def meant(latex: str, trees: Trees, is_legible: bool) -> Trees:
        return trees_of(Formula("", latex), (), reading)[0] if is_legible else trees

    trees = {each: meant(made.latex, made.trees, made.is_legible) for each, made in formulas.items()}
    found: list[Judged] = []
    with tempfile.TemporaryDirectory() as temporary, LexicalIndex.open(Path(temporary)) as index:
        index.formulas.update_bags((each, bag_of(made.terms(reading))) for each, made in formulas.items())
        for topic, judged in grades.items():
            query = pool.queries[topic]
            terms: Terms = query.terms(reading)
            evidence = index.formulas.evidence(terms, judged)
            ours = meant(query.latex, query.trees, query.is_legible)
            found.append(_judged(topic, judged, evidence, ours, trees))
    asked = {topic: pool.queries[topic].trees for topic in grades}
    _give_nodes(found, asked, {each: made.trees for each, made in formulas.items()})
    return found


def _give_nodes(
    topics: Sequence[Judged], queries: Mapping[str, Trees], formulas: Mapping[str, Trees]
) -> None:
    """Adds the scores of formula-graph in the box to every topic; a formula without trees gets the lowest."""

    def both(trees: Mapping[str, Trees]) -> dict[str, tuple[Slt, Opt]]:
        return {name: (slt, opt) for name, (opt, slt) in trees.items() if opt is not None and slt is not None}

    grades = {each.topic: each.grades for each in topics}
    collection = FormulaCollection.of("judged", both(formulas), both(queries), grades)
    scores = collection_scores(load_system("formula-graph", "cpu"), collection)
    place = {name: number for number, name in enumerate(collection.candidates)}
    for name, ranking in NODES.items():
        matrix = dict(zip(collection.topics, fused(scores, ranking), strict=True))
        for each in topics:
            row = matrix.get(each.topic)
            worth = [
                0.0 if row is None or item not in place else float(row[place[item]]) for item in each.ids
            ]
            each.others[name] = np.array(worth)


def _runs(topics: Sequence[Judged]) -> list[str]:
    """Adds the scores of other components' runs to every topic and returns their names."""
    place = os.environ.get("MATHAMR_HYBRID")
    paths = sorted((Path(place) / "runs" / "task2").glob("*.run")) if place else []
    names: list[str] = []
    for path in paths:
        if path.stem == "lexical":
            continue
        made: Run = read_run(path)
        for each in topics:
            scores = dict(made.rankings.get(each.topic, ()))
            least = min(scores.values(), default=0.0)
            each.others[path.stem] = np.array([scores.get(item, least) for item in each.ids])
        names.append(path.stem)
    return names


def _compare(name: str, topics: Sequence[Judged], others: Sequence[str]) -> None:
    print(f"\n== {name}: {len(topics)} topics, {sum(len(each.ids) for each in topics):,} judged formulas")
    current = tuple(FORMULAS.fields[each] for each in FORMULA_FIELDS)
    grid = list(product(*(FIELD_WEIGHTS[each] for each in FORMULA_FIELDS)))
    measured = _Measured(topics)
    rows: dict[str, Values] = {"lexical": measured.of(current, {})}
    for share in SHARES[1:]:
        rows[f"lexical + {share:g} aligned"] = measured.of(current, {"aligned": share})
    rows["aligned"] = measured.of((0.0,) * len(current), {"aligned": 1.0})
    rows["lexical, cross-validated"] = measured.cross_validated((), [(each, ()) for each in grid])
    rows["lexical + aligned, cross-validated"] = measured.cross_validated(
        ("aligned",), [(each, (share,)) for each in grid for share in SHARES]
    )
    rows["lexical as it is + aligned, share cross-validated"] = measured.cross_validated(
        ("aligned",), [(current, (share,)) for share in SHARES]
    )
    rows |= {name: measured.of((0.0,) * len(current), {name: 1.0}) for name in NODES}
    for other in others:
        rows[other] = measured.of((0.0,) * len(current), {other: 1.0})
        rows[f"lexical + {other}, cross-validated"] = measured.cross_validated(
            (other,), [(each, (share,)) for each in grid for share in SHARES]
        )
        rows[f"lexical + aligned + {other}, cross-validated"] = measured.cross_validated(
            ("aligned", other), [(each, shares) for each in grid for shares in product(SHARES, repeat=2)]
        )
    for parts in (("aligned",), *((name,) for name in NODES), *(("aligned", name) for name in NODES)):
        rows[f"lexical as it is + {' + '.join(parts)}, z, share cross-validated"] = measured.cross_validated(
            parts, [(current, shares) for shares in product(DEVIATIONS, repeat=len(parts))], deviations
        )
    rows[f"lexical as it is + {USUAL:g} aligned + nodes, share cross-validated"] = measured.cross_validated(
        ("aligned", "nodes"), [(current, (USUAL, share)) for share in NODE_SHARES]
    )
    hybrid = measured.of(current, {"aligned": USUAL, "nodes": 0.8})
    rows[f"lexical + {USUAL:g} aligned + 0.8 nodes, share as in hybrid"] = hybrid
    _report(rows, [each.topic for each in topics], "lexical, cross-validated")
    _report(
        {name: rows[name] for name in rows if name == "lexical" or "share" in name},
        [each.topic for each in topics],
        "lexical",
    )


def _chosen_by_all(judged: Mapping[str, Sequence[Judged]], pool: Sequence[Judged]) -> None:
    """Chooses shares by all judgments of other topics, in arqmath-mini and in the pool, for topics of either."""
    topics = [*judged["2020"], *judged["2021"], *pool]
    measured, names = _Measured(topics), [each.topic for each in topics]
    current = tuple(FORMULAS.fields[each] for each in FORMULA_FIELDS)
    rows: dict[str, Values] = {"lexical": measured.of(current, {})}
    print(
        f"\n== shares chosen by all judgments of other topics: {len(set(names))} topics, {len(names)} sets of judgments"
    )
    for parts, shares in (
        (("aligned",), [(each,) for each in SHARES]),
        (("aligned", "nodes"), list(product(SHARES, ALIKE_SHARES))),
        (("aligned", "alike"), list(product(SHARES, ALIKE_SHARES))),
        (("aligned", "alike"), list(product(WIDER, WIDER))),
        (("aligned", "alike, mean"), list(product(SHARES, ALIKE_SHARES))),
    ):
        widest = " to ".join(f"{each:g}" for each in shares[-1])
        rows[f"lexical + {' + '.join(parts)}, up to {widest}"] = measured.cross_validated(
            parts, [(current, each) for each in shares], names=names
        )
    for share in (0.2, 0.3, 0.4):
        rows[f"lexical + {share:g} aligned + 0.8 alike"] = measured.of(
            current, {"aligned": share, "alike": 0.8}
        )
    cut = len(names) - len(pool)
    sets = {
        "arqmath-mini": np.arange(cut),
        "every topic once": np.r_[cut : len(names), len(judged["2020"]) : cut],
    }
    for name, chosen in sets.items():
        print(f"\n-- {name}: {len(chosen)} topics")
        _report(
            {row: {each: found[chosen] for each, found in values.items()} for row, values in rows.items()},
            [names[place] for place in chosen],
            "lexical",
        )


class _Measured:
    """Measures choices on all topics, each once."""

    def __init__(self, topics: Sequence[Judged]) -> None:
        self._topics = topics
        self._measures = measures(MEASURES)
        self._known: dict[tuple[object, ...], Values] = {}

    def of(
        self, weights: tuple[float, ...], shares: Mapping[str, float], scale: Scale = shares_of_best
    ) -> Values:
        """Returns the values of one choice."""
        key = (weights, tuple((name, share) for name, share in shares.items() if share), scale)
        if key not in self._known:
            found = [(each.ranked(weights, shares, scale), each.grades) for each in self._topics]
            self._known[key] = {
                str(measure): np.array([measure.of(ids, grades) for ids, grades in found])
                for measure in self._measures
            }
        return self._known[key]

    def cross_validated(
        self,
        parts: Sequence[str],
        choices: Sequence[Choice],
        scale: Scale = shares_of_best,
        names: Sequence[str] | None = None,
    ) -> Values:
        """Ranks every topic by the choice that is best on the other folds; returns the mean over several splits."""
        tried = [
            self.of(weights, dict(zip(parts, shares, strict=True)), scale) for weights, shares in choices
        ]
        total, taken = cross_validated(tried, MEASURES[:CHOSEN_BY], names)
        most, count = taken.most_common(1)[0]
        weights = ", ".join(
            f"{name} {weight:g}" for name, weight in zip(FORMULA_FIELDS, choices[most][0], strict=True)
        )
        shares = "".join(f"; {name} {share:g}" for name, share in zip(parts, choices[most][1], strict=True))
        print(f"  {' + '.join(('lexical', *parts))}: {count} of {FOLDS * DEALS} times {weights}{shares}")
        return total


class Table:
    """The formulas of the collection by their visual classes, as in an index."""

    def __init__(self, path: Path) -> None:
        self.formulas: dict[str, tuple[Formula, tuple[str, ...]]] = {}
        self.visual_ids: dict[str, list[str]] = {}
        for post in read_posts(path, Report()):
            for formula, visual in zip(post.formulas, visual_keys(post), strict=True):
                self.formulas.setdefault(visual, (formula, post.macros))
                known = self.visual_ids.setdefault(visual, [])
                if formula.visual_id and formula.visual_id not in known:
                    known.append(formula.visual_id)

    @cached_property
    def visual_of(self) -> dict[str, str]:
        """Maps formulas to the visual ids of the collection."""
        return {each: visual for visual, known in self.visual_ids.items() for each in known}

    def visuals_of(self, formulas: Sequence[str]) -> dict[str, str]:
        """Returns nothing: there are no fields of formulas here."""
        return {}

    def with_visual(self, visual: str) -> list[str]:
        """Returns the formula that represents a visual class."""
        return [self.formulas[visual][0].id] if visual in self.formulas else []

    def first_with(self, visuals: Sequence[str]) -> dict[str, str]:
        """Returns the formula of each visual class."""
        return {visual: self.formulas[visual][0].id for visual in visuals if visual in self.formulas}

    def trees(self, visuals: Sequence[str], reading: str = "published") -> dict[str, Trees]:
        """Returns the trees of each visual class."""
        return {
            visual: trees_of(*self.formulas[visual], reading)[0]
            for visual in visuals
            if visual in self.formulas
        }

    def judged(self, visuals: Iterable[str]) -> list[str]:
        """Returns the visual ids of the collection, each once."""
        return list(dict.fromkeys(each for visual in visuals for each in self.visual_ids.get(visual, ())))


def _searched(folder: Path, table: Table, lexicon: LexicalPart) -> None:
    """Computes runs over the complete collection with the product's rankings."""
    name, usual = next(iter(MathAMRPlusSystem.rankings["formulas"].items()))
    rankings: dict[str, Ranking] = {"lexical": Lexical(), "lexical + 0.1 aligned": _aligned_alone()}
    if not any(True for _ in fields_of(usual)):
        rankings[f"{name}, the usual"] = usual
    topics: list[Topic] = []
    grades: list[Mapping[str, int]] = []
    for year in YEARS:
        judged = read_qrels(folder / "qrels" / f"task2-{year}.qrels").with_relevant().grades
        chosen = [each for each in read_topics(folder / "topics" / f"task2-{year}.xml") if each.id in judged]
        topics += chosen
        grades += [judged[each.id] for each in chosen]
    print(f"\n== searches in all {len(table.formulas):,} visual classes of arqmath-mini")
    rows: dict[str, Values] = {}
    for called, ranking in rankings.items():
        found = [table.judged(_visuals(topic, ranking, table, lexicon)) for topic in topics]
        rows[called] = {
            str(measure): np.array([measure.of(ids, own) for ids, own in zip(found, grades, strict=True)])
            for measure in measures(MEASURES)
        }
    _report(rows, [each.id for each in topics], "lexical")


def _aligned_alone() -> Ranking:
    """Returns the default ranking without the comparison of nodes."""
    parts = (Component("lexical", Lexical(), 1.0), Component("aligned", Aligned(), USUAL))
    summed = Fuse(parts=parts, fusion="weighted-sum", normalisation="top")
    return Promote(Rerank(first=Lexical(), then=summed, pool=ALIGNED_POOL, keeps_rest=True))


def _renamed(table: Table, lexicon: LexicalPart) -> None:
    """Searches for formulas of the collection with other letters: how often they are among the candidates, and first."""
    rankings = {"lexical": Lexical(), "usual": next(iter(MathAMRPlusSystem.rankings["formulas"].values()))}
    generator, asked = Random(0), 0
    first, candidates = dict.fromkeys(rankings, 0), 0
    for visual in generator.sample(sorted(table.formulas), len(table.formulas)):
        latex = table.formulas[visual][0].latex
        query = _in_other_letters(latex, generator)
        if query is None:
            continue
        try:
            typed, forms = Query.of_formula(query), [parse(each).slt for each in (latex, query)]
        except (FormulaError, QueryError):
            continue
        if len(forms[0]) < FEWEST_SYMBOLS or form_key(forms[0]) != form_key(forms[1]):
            continue
        form, asked = form_key(forms[0]), asked + 1
        for name, ranking in rankings.items():
            found = _ranked(typed, ranking, table, lexicon)
            same = [
                each is not None and form_key(each) == form
                for _, each in table.trees(found[:ALIGNED_POOL]).values()
            ]
            first[name] += same[0] if same else 0
            candidates += any(same) if name == "lexical" else 0
        if asked == RENAMED:
            break
    print(f"\n== {asked} formulas asked for in other letters")
    print(f"  the same form is among the first {ALIGNED_POOL} by lexical terms: {candidates / asked:.1%}")
    for name, count in first.items():
        print(f"  it is the first by {name}: {count / asked:.1%}")


def _in_other_letters(latex: str, generator: Random) -> str | None:
    """Replaces every letter of the formula by one that it does not contain; returns None if that is impossible."""
    tokens, _ = tokenize(latex)
    letters = sorted({token for token in tokens if len(token) == 1 and token.isascii() and token.isalpha()})
    unused = sorted(set("abcdfghjklmnpqrstuvwxyz") - set(letters))
    if not letters or "\\text" in latex or "\\operatorname" in latex or len(unused) < len(letters):
        return None
    names = dict(zip(letters, generator.sample(unused, len(letters)), strict=True))
    return "".join(names.get(token, token) for token in tokens)


def _visuals(topic: Topic, ranking: Ranking, table: Table, lexicon: LexicalPart) -> list[str]:
    return _ranked(Query.of_post(topic.post, topic.formula_id), ranking, table, lexicon)


def _ranked(query: Query, ranking: Ranking, table: Table, lexicon: LexicalPart) -> list[str]:
    asked = QueryContext(query, cast(Any, None), formula=query.target()[0])
    payloads: Callable[..., dict[str, Any]] = lambda _kind, _ids: {}  # noqa: E731
    ranker = FormulaRanker(asked, cast(Any, None), lambda: lexicon, table, payloads)
    return [each.visual for each in ranker.rank(ranking, SearchOptions(DEPTH), "it") if each.visual]


def _report(rows: Mapping[str, Values], topics: Sequence[str], baseline: str) -> None:
    scores = [
        Scores(
            name, {each: dict(zip(topics, map(float, found), strict=True)) for each, found in values.items()}
        )
        for name, values in rows.items()
    ]
    comparison = compare(scores, baseline, MEASURES[:CHOSEN_BY])
    print("\n† is what the others are tested against; tests are paired by topic")
    print(means_table(comparison))
    print(significance_table(comparison), flush=True)
