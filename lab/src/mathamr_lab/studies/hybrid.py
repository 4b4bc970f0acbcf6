"""Lexical, dense and hybrid search on the judged topics and on both sets of known items, with every fusion.

Lexical search is measured on the evaluation data alone, beside the BM25 baselines (bm25s) in the same run. If the
environment variable `MATHAMR_HYBRID` names a folder, dense search is measured too: its `arqmath` and `pairs` are
indexes of arqmath-mini and of the pairs (`mathamr index`), and runs are cached in `runs/SET/COMPONENT.run`, where runs of
other systems may be added to be fused with ours. The sets are task1, task2, known-items and pairs.

`default` is the hybrid with the default weights of a search. They were chosen on arqmath-mini, so
the row to trust there is `cross-validated`: five folds of the topics, each ranked with the weights that are best on
the other four. Nothing is chosen on the held-out pairs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np

from mathamr.core.arrays import DoubleArray
from mathamr.evaluation import baselines
from mathamr.evaluation.fusedruns import fuse_runs
from mathamr.evaluation.measures import measures
from mathamr.evaluation.runs import DEPTH, Run, read_run, write_run
from mathamr.evaluation.scores import evaluate
from mathamr.evaluation.table import aligned
from mathamr.evaluation.topics import Topic
from mathamr.evaluation.topicsearch import retrieve
from mathamr.index.lexical.bags import formula_bag, post_bag
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.lexical.terms import Terms, formula_terms, post_terms
from mathamr.index.scored import ScoredColumns
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr.search.fusion import FUSIONS, NORMALISATIONS
from mathamr.search.searcher import Index
from mathamr.systems.mathamrplus.system import MathAMRPlusSystem
from mathamr.systems.ranking import Fuse, Promote, Ranking, Task, Unhub
from mathamr_lab.data import data_folder
from mathamr_lab.studies.testsets import TopicSet, mean_and_error, p_value, topic_sets


def blend_of(ranking: Ranking) -> Fuse:
    """Returns the fusion inside a ranking."""
    inner = ranking.ranking if isinstance(ranking, Promote) else ranking
    inner = inner.first if isinstance(inner, Unhub) else inner
    assert isinstance(inner, Fuse)
    return inner


BASELINE = {"answers": "bm25", "formulas": "latex-ngrams"}
COMPONENTS = {"answers": ("lexical", "single", "maxsim"), "formulas": ("lexical", "single")}
BLENDS = {task: blend_of(named["hybrid"]) for task, named in MathAMRPlusSystem.rankings.items()}
"""The fusions of the default rankings, without the promotion of exact matches."""
FOLDS = 5
STEPS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The possible weights of a component beside lexical search, whose weight is 1."""
MOST_CHOICES = 1500
NORMALISED_BY = ("min-max", "top", "z")

Choice = tuple[str, tuple[float, ...]]
"""How scores are normalised, and the weight of each component."""


def run() -> None:
    folder = data_folder()
    place = os.environ.get("MATHAMR_HYBRID")
    if not place:
        print("dense and hybrid search are left out: MATHAMR_HYBRID names no folder with indexes")
    sources = {
        "arqmath": folder / "arqmath-mini" / "Posts.xml",
        "pairs": folder / "pairs" / "pairs.jsonl.gz",
    }
    for name, path in sources.items():
        posts = list(read_posts(path, Report()))
        sets = [each for each in topic_sets(folder) if each.collection == name]
        with tempfile.TemporaryDirectory() as temporary, LexicalIndex.open(Path(temporary)) as lexical:
            _fill(lexical, posts, Path(temporary))
            for each in sets:
                known = baseline_of(each, posts)
                components = _lexical(each, lexical) | (kept_runs(each, Path(place)) if place else {})
                report(each, known, components)


def _fill(lexical: LexicalIndex, posts: Sequence[Post], folder: Path) -> None:
    """Fills the lexical index with the answers of a collection and one formula of each visual class."""
    started = time.perf_counter()
    lexical.posts.update_bags((post.id, post_bag(post)) for post in posts if post.kind == "answer")
    visuals = {
        formula.visual_id: (formula, post.macros)
        for post in reversed(posts)
        for formula in reversed(post.formulas)
        if formula.visual_id
    }
    lexical.formulas.update_bags((visual, formula_bag(*formula)) for visual, formula in visuals.items())
    seconds = time.perf_counter() - started
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(
        f"\nlexical index of {lexical.posts.count():,} answers and {lexical.formulas.count():,} visual classes of formulas: "
        f"{seconds:.0f} s, {size / 1e6:.1f} MB"
    )


def _lexical(each: TopicSet, index: LexicalIndex) -> dict[str, Run]:
    part = index.posts if each.task == "answers" else index.formulas
    queries = [_terms(topic, each.task) for topic in each.topics]
    started = time.perf_counter()
    hits = [part.search(query, DEPTH) for query in queries]
    seconds = time.perf_counter() - started
    print(f"\n{each.name}: {len(hits) / seconds:.0f} lexical searches/s of {DEPTH:,} results each")
    found = {
        topic.id: [(hit.id, hit.score) for hit in ranked]
        for topic, ranked in zip(each.topics, hits, strict=True)
    }
    return {"lexical": Run.of("lexical", found)}


def _terms(topic: Topic, task: Task) -> Terms:
    if task == "answers" or topic.formula is None:
        return post_terms(topic.post)
    return formula_terms(topic.formula, topic.post.macros)


