"""`FormulaCollection`: candidate formulas, query formulas and judgments, as one file that needs no reader or parser."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mathamr.core.arrays import AnyArray
from mathamr.core.errors import MathAMRError
from mathamr.formulas.tree import Opt, Slt
from mathamr.formulas.trees import trees_of
from mathamr.graphs.formulashard import FormulaShard
from mathamr.posts.identifiers import SeenIds

if TYPE_CHECKING:
    from mathamr.evaluation.topics import Topic
    from mathamr.formulas.alignment import Trees
    from mathamr.index.lexical.terms import Terms
    from mathamr.posts.post import Formula, Post

Both = tuple[Slt, Opt]
POOL = "judged.tsv"


class WrittenFormula(NamedTuple):
    """The LaTeX of a formula; empty if only its trees are known."""

    latex: str
    macros: tuple[str, ...] = ()

    def terms(self, trees: Trees) -> Terms:
        """Return its terms for lexical search; if its LaTeX is not known, those of its trees."""
        from mathamr.index.lexical.terms import terms_of, terms_of_trees
        from mathamr.posts.post import Formula

        if self.latex:
            return terms_of(Formula("", self.latex), self.macros)
        return terms_of_trees(self.latex, *trees)


class NamedFormula(NamedTuple):
    """A candidate by its id, or a query by its topic: its trees, and its LaTeX if that is known."""

    name: str
    trees: Both
    written: WrittenFormula | None = None


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
        candidates: Iterable[NamedFormula],
        queries: Iterable[NamedFormula],
        grades: Mapping[str, Mapping[str, int]],
        *,
        among_judged: bool = False,
        sets: Mapping[str, Sequence[str]] | None = None,
    ) -> FormulaCollection:
        """Build a collection from formulas, which are read one at a time; topics without a judgment are left out."""
        names: list[str] = []
        topics: list[str] = []
        written: list[WrittenFormula] = []

        def read(formulas: Iterable[NamedFormula], into: list[str]) -> Iterator[Both]:
            for each in formulas:
                into.append(each.name)
                if each.written is not None:
                    written.append(each.written)
                yield each.trees

        asked = (query for query in queries if grades.get(query.name))
        shard = FormulaShard.of(chain(read(candidates, names), read(asked, topics)))
        if len(written) not in (0, len(shard)):
            raise MathAMRError(f"{name}: the LaTeX of {len(shard) - len(written):,} formulas is not known")
        own = {
            each: tuple(topic for topic in topics if topic in set(many))
            for each, many in (sets or {}).items()
        }
        chosen = {topic: dict(grades[topic]) for topic in topics}
        return cls(name, shard, tuple(names), tuple(topics), chosen, among_judged, tuple(written), own)

    def save(self, path: Path) -> None:
        """Write the shard, beside it `NAME.json` with topics and grades, and `NAME.jsonl` with a line for each formula."""
        self.shard.save(path)
        with path.with_suffix(".jsonl").open("w", encoding="utf-8") as file:
            for number, name in enumerate((*self.candidates, *self.topics)):
                row = [name, *(self.written[number] if self.written else ())]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        described = {
            "name": self.name,
            "topics": len(self.topics),
            "grades": self.grades,
            "among_judged": self.among_judged,
            "sets": self.sets,
        }
        path.with_suffix(".json").write_text(
            json.dumps(described, ensure_ascii=False) + "\n", encoding="utf-8"
        )

    @classmethod
    def load(cls, path: Path) -> FormulaCollection:
        """Read the files that `save` wrote."""
        beside = path.with_suffix(".json")
        names: list[str] = []
        written: list[WrittenFormula] = []
        try:
            row = json.loads(beside.read_text(encoding="utf-8"))
            with path.with_suffix(".jsonl").open(encoding="utf-8") as lines:
                for line in lines:
                    name, *latex = json.loads(line)
                    names.append(str(name))
                    if latex:
                        written.append(WrittenFormula(str(latex[0]), tuple(latex[1])))
            cut = len(names) - int(row["topics"])
            grades = {
                str(topic): {str(item): int(grade) for item, grade in judged.items()}
                for topic, judged in row["grades"].items()
            }
            found = cls(
                str(row["name"]),
                FormulaShard.load(path),
                tuple(names[:cut]),
                tuple(names[cut:]),
                grades,
                bool(row["among_judged"]),
                tuple(written),
                {str(name): tuple(map(str, topics)) for name, topics in row["sets"].items()},
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile) as error:
            raise MathAMRError(f"{beside} does not describe a collection of formulas: {error}") from error
        if len(found.shard) != len(names):
            raise MathAMRError(f"{path} does not have the formulas that {beside} names")
        if len(written) not in (0, len(names)):
            raise MathAMRError(f"{beside} lacks the LaTeX of some of its formulas")
        return found

    def ranked_for(self, topic: str) -> AnyArray:
        """Return the numbers of the candidates that are ranked for a topic."""
        if not self.among_judged:
            return np.arange(len(self.candidates))
        return np.array([self.places[item] for item in self.grades[topic]])

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of every candidate."""
        return {name: number for number, name in enumerate(self.candidates)}


def is_pool(path: Path) -> bool:
    """Return True if a folder holds a judged pool of trees."""
    return (path / POOL).is_file()


def task2_collection(
    posts: Iterable[Post],
    topics: Sequence[Topic],
    grades: Mapping[str, Mapping[str, int]],
    name: str,
    sets: Mapping[str, Sequence[str]] | None = None,
) -> FormulaCollection:
    """Return every visual class of some posts by its visual id, and the query formulas of Task 2's topics."""
    judged = {item for items in grades.values() for item in items}
    seen, found_judged = SeenIds(), 0

    def candidates() -> Iterator[NamedFormula]:
        nonlocal found_judged
        for post in posts:
            for formula in post.formulas:
                if not formula.visual_id or formula.visual_id in seen:
                    continue
                found = named_formula(formula.visual_id, formula, post.macros)
                if found is not None:
                    seen.add(found.name)
                    found_judged += found.name in judged
                    yield found

    asked = (named_formula(topic.id, topic.formula, topic.post.macros) for topic in topics if topic.formula)
    queries = [query for query in asked if query is not None]
    found = FormulaCollection.of(name, candidates(), queries, grades, sets=sets)
    if not found.candidates:
        raise MathAMRError(
            f"{name}: no formula of the posts has a visual id and trees; Task 2 needs the collection's table of formulas"
        )
    if not found_judged:
        raise MathAMRError(
            f"{name}: no judged formula of a topic is among the {len(found.candidates):,} visual classes of the posts;"
            " topics, judgments (by visual id) and posts must be of one collection"
        )
    return found


def named_formula(name: str, formula: Formula, macros: tuple[str, ...] = ()) -> NamedFormula | None:
    """Return a formula with its trees; `None` if it cannot be parsed."""
    (opt, slt), _ = trees_of(formula, macros)
    if opt is None or slt is None:
        return None
    return NamedFormula(name, (slt, opt), WrittenFormula(formula.latex, macros))
