"""How close a formula is to the query's."""

from __future__ import annotations

import pytest

from mathamr.formulas.parse import parse
from mathamr.formulas.visualkey import visual_key
from mathamr.search.formulagrade import COMPLETED, FITTING, FITTING_INSIDE, IDENTICAL, FormulaGrader


@pytest.mark.parametrize(
    ("query", "found", "grade"),
    [
        (r"\sum \frac{1}{n}", r"\sum 1/n", IDENTICAL),
        (r"\sum \frac{1}{n}", r"\sum_{n=1}^\infty \frac{1}{n}", COMPLETED),
        (r"\sum_{n=1}^\infty \frac{1}{n}", r"\sum_{n=1}^\infty 1/n", IDENTICAL),
    ],
)
def test_a_formula_written_otherwise_with_the_same_operators_is_the_same(
    query: str, found: str, grade: float
) -> None:
    asked, read = (parse(latex, reading="mathematician") for latex in (query, found))
    assert asked.slt is not None
    assert read.slt is not None
    grader = FormulaGrader((asked.opt, asked.slt), visual_key(asked.slt), lambda size: True)
    assert visual_key(asked.slt) != visual_key(read.slt)
    assert grader.grade(visual_key(read.slt), (read.opt, read.slt)) == grade
    assert grader.grade_having(visual_key(read.slt), (read.opt, read.slt)) == grade


@pytest.mark.parametrize(
    ("pattern", "found", "grade"),
    [
        ("?a^2+?b^2=?c^2", "u^2+v^2=w^2", FITTING),
        ("?a^2+?b^2", "u^2+v^2=w^2", FITTING_INSIDE),
        ("?a^2+?a^2", "u^2+v^2=w^2", 0.0),
    ],
)
def test_a_formula_that_fits_wildcards_is_no_similar_one(pattern: str, found: str, grade: float) -> None:
    asked = parse(pattern, reading="mathematician", wildcards=True)
    read = parse(found, reading="mathematician")
    assert asked.slt is not None
    assert read.slt is not None
    grader = FormulaGrader((asked.opt, asked.slt), visual_key(asked.slt), lambda size: True)
    assert grader.grade_having(visual_key(read.slt), (read.opt, read.slt)) == grade
