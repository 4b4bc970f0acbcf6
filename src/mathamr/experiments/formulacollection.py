"""`FormulaCollection`: formulas to find, formulas asked for, and judgments, as one file that needs no reader or parser."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mathamr.errors import MathAMRError
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.formulashard import FormulaShard, FormulaTrees

if TYPE_CHECKING:
    from mathamr.evaluation.topics import Topic
    from mathamr.posts.post import Post

Both = tuple[Slt, Opt]


@dataclass(frozen=True, eq=False)
class FormulaCollection:
    """Candidates, then queries, in one shard; `among_judged` says that only what was judged for a topic is ranked.

    Grades are by topic and candidate.
    """

    name: str
    shard: FormulaShard
    candidates: tuple[str, ...]
    topics: tuple[str, ...]
    grades: Mapping[str, Mapping[str, int]]
    among_judged: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        candidates: Mapping[str, Both],
        queries: Mapping[str, Both],
        grades: Mapping[str, Mapping[str, int]],
        *,
        among_judged: bool = False,
    ) -> FormulaCollection:
        """From trees; topics without a judgment are left out."""
        topics = [topic for topic in queries if grades.get(topic)]
        shard = FormulaShard.of([*candidates.values(), *(queries[topic] for topic in topics)])
        chosen = {topic: dict(grades[topic]) for topic in topics}
        return cls(name, shard, tuple(candidates), tuple(topics), chosen, among_judged)

    def save(self, path: Path) -> None:
        """The shard, and beside it `NAME.json` with ids and grades."""
        self.shard.save(path)
        row = {
            "name": self.name,
            "candidates": self.candidates,
            "topics": self.topics,
            "grades": self.grades,
            "among_judged": self.among_judged,
        }
        path.with_suffix(".json").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> FormulaCollection:
        """The inverse of `save`."""
        beside = path.with_suffix(".json")
        try:
            row = json.loads(beside.read_text(encoding="utf-8"))
            grades = {
                str(topic): {str(item): int(grade) for item, grade in judged.items()}
                for topic, judged in row["grades"].items()
            }
            found = cls(
                str(row["name"]),
                FormulaShard.load(path),
                tuple(row["candidates"]),
                tuple(row["topics"]),
                grades,
                bool(row["among_judged"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{beside} describes no collection of formulas: {error}") from error
        if len(found.shard) != len(found.candidates) + len(found.topics):
            raise MathAMRError(f"{path} has not the formulas that {beside} names")
        return found

    def queries(self, trees: FormulaTrees) -> tuple[FormulaTrees, FormulaTrees]:
        """(candidates, queries) of one view of the shard."""
        cut = len(self.candidates)
        return trees.chosen(np.arange(cut)), trees.chosen(np.arange(cut, len(trees)))


def pool_collection(folder: Path) -> FormulaCollection:
    """The complete judged pool of ARQMath-1, Task 2: `judged.tsv` and `queries.tsv`, official topics only."""
    candidates: dict[str, Both] = {}
    grades: dict[str, dict[str, int]] = {}
    for row in _table(folder / "judged.tsv"):
        trees = tangent_trees(row["slt"], row["opt"])
        if row["official"] == "1" and trees is not None:
            grades.setdefault(row["topic"], {})[row["visual_id"]] = int(row["grade"])
            candidates.setdefault(row["visual_id"], trees)
    queries = {}
    with (folder / "queries.tsv").open(encoding="utf-8", newline="") as lines:
        for topic, _, opt, slt in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            trees = tangent_trees(slt, opt)
            if trees is not None:
                queries[topic] = trees
    return FormulaCollection.of("pool of ARQMath-1", candidates, queries, grades, among_judged=True)


def task2_collection(
    posts: Iterable[Post], topics: Sequence[Topic], grades: Mapping[str, Mapping[str, int]], name: str
) -> FormulaCollection:
    """Every look of some posts by its visual id, and the formulas of Task 2's topics."""
    from mathamr.formulas.trees import trees_of

    candidates: dict[str, Both] = {}
    for post in posts:
        for formula in post.formulas:
            if formula.visual_id and formula.visual_id not in candidates:
                (opt, slt), _ = trees_of(formula, post.macros)
                if opt is not None and slt is not None:
                    candidates[formula.visual_id] = (slt, opt)
    queries: dict[str, Both] = {}
    for topic in topics:
        if topic.formula is not None:
            (opt, slt), _ = trees_of(topic.formula, topic.post.macros)
            if opt is not None and slt is not None:
                queries[topic.id] = (slt, opt)
    return FormulaCollection.of(name, candidates, queries, grades)


def tangent_trees(slt: str, opt: str) -> Both | None:
    """Both trees of a row of a table, or nothing where one cannot be read."""
    from mathamr.formulas.notation import opt_from_string, slt_from_string

    try:
        return slt_from_string(_unquoted(slt)), opt_from_string(_unquoted(opt))
    except MathAMRError:
        return None


def _unquoted(tree: str) -> str:
    r"""A tree that holds a quotation mark stands in the table as \"…\", its own marks twice."""
    return tree[2:-2].replace(r"\"\"", '"') if tree.startswith(r"\"") else tree


def _table(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
