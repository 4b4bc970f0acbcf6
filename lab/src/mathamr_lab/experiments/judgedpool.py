"""The complete judged pool of ARQMath-1, Task 2: queries and formulas as published trees, with their grades."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import Trees
from mathamr.formulas.notation import opt_from_string, slt_from_string, to_string
from mathamr.formulas.parse import FormulaError, parse
from mathamr_lab.experiments.formulacollection import FormulaCollection, NamedFormula, WrittenFormula
from mathamr_lab.experiments.layoutlatex import latex_of

POOL_NAME = "pool of ARQMath-1"


@dataclass(frozen=True, slots=True)
class PoolFormula:
    """A formula of the pool: its published trees, and its LaTeX, which is generated from the layout if it is not known.

    `is_legible` says that the LaTeX has the tree's layout: only then can it be parsed in another reading.
    """

    latex: str
    trees: Trees
    is_legible: bool

    @classmethod
    def of_trees(cls, opt: str, slt: str, latex: str) -> PoolFormula:
        """Make a formula from a row of the table."""
        try:
            slt = _unquoted(slt)
            layout, operators = slt_from_string(slt), opt_from_string(_unquoted(opt))
        except MathAMRError:
            return cls(latex, (None, None), False)
        written = latex_of(layout)
        try:
            is_legible = _alike(to_string(parse(written).slt)) == _alike(slt)
        except FormulaError:
            is_legible = False
        return cls(written, (operators, layout), is_legible)


@dataclass(frozen=True)
class JudgedPool:
    """All judged formulas by visual id, all queries by topic, and the judgments."""

    formulas: Mapping[str, PoolFormula]
    queries: Mapping[str, PoolFormula]
    grades: Mapping[str, Mapping[str, int]]
    official: frozenset[str]

    @classmethod
    def read(cls, folder: Path) -> JudgedPool:
        """Return the pool in its folder of the evaluation data."""
        formulas: dict[str, PoolFormula] = {}
        grades: dict[str, dict[str, int]] = {}
        official: set[str] = set()
        with (folder / "judged.tsv").open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                grades.setdefault(row["topic"], {})[row["visual_id"]] = int(row["grade"])
                if row["official"] == "1":
                    official.add(row["topic"])
                if row["visual_id"] not in formulas:
                    formulas[row["visual_id"]] = PoolFormula.of_trees(
                        row["opt"], row["slt"], row["latex_if_known"]
                    )
        with (folder / "queries.tsv").open(encoding="utf-8", newline="") as lines:
            queries = {
                topic: PoolFormula(
                    latex, (opt_from_string(_unquoted(opt)), slt_from_string(_unquoted(slt))), True
                )
                for topic, latex, opt, slt in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            }
        return cls(formulas, queries, grades, frozenset(official))


def pool_collection(folder: Path) -> FormulaCollection:
    """Return the complete judged pool of ARQMath-1, Task 2: the official topics, with the formulas of the others among the candidates."""
    pool = JudgedPool.read(folder)
    candidates, queries = list(_named(pool.formulas)), list(_named(pool.queries))
    known = {each.name for each in candidates}
    grades = {
        topic: {name: grade for name, grade in judged.items() if name in known}
        for topic, judged in pool.grades.items()
        if topic in pool.official
    }
    return FormulaCollection.of(POOL_NAME, candidates, queries, grades, among_judged=True)


def _named(formulas: Mapping[str, PoolFormula]) -> Iterator[NamedFormula]:
    for name, formula in formulas.items():
        opt, slt = formula.trees
        if opt is not None and slt is not None:
            yield NamedFormula(name, (slt, opt), WrittenFormula(formula.latex, (), formula.is_legible))


def _alike(tree: str) -> str:
    """Rewrite a tree as older LaTeXML writes it."""
    return tree.replace("−", "-").replace("∥", "‖").replace("||", "‖")


def _unquoted(tree: str) -> str:
    r"""Return a tree that contains a quotation mark is in the table as \"…\", with its own marks doubled."""
    return tree[2:-2].replace(r"\"\"", '"') if tree.startswith(r"\"") else tree
