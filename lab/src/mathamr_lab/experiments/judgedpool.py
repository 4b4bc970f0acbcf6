"""The complete judged pool of ARQMath-1, Task 2: queries and formulas as published trees, with their grades."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.topics import Topic
from mathamr.formulas.mathml.markup import annotated_tree
from mathamr.formulas.notation import opt_from_string, slt_from_string
from mathamr.posts.post import Formula
from mathamr_lab.experiments.formulabed import FormulaBed, formula_topics

POOL_NAME = "pool of ARQMath-1"
POOL = "judged.tsv"
_QUERIES = "queries.tsv"


def is_pool(path: Path) -> bool:
    """Return True if a folder holds a judged pool of trees."""
    return (path / POOL).is_file()


def pool_bed(folder: Path) -> FormulaBed:
    """Return the complete judged pool of ARQMath-1, Task 2: the official topics, with the formulas of the others among the candidates.

    Few formulas have LaTeX, so that all are given by their trees: lexical search has nDCG' .802 with the terms of trees alone, and
    .800 with LaTeX that is generated from layouts.
    """
    return FormulaBed(
        name=POOL_NAME,
        topics=partial(_topics, folder),
        qrels=partial(_official, folder),
        formulas=partial(_formulas, folder),
        digest=str(folder),
        among_judged=True,
    )


def _formulas(folder: Path) -> Iterator[Formula]:
    """Yield each formula once, unless its trees cannot be read."""
    seen: set[str] = set()
    for row in _rows(folder / POOL):
        if row["visual_id"] not in seen:
            seen.add(row["visual_id"])
            yield from _given(row["visual_id"], row["opt"], row["slt"])


def _topics(folder: Path) -> list[Topic]:
    with (folder / _QUERIES).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    official = _official(folder).grades
    return formula_topics(
        formula for topic, _, opt, slt in rows if topic in official for formula in _given(topic, opt, slt)
    )


def _official(folder: Path) -> Qrels:
    known = {formula.id for formula in _formulas(folder)}
    grades: dict[str, dict[str, int]] = {}
    for row in _rows(folder / POOL):
        if row["official"] == "1" and row["visual_id"] in known:
            grades.setdefault(row["topic"], {})[row["visual_id"]] = int(row["grade"])
    return Qrels(grades).with_relevant()


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def _given(name: str, opt: str, slt: str) -> Iterator[Formula]:
    """Yield the formula with these trees; nothing if they cannot be read."""
    trees = _unquoted(opt), _unquoted(slt)
    try:
        opt_from_string(trees[0])
        slt_from_string(trees[1])
    except MathAMRError:
        return
    content, presentation = map(annotated_tree, trees)
    yield Formula(name, "", visual_id=name, presentation_mathml=presentation, content_mathml=content)


def _unquoted(tree: str) -> str:
    r"""Return a tree without the quoting of the table: a tree with a quotation mark is stored there as \"…\", its own marks
    doubled.
    """
    return tree[2:-2].replace(r"\"\"", '"') if tree.startswith(r"\"") else tree
