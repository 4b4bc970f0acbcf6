"""The complete judged pool of ARQMath-1, Task 2: queries and formulas as published trees, with their grades."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.formulas.alignment import Trees
from mathamr.formulas.notation import opt_from_string, slt_from_string
from mathamr_lab.experiments.formulacollection import FormulaCollection, NamedFormula, WrittenFormula

POOL_NAME = "pool of ARQMath-1"


def pool_collection(folder: Path) -> FormulaCollection:
    """Return the complete judged pool of ARQMath-1, Task 2: the official topics, with the formulas of the others among the candidates.

    Few formulas have LaTeX, so that all are ranked by their trees: lexical search has nDCG' .802 with the terms of trees alone, and
    .800 with LaTeX that is generated from layouts.
    """
    formulas: dict[str, Trees] = {}
    judged: dict[str, dict[str, int]] = {}
    official: set[str] = set()
    with (folder / "judged.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            judged.setdefault(row["topic"], {})[row["visual_id"]] = int(row["grade"])
            if row["official"] == "1":
                official.add(row["topic"])
            if row["visual_id"] not in formulas:
                formulas[row["visual_id"]] = _trees(row["opt"], row["slt"])
    with (folder / "queries.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        queries = list(_named({topic: _trees(opt, slt) for topic, _, opt, slt in rows}))
    candidates = list(_named(formulas))
    known = {each.name for each in candidates}
    grades = {
        topic: {name: grade for name, grade in own.items() if name in known}
        for topic, own in judged.items()
        if topic in official
    }
    return FormulaCollection.of(POOL_NAME, candidates, queries, grades, among_judged=True)


def _named(formulas: Mapping[str, Trees]) -> Iterator[NamedFormula]:
    for name, (opt, slt) in formulas.items():
        if opt is not None and slt is not None:
            yield NamedFormula(name, (slt, opt), WrittenFormula(""))


def _trees(opt: str, slt: str) -> Trees:
    """Return the trees of a row; none if they cannot be read."""
    try:
        return opt_from_string(_unquoted(opt)), slt_from_string(_unquoted(slt))
    except MathAMRError:
        return None, None


def _unquoted(tree: str) -> str:
    r"""Return a tree without the quoting of the table: a tree with a quotation mark is stored there as \"…\", its own marks
    doubled.
    """
    return tree[2:-2].replace(r"\"\"", '"') if tree.startswith(r"\"") else tree
