"""`python -m mathamr_lab.experiments.statistics --corpus PATH [--store STORE]`: what the thesis's Table 4.3 counts, of any collection.

With a store of graphs (`mathamr graph PATH --out STORE`) also the virtual nodes of a post (section 3.5.1) and the sizes of operator and layout
trees (section 4.3.1); `mathamr graph` itself prints Table 4.2.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.table import aligned
from mathamr.graphs.configuration import GraphConfiguration
from mathamr.graphs.flatgraph import NodePart
from mathamr.graphs.store import GraphStore
from mathamr.graphs.tensor import GraphTensor
from mathamr.posts.level import Level
from mathamr_lab.experiments.collection import TestCollection, collection_of
from mathamr_lab.experiments.experiment import SUBSET
from mathamr_lab.training.export import listed

THESIS = {
    "posts": "2,466,080", "questions": "1,020,585", "answers": "1,445,495", "formulas": "28,320,920",
    "Task 1 topics": "78", "Task 1 judgments": "34,847", "Task 1 judged answers": "33,383",
    "Task 2 topics": "76", "Task 2 judgments": "11,538", "Task 2 judged formulas": "9,975",
    "pairs with an accepted answer": "545,638", "formula virtual nodes a post": "8.7", "sentence virtual nodes a post": "6.6",
    "document virtual nodes a post": "1", "virtual nodes a post": "16.3", "nodes of an OPT to one of an SLT": "1.16",
}  # fmt: skip
"""The thesis's figures; those of virtual nodes are of 100,000 posts."""


def collection_counts(collection: TestCollection) -> Iterator[tuple[str, int]]:
    """Yield Table 4.3's counts: of posts, of topics and judgments, and of pairs."""
    roles, formulas, accepted, parents = Counter[str](), 0, {}, {}
    for post in collection.posts():
        roles[post.role] += 1
        formulas += len(post.formulas)
        if post.accepted_answer is not None:
            accepted[post.id] = post.accepted_answer
        if post.parent is not None:
            parents[post.id] = post.parent
    yield "posts", roles.total()
    yield "questions", roles["question"]
    yield "answers", roles["answer"]
    yield "formulas", formulas
    for task, number, what in (("answers", 1, "answers"), ("formulas", 2, "formulas")):
        grades = [
            (topic, judged)
            for test in collection.tests
            if test.task == task and not test.is_known_items
            for topic, judged in test.qrels.grades.items()
        ]
        yield f"Task {number} topics", len(grades)
        yield f"Task {number} judgments", sum(len(judged) for _, judged in grades)
        yield f"Task {number} judged {what}", len({item for _, judged in grades for item in judged})
    pairs = ((question, answer) for question, answer in accepted.items() if parents.get(answer) == question)
    kept = (pair for pair in pairs if not any(listed(each, collection.without) for each in pair))
    yield "pairs with an accepted answer", sum(1 for _ in kept)


def graph_sizes(tensors: Iterator[GraphTensor]) -> Iterator[tuple[str, float]]:
    """Yield the means of virtual nodes a post, and of nodes of both trees of a formula."""
    posts, levels, parts = 0, Counter[int](), Counter[int]()
    for tensor in tensors:
        posts += 1
        levels.update(np.asarray(tensor.levels).tolist())
        parts.update(np.asarray(tensor.parts).tolist())
    if not posts:
        raise MathAMRError(
            "the store has no graphs of this configuration; make them with: mathamr graph PATH --out STORE"
        )
    for level in (Level.FORMULA, Level.SENTENCE, Level.DOCUMENT):
        yield f"{level.name.lower()} virtual nodes a post", levels[level] / posts
    yield "virtual nodes a post", levels.total() / posts
    formulas = max(1, levels[Level.FORMULA])
    yield "OPT nodes a formula", parts[NodePart.OPT] / formulas
    yield "SLT nodes a formula", parts[NodePart.SLT] / formulas
    yield "nodes of an OPT to one of an SLT", parts[NodePart.OPT] / max(1, parts[NodePart.SLT])


def main(arguments: list[str] | None = None) -> int:
    """Print the counts beside the thesis's; return 1 after a clear error."""
    parser = argparse.ArgumentParser(prog="python -m mathamr_lab.experiments.statistics", description=__doc__)
    for name in ("corpus", "topics", "qrels", "without"):
        parser.add_argument(f"--{name}", type=Path, action="append", default=[], required=name == "corpus")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--graphs", default=GraphConfiguration().name, help="configuration of the tensors")
    given = parser.parse_args(arguments)
    try:
        collection = collection_of(given.corpus, given.topics, given.qrels, given.without)
        rows = [(name, f"{count:,}") for name, count in collection_counts(collection)]
        if given.store is not None:
            with GraphStore(given.store, read_only=True) as store:
                rows += [(name, f"{size:.2f}") for name, size in graph_sizes(store.tensors(given.graphs))]
    except MathAMRError as error:
        print(f"mathamr: {error}", file=sys.stderr)
        return 1
    table = [["", "here", "thesis"], *([name, value, THESIS.get(name, "")] for name, value in rows)]
    print(aligned(table))
    print(
        f"Topics without a relevant item are left out here; the thesis's experiments search a {SUBSET} of 33,771 posts."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
