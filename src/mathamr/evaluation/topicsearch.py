"""Searches an index for the topics of a test collection, or reranks a run with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import Progress
from mathamr.evaluation.fusedruns import rerank_run
from mathamr.evaluation.runs import DEPTH, Run, few, is_column
from mathamr.evaluation.topics import Topic
from mathamr.formulas.parse import FormulaError
from mathamr.index.catalogue.catalogue import Catalogue
from mathamr.index.engines.entry import Filter
from mathamr.index.scored import Scored
from mathamr.posts.postkind import ANSWERING
from mathamr.search.options import POOL
from mathamr.search.query import Query, QueryError
from mathamr.search.results import RankedResult
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Ranking, Task

MOST_NOTES = 20
"""The greatest number of notes on queries that are listed."""


class TopicHit(NamedTuple):
    """One result of a topic: a post, or a visual id with its formula and post."""

    id: str
    score: float
    formula: str = ""
    post: str = ""


@dataclass(frozen=True)
class TopicResults:
    """The results of all topics, best first, with remarks."""

    name: str
    results: dict[str, list[TopicHit]]
    remarks: list[str] = field(default_factory=list)

    def run(self) -> Run:
        """Return the results as a run: posts by id, formulas by visual id."""
        return Run.of(
            self.name,
            {topic: [(hit.id, hit.score) for hit in found] for topic, found in self.results.items()},
        )

    def arqmath_lines(self) -> list[str]:
        """Return the results in ARQMath's columns: topic, post, rank, score, run, or topic, formula, post, rank, score, run."""
        lines: list[str] = []
        tag = "_".join(self.name.split()) or "run"
        for topic, found in self.results.items():
            for rank, hit in enumerate(found, 1):
                item = f"{hit.formula}\t{hit.post}" if hit.formula else hit.id
                lines.append(f"{topic}\t{item}\t{rank}\t{hit.score!r}\t{tag}\n")
        return lines


def retrieve(
    index: Index,
    topics: Sequence[Topic],
    task: Task,
    *,
    strategy: str | Ranking | None = None,
    depth: int = DEPTH,
    exact: bool = True,
    pool: int = POOL,
    name: str = "",
) -> TopicResults:
    """Search every topic: answers to the whole question, or formulas like the one that the topic names.

    If the collection has answers, only they are results of Task 1, as in ARQMath. A topic that cannot be searched has no
    results, and a remark says why.
    """
    called, ranking = index.ranking(task, strategy)
    answers = tuple(sorted(ANSWERING & index.archive.catalogue.kinds().keys()))
    where = Filter(kinds=answers) if task == "answers" and answers else None
    results: dict[str, list[TopicHit]] = {}
    remarks: list[str] = []
    noted: dict[str, list[str]] = {}
    with Progress("searching", "topics", total=len(topics)) as progress:
        for topic in progress.each(topics):
            try:
                query = topic_query(topic, task)
                ranked, notes = index.rank(query, task, ranking, depth, exact=exact, where=where, pool=pool)
                for note in (*query.notes, *notes):
                    noted.setdefault(note, []).append(topic.id)
            except (QueryError, FormulaError) as error:
                remarks.append(f"topic {topic.id} was not searched: {error}")
                ranked = []
            results[topic.id] = (
                _visuals(ranked, index.archive.catalogue, depth)
                if task == "formulas"
                else [TopicHit(each.id, each.score) for each in ranked]
            )
    unwritable = _leave_out_unwritable(results)
    return TopicResults(name or called, results, [*remarks, *_note_lines(noted), *unwritable])


def _leave_out_unwritable(results: dict[str, list[TopicHit]]) -> list[str]:
    """Leave out results whose ids no run file can hold, which older indexes may have, and return a remark on them."""
    count = 0
    for topic, found in results.items():
        results[topic] = [hit for hit in found if all(map(is_column, (hit.id, hit.post or hit.id)))]
        count += len(found) - len(results[topic])
    return (
        [f"{count:,} results were left out: their ids have tabs or line breaks, which a run file cannot hold"]
        if count
        else []
    )


def _note_lines(noted: Mapping[str, Sequence[str]]) -> list[str]:
    """Return each note once with its topics, the most frequent first."""
    lines = [
        f"topic{'s' * (len(topics) > 1)} {few(topics)}: {note}"
        for note, topics in sorted(noted.items(), key=lambda each: -len(each[1]))
    ]
    more = len(lines) - MOST_NOTES
    return lines if more <= 0 else [*lines[:MOST_NOTES], f"… and {more} more notes of this kind"]


