"""`FormulaCollection`: candidate formulas, query formulas and judgments, as one file that needs no reader or parser."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mathamr.core.arrays import BoolArray
from mathamr.core.errors import MathAMRError
from mathamr.formulas.tree import Opt, Slt
from mathamr.graphs.formulashard import FormulaShard, FormulaTrees

if TYPE_CHECKING:
    from mathamr.evaluation.topics import Topic
    from mathamr.formulas.alignment import Trees
    from mathamr.index.lexical.terms import Terms
    from mathamr.posts.post import Post

Both = tuple[Slt, Opt]
POOL = "judged.tsv"


class WrittenFormula(NamedTuple):
    """The LaTeX of a formula; unless `is_legible`, parsing it does not give its trees."""

    latex: str
    macros: tuple[str, ...] = ()
    is_legible: bool = True

    def terms(self, trees: Trees, reading: str | None = None) -> Terms:
        """Returns its terms for lexical search; if it is not legible, those of its trees in every reading."""
        from mathamr.index.lexical.terms import terms_of, terms_of_trees
        from mathamr.posts.post import Formula

        if self.is_legible:
            return terms_of(Formula("", self.latex), self.macros, reading)
        return terms_of_trees(self.latex, *trees)


@dataclass(frozen=True, eq=False)
class FormulaCollection:
    """Candidates, then queries, in one shard; with `among_judged` only the judged candidates of a topic are ranked.

    Grades are by topic and candidate. `written` is in the order of the shard, or empty if only trees are known; `sets` are
    topics that a table also shows separately, such as those of a year.
    """

    name: str
    shard: FormulaShard
    candidates: tuple[str, ...]
    topics: tuple[str, ...]
    grades: Mapping[str, Mapping[str, int]]
    among_judged: bool = False
    written: tuple[WrittenFormula, ...] = ()
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        candidates: Mapping[str, Both],
        queries: Mapping[str, Both],
        grades: Mapping[str, Mapping[str, int]],
        *,
        among_judged: bool = False,
        written: Mapping[str, WrittenFormula] | None = None,
        asked: Mapping[str, WrittenFormula] | None = None,
        sets: Mapping[str, Sequence[str]] | None = None,
    ) -> FormulaCollection:
        """Builds it from trees; topics without a judgment are left out. `written` and `asked` are by candidate and by topic."""
        topics = [topic for topic in queries if grades.get(topic)]
        shard = FormulaShard.of([*candidates.values(), *(queries[topic] for topic in topics)])
        chosen = {topic: dict(grades[topic]) for topic in topics}
        lines = (
            (*(written[each] for each in candidates), *(asked[topic] for topic in topics))
            if written and asked
            else ()
        )
        own = {
            each: tuple(topic for topic in topics if topic in set(many))
            for each, many in (sets or {}).items()
        }
        return cls(name, shard, tuple(candidates), tuple(topics), chosen, among_judged, lines, own)

    def save(self, path: Path) -> None:
        """Writes the shard, and beside it `NAME.json` with ids, grades and LaTeX."""
        self.shard.save(path)
        row = {
            "name": self.name,
            "candidates": self.candidates,
            "topics": self.topics,
            "grades": self.grades,
            "among_judged": self.among_judged,
            "written": self.written,
            "sets": self.sets,
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
                tuple(
                    WrittenFormula(str(latex), tuple(map(str, macros)), bool(is_legible))
                    for latex, macros, is_legible in row["written"]
                ),
                {str(name): tuple(map(str, topics)) for name, topics in row["sets"].items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{beside} does not describe a collection of formulas: {error}") from error
        if len(found.shard) != len(found.candidates) + len(found.topics):
            raise MathAMRError(f"{path} does not have the formulas that {beside} names")
        if len(found.written) not in (0, len(found.shard)):
            raise MathAMRError(f"{beside} lacks the LaTeX of some of its formulas")
        return found

    def ranked_ones(self) -> BoolArray:
        """Returns a mask of topics (rows) by candidates: which candidates are ranked for a topic."""
        if not self.among_judged:
            return np.ones((len(self.topics), len(self.candidates)), np.bool_)
        place = {name: number for number, name in enumerate(self.candidates)}
        found = np.zeros((len(self.topics), len(self.candidates)), np.bool_)
        for row, topic in zip(found, self.topics, strict=True):
            row[[place[item] for item in self.grades[topic]]] = True
        return found

    def queries(self, trees: FormulaTrees) -> tuple[FormulaTrees, FormulaTrees]:
        """Splits one view of the shard into (candidates, queries)."""
        cut = len(self.candidates)
        return trees.chosen(np.arange(cut)), trees.chosen(np.arange(cut, len(trees)))


def is_pool(path: Path) -> bool:
    """True if a folder holds a judged pool of trees."""
    return (path / POOL).is_file()


def task2_collection(
    posts: Iterable[Post],
    topics: Sequence[Topic],
    grades: Mapping[str, Mapping[str, int]],
    name: str,
    sets: Mapping[str, Sequence[str]] | None = None,
) -> FormulaCollection:
    """Returns every visual class of some posts by its visual id, and the query formulas of Task 2's topics."""
    from mathamr.formulas.trees import trees_of

    candidates: dict[str, Both] = {}
    written: dict[str, WrittenFormula] = {}
    for post in posts:
        for formula in post.formulas:
            if formula.visual_id and formula.visual_id not in candidates:
                (opt, slt), _ = trees_of(formula, post.macros)
                if opt is not None and slt is not None:
                    candidates[formula.visual_id] = (slt, opt)
                    written[formula.visual_id] = WrittenFormula(formula.latex, post.macros)
    queries: dict[str, Both] = {}
    asked: dict[str, WrittenFormula] = {}
    for topic in topics:
        if topic.formula is not None:
            (opt, slt), _ = trees_of(topic.formula, topic.post.macros)
            if opt is not None and slt is not None:
                queries[topic.id] = (slt, opt)
                asked[topic.id] = WrittenFormula(topic.formula.latex, topic.post.macros)
    if not candidates:
        raise MathAMRError(
            f"{name}: no formula of the posts has a visual id and trees; Task 2 needs the collection's table of formulas"
        )
    found = FormulaCollection.of(name, candidates, queries, grades, written=written, asked=asked, sets=sets)
    if not any(item in candidates for judged in found.grades.values() for item in judged):
        raise MathAMRError(
            f"{name}: no judged formula of a topic is among the {len(candidates):,} visual classes of the posts;"
            " topics, judgments (by visual id) and posts must be of one collection"
        )
    return found
