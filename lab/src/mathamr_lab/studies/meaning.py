"""The mathematician's reading of formulas against the published one: what it changes in formula search.

Search uses lexical terms alone, so that nothing has to be trained. Formulas: Task 2 of arqmath-mini (2020 and
2021 together), and the complete judged pool of ARQMath-1, whose formulas are known as published trees. Their LaTeX is
generated from their layout and is used if it parses to the same layout; the other formulas keep their published tree in both
readings. The topics of 2020 are in both, so the last test takes them from the pool and those of 2021 from arqmath-mini.
Posts: Task 1 and the known items of arqmath-mini, and the held-out pairs, on which nothing was chosen.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random

from mathamr.core.settings import READING
from mathamr.evaluation.measures import measures
from mathamr.evaluation.qrels import Qrels, read_qrels
from mathamr.evaluation.runs import DEPTH, Run
from mathamr.evaluation.scores import Scores, evaluate
from mathamr.evaluation.table import aligned
from mathamr.formulas.parse import READINGS
from mathamr.index.lexical.bags import bag_of, post_bag
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.lexical.terms import Terms, post_terms, terms_of
from mathamr.posts.post import Post
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report
from mathamr_lab.data import data_folder
from mathamr_lab.experiments.judgedpool import JudgedPool
from mathamr_lab.studies.testsets import JUDGED, KNOWN, YEARS, mini_files, p_value, read_topic_files

OTHERS = 1000
"""The number of random further answers beside those of the held-out pairs, with a fixed seed; `MATHAMR_OTHER_PAIRS` overrides it."""
TermsOf = Callable[..., Terms]
"""The terms of a formula by reading."""
Values = Mapping[str, Mapping[str, float]]
"""By measure and topic."""


def run() -> None:
    folder = data_folder()
    pool = _pool(folder / "arqmath1-formula-trees")
    _distinct(pool, _task2(folder / "arqmath-mini"))
    mini, pairs = folder / "arqmath-mini", folder / "pairs"
    posts = list(read_posts(mini / "Posts.xml", Report()))
    task1 = mini_files(folder, *(f"task1-{year}" for year in YEARS))
    known = mini_files(folder, "known-items")
    _posts("Task 1 of arqmath-mini, 2020 and 2021", posts, task1, JUDGED)
    _posts("known items of arqmath-mini", posts, known, KNOWN)
    _held_out(pairs)


def _held_out(folder: Path) -> None:
    """Returns the held-out questions, with their answers among some others: reading all 25,025 answers twice takes half an hour."""
    topics, qrels = folder / "known-items.xml", folder / "known-items.qrels"
    wanted = {answer for grades in read_qrels(qrels).grades.values() for answer in grades}
    answers = [post for post in read_posts(folder / "pairs.jsonl.gz", Report()) if post.role == "answer"]
    others = [post for post in answers if post.id not in wanted]
    most = int(os.environ.get("MATHAMR_OTHER_PAIRS", OTHERS))
    chosen = Random(0).sample(others, min(most, len(others)))
    among = [post for post in answers if post.id in wanted] + chosen
    _posts(f"held-out pairs, their answers among {len(among):,}", among, [(topics, qrels)], KNOWN)


def _task2(folder: Path) -> dict[str, Scores]:
    posts = list(read_posts(folder / "Posts.xml", Report()))
    visuals = {
        formula.visual_id: partial(terms_of, formula, post.macros)
        for post in reversed(posts)
        for formula in reversed(post.formulas)
        if formula.visual_id
    }
    topics, qrels = read_topic_files(mini_files(folder.parent, *(f"task2-{year}" for year in YEARS)))
    queries: dict[str, TermsOf] = {
        topic.id: partial(terms_of, topic.formula, topic.post.macros)
        for topic in topics
        if topic.formula is not None
    }
    return _compare("Task 2 of arqmath-mini, 2020 and 2021", visuals, queries, qrels)


def _pool(folder: Path) -> dict[str, Scores]:
    pool = JudgedPool.read(folder)
    formulas: dict[str, TermsOf] = {name: formula.terms for name, formula in pool.formulas.items()}
    queries: dict[str, TermsOf] = {topic: formula.terms for topic, formula in pool.queries.items()}
    known = sum(formula.is_legible for formula in pool.formulas.values())
    print(f"\npool: {known:,} of {len(formulas):,} formulas can be read again")
    scores = _compare("pool of ARQMath-1, all topics", formulas, queries, pool.qrels(), pool.grades)
    _report(
        "pool of ARQMath-1, official topics",
        {
            reading: {
                measure: {topic: value for topic, value in values.items() if topic in pool.official}
                for measure, values in found.values.items()
            }
            for reading, found in scores.items()
        },
    )
    return scores


def _compare(
    name: str,
    formulas: Mapping[str, TermsOf],
    queries: Mapping[str, TermsOf],
    qrels: Qrels,
    among: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[str, Scores]:
    """Ranks the formulas for every query by each reading's terms."""
    scores: dict[str, Scores] = {}
    for reading in READINGS:
        with tempfile.TemporaryDirectory() as folder, LexicalIndex.open(Path(folder)) as index:
            index.formulas.update_bags(
                (each, bag_of(made(reading=reading))) for each, made in formulas.items()
            )
            found = {
                topic: [
                    (hit.id, hit.score)
                    for hit in index.formulas.search(
                        queries[topic](reading=reading), DEPTH, None if among is None else among[topic]
                    )
                ]
                for topic in qrels.grades
                if topic in queries
            }
        scores[reading] = evaluate(Run.of(reading, found), qrels, measures(JUDGED))
    _report(name, {reading: found.values for reading, found in scores.items()})
    return scores