def rerank_results(
    index: Index,
    topics: Sequence[Topic],
    run: Run,
    task: Task = "answers",
    *,
    strategy: str | Ranking | None = None,
    depth: int = DEPTH,
    pool: int = POOL,
    name: str = "",
) -> TopicResults:
    """Rerank the first `pool` results of each topic in a run, made by any system, by a strategy of an index.

    Formulas are named by visual ids. Results that the index lacks follow the others in their old order, and a remark
    counts them; results below the pool come last.
    """
    called, ranking = index.ranking(task, strategy)
    by_id = {topic.id: topic for topic in topics}
    known = {topic: hits for topic, hits in run.rankings.items() if topic in by_id}
    if not known:
        raise MathAMRError(
            f"run {run.name!r} has none of the topics: it has {few(list(run.rankings))}, but the topics are {few(list(by_id))}"
        )
    remarks = [*run.remarks, *_left_out(run, by_id)]
    unknown = total = 0
    with Progress("reranking", "topics", total=len(known)) as progress:

        def score(topic: str, ids: Sequence[str]) -> Sequence[Scored]:
            nonlocal unknown, total
            progress.advance()
            try:
                query = topic_query(by_id[topic], task)
                scored = (
                    index.score(query, ids, ranking)
                    if task == "answers"
                    else scored_visuals(index, query, ids, ranking)
                )
            except (QueryError, FormulaError) as error:
                remarks.append(f"topic {topic} keeps its order: {error}")
                return []
            unknown += len(ids) - len(scored)
            total += len(ids)
            return scored

        again = rerank_run(Run(run.name, known), score, pool=pool)
    if total and unknown == total:
        raise MathAMRError(
            f"run {run.name!r}: none of its {total:,} results is in the index {index.archive.folder};"
            f" is it a run of another collection, or not of {task}?"
        )
    if unknown:
        remarks.append(
            f"{run.name}: {unknown:,} of {total:,} results are not in the index; they come after the others"
        )
    results = {
        topic: [TopicHit(hit.id, hit.score) for hit in hits[:depth]] for topic, hits in again.rankings.items()
    }
    return TopicResults(name or f"{called}({run.name})", results, remarks)


def _left_out(run: Run, topics: Collection[str]) -> list[str]:
    """Return remarks on topics that a run lacks, and on topics of the run that are not in the topic file."""
    missing = [topic for topic in topics if topic not in run.rankings]
    more = [topic for topic in run.rankings if topic not in topics]
    remarks = []
    if missing:
        remarks.append(f"{run.name}: lacks {len(missing)} of {len(topics)} topics ({few(missing)})")
    if more:
        remarks.append(
            f"{run.name}: {len(more)} of its topics are not in the topic file and were left out ({few(more)})"
        )
    return remarks


def _visuals(ranked: Sequence[RankedResult], catalogue: Catalogue, depth: int) -> list[TopicHit]:
    """Return formulas by visual id, each once; by their own id if the collection has no visual ids."""
    found: dict[str, TopicHit] = {}
    known = catalogue.visuals([each.visual for each in ranked])
    for each in ranked:
        for formula, post, visual_id in known.get(each.visual, ()):
            visual = visual_id or each.id
            found.setdefault(visual, TopicHit(visual, each.score, formula, post))
    return list(found.values())[:depth]


def topic_query(topic: Topic, task: Task) -> Query:
    """Return the query of a topic: its whole post, or its formula in this post."""
    if task == "formulas" and topic.formula_id is None:
        raise MathAMRError(f"topic {topic.id!r} names no formula; a topic of Task 2 has a <Formula_Id>")
    return Query.of_post(topic.post, topic.formula_id if task == "formulas" else None)


def scored_visuals(index: Index, query: Query, ids: Sequence[str], ranking: Ranking) -> Sequence[Scored]:
    """Score formulas by visual id, or by their own id, each by its best visual class."""
    catalogue = index.archive.catalogue
    visuals: dict[str, list[str]] = {}
    for each in ids:
        formulas = catalogue.with_visual_id(each) or [each]
        for visual in dict.fromkeys(catalogue.visuals_of(formulas).values()):
            visuals.setdefault(visual, []).append(each)
    best: dict[str, Scored] = {}
    for hit in index.score(query, list(visuals), ranking, "formulas"):
        for each in visuals[hit.id]:
            best.setdefault(each, Scored(each, hit.score))
    return list(best.values())