def baseline_of(each: TopicSet, posts: Sequence[Post]) -> Run:
    """Returns the run of the bm25s baseline."""
    return baselines.run(BASELINE[each.task], posts, each.topics, each.task)


def kept_runs(each: TopicSet, place: Path) -> dict[str, Run]:
    """Returns runs of the index's components, computed if missing, and those of other systems."""
    folder = place / "runs" / each.name
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in COMPONENTS[each.task] if not (folder / f"{name}.run").exists()]
    if missing and (place / each.collection).is_dir():
        with Index.open(place / each.collection) as index:
            for name in missing:
                made = retrieve(index, each.topics, each.task, strategy=name)
                write_run(made.run(), folder / f"{name}.run")
    return {path.stem: read_run(path) for path in sorted(folder.glob("*.run"))}


def report(each: TopicSet, baseline: Run, components: Mapping[str, Run]) -> None:
    """Prints the figures of the components, of every fusion of them, and of the hybrid."""
    runs = {baseline.name: baseline, **components}
    if len(components) > 1:
        for fusion in FUSIONS:
            runs[fusion] = fuse_runs(list(components.values()), fusion, name=fusion)
        blend = BLENDS[each.task].suited(each.kind)
        runs["default"] = fuse_runs(
            [components[part.name] for part in blend.asked],
            blend.fusion,
            [part.weight for part in blend.asked],
            normalisation=blend.normalisation,
            name="default",
        )
        if not each.is_held_out:
            runs["cross-validated"] = _cross_validated(each, components)
    chosen = measures(each.measures)
    scores = {name: evaluate(run, each.qrels, chosen) for name, run in runs.items()}
    first = each.measures[0]
    best = max(components, key=lambda name: scores[name].mean(first))
    rows = [["", *each.measures, f"× {baseline.name}", f"p against {best}", f"p against {baseline.name}"]]
    for name, found in scores.items():
        figures = [mean_and_error(found, measure) for measure in each.measures]
        ratio = found.mean(first) / scores[baseline.name].mean(first)
        tests = [
            "/".join(
                p_value(found.values[measure], scores[other].values[measure]) for measure in each.measures[:2]
            )
            if name != other
            else ""
            for other in (best, baseline.name)
        ]
        rows.append([name, *figures, f"{ratio:.2f}", *tests])
    print(f"\n{each.name}: {len(each.topics)} topics; p-values of {' and '.join(each.measures[:2])}")
    print(aligned(rows), flush=True)


def _cross_validated(each: TopicSet, components: Mapping[str, Run]) -> Run:
    """Returns the hybrid, every topic with the weights that are best on the other folds."""
    steps: Sequence[float] = STEPS
    while len(NORMALISED_BY) * len(steps) ** (len(components) - 1) > MOST_CHOICES:
        steps = steps[::2]
    others = [name for name in components if name != "lexical"]
    order = ["lexical", *others]
    choices: list[Choice] = [
        (name, (1.0, *weights)) for name in NORMALISED_BY for weights in product(steps, repeat=len(others))
    ]
    values = np.array(
        [_values(each, topic.id, [components[name] for name in order], choices) for topic in each.topics]
    )
    parts = np.array([crc32(topic.id.encode()) % FOLDS for topic in each.topics])
    rankings: dict[str, list[tuple[str, float]]] = {}
    for part in range(FOLDS):
        best = choices[int(np.argmax(values[parts != part].mean(axis=0)))]
        for topic in (topic for topic, own in zip(each.topics, parts, strict=True) if own == part):
            items, scores = _normalised(topic.id, [components[name] for name in order], best[0])
            rankings[topic.id] = list(zip(items, (np.array(best[1]) @ scores).tolist(), strict=True))
        print(f"  part {part + 1} of {each.name}: {_said(best, order)}")
    print(f"  best on all topics: {_said(choices[int(np.argmax(values.mean(axis=0)))], order)}")
    return Run.of("cross-validated", rankings)


def _values(each: TopicSet, topic: str, runs: Sequence[Run], choices: Sequence[Choice]) -> list[float]:
    """Returns the quality of a topic's ranking with each choice."""
    grades = each.qrels.grades[topic]
    chosen = measures(each.chosen_by)
    found: list[float] = []
    by_name = {name: _normalised(topic, runs, name) for name in NORMALISED_BY}
    for name, weights in choices:
        items, scores = by_name[name]
        best = np.argsort(-(np.array(weights) @ scores), kind="stable")[:DEPTH]
        ids = [items[place] for place in best.tolist()]
        found.append(sum(measure.of(ids, grades) for measure in chosen))
    return found


def _normalised(topic: str, runs: Sequence[Run], name: str) -> tuple[list[str], DoubleArray]:
    """Returns all items that some run has for a topic, and their normalised scores, a row for each run."""
    hits = [run.rankings.get(topic, ()) for run in runs]
    items = sorted({hit.id for found in hits for hit in found})
    places = {item: place for place, item in enumerate(items)}
    scores = np.zeros((len(runs), len(items)))
    for row, found in zip(scores, hits, strict=True):
        if found:
            row[[places[hit.id] for hit in found]] = NORMALISATIONS[name](ScoredColumns.of(found).scores)
    return items, scores


def _said(choice: Choice, order: Sequence[str]) -> str:
    weights = ", ".join(f"{name} {weight:g}" for name, weight in zip(order, choice[1], strict=True))
    return f"{choice[0]}, {weights}"