def _distinct(pool: Mapping[str, Scores], mini: Mapping[str, Scores]) -> None:
    """Returns all topics once, those of 2020 from the pool."""
    _report(
        "formulas, every topic once",
        {
            reading: {
                measure: {**mini[reading].values[measure], **pool[reading].values[measure]}
                for measure in JUDGED
            }
            for reading in READINGS
        },
    )


def _posts(
    name: str, posts: Sequence[Post], files: Sequence[tuple[Path, Path]], chosen: Sequence[str]
) -> None:
    """Ranks answers for questions, with the terms of an index under each setting."""
    topics, qrels = read_topic_files(files)
    values: dict[str, Values] = {}
    for reading in READINGS:
        os.environ[READING.name] = reading
        with tempfile.TemporaryDirectory() as folder, LexicalIndex.open(Path(folder)) as index:
            index.posts.update_bags((post.id, post_bag(post)) for post in posts if post.role == "answer")
            found = {
                topic.id: [(hit.id, hit.score) for hit in index.posts.search(post_terms(topic.post), DEPTH)]
                for topic in topics
            }
        values[reading] = evaluate(Run.of(reading, found), qrels, measures(chosen)).values
    del os.environ[READING.name]
    _report(name, values)


def _report(name: str, values: Mapping[str, Values]) -> None:
    """Prints the means by reading, and paired tests against the published reading, without correction for multiple tests."""
    base = values["published"]
    chosen = list(base)
    first = chosen[0]
    rows = [["", *chosen, *(f"p {measure}" for measure in chosen), f"better/worse ({first})"]]
    for reading, found in values.items():
        means = [f"{sum(found[measure].values()) / len(found[measure]):.4f}" for measure in chosen]
        tests = [p_value(found[measure], base[measure]) if found is not base else "" for measure in chosen]
        moved = [found[first][topic] - value for topic, value in base[first].items()]
        rows.append([reading, *means, *tests, f"{sum(x > 0 for x in moved)}/{sum(x < 0 for x in moved)}"])
    print(f"\n{name}: {len(base[first])} topics")
    print(aligned(rows), flush=True)
