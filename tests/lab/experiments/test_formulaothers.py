"""Ways to rank formulas without a network, against the searches they stand for; tables worked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines.bm25 import LatexBm25
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.scores import Scores
from mathamr.formulas.parse import parse
from mathamr.index.lexical.lexicalindex import LexicalIndex
from mathamr.index.lexical.terms import formula_terms
from mathamr.posts.post import Formula
from mathamr_lab.experiments.formulacollection import FormulaCollection, NamedFormula, WrittenFormula
from mathamr_lab.experiments.formulaothers import OTHERS, other_scores
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table
from tests.systems.formulamodels import LATEX

QUERIES = {"B.1": "x^2+1", "B.2": r"\frac{n}{k}"}
GRADES = {"B.1": {"2": 3, "5": 2, "0": 0}, "B.2": {"4": 2, "0": 0, "3": 1}}


def named(name: str, latex: str, *, is_written: bool = True) -> NamedFormula:
    parsed = parse(latex)
    return NamedFormula(name, (parsed.slt, parsed.opt), WrittenFormula(latex) if is_written else None)


@pytest.fixture(scope="module")
def collection() -> FormulaCollection:
    return FormulaCollection.of(
        "a few",
        [named(str(number), latex) for number, latex in enumerate(LATEX)],
        [named(topic, latex) for topic, latex in QUERIES.items()],
        GRADES,
        sets={"first": ["B.1"], "second": ["B.2"]},
    )


def test_bm25_over_latex_is_the_baseline_s(collection: FormulaCollection) -> None:
    found = other_scores("BM25, LaTeX n-grams", collection)
    assert found is not None
    baseline = LatexBm25([Candidate(str(n), "", (latex,)) for n, latex in enumerate(LATEX)])
    for row, hits in zip(
        found, baseline.rank([Candidate("", "", (latex,)) for latex in QUERIES.values()], 99), strict=True
    ):
        expected = {int(hit.id): hit.score for hit in hits}
        np.testing.assert_allclose(row, [expected.get(n, 0.0) for n in range(len(LATEX))], rtol=1e-6)


def test_lexical_scores_are_those_of_the_lexical_index(collection: FormulaCollection, tmp_path: Path) -> None:
    found = other_scores("lexical", collection)
    assert found is not None
    with LexicalIndex(tmp_path) as index:
        index.formulas.update((str(n), formula_terms(Formula("", latex))) for n, latex in enumerate(LATEX))
        for row, latex in zip(found, QUERIES.values(), strict=True):
            hits = index.formulas.score(formula_terms(Formula("", latex)), list(map(str, range(len(LATEX)))))
            expected = {int(hit.id): hit.score for hit in hits}
            np.testing.assert_allclose(row, [expected[n] for n in range(len(LATEX))], atol=1e-6)


def test_tuples_find_the_formula_itself_first() -> None:
    own = FormulaCollection.of(
        "own",
        [named(str(number), latex, is_written=False) for number, latex in enumerate(LATEX)],
        # The first is one symbol.
        [named(str(number), LATEX[number], is_written=False) for number in range(1, 5)],
        {str(number): {"0": 1} for number in range(1, 5)},
    )
    for name in ("BM25, layout tuples", "BM25, operator tuples"):
        found = other_scores(name, own)
        assert found is not None
        assert [int(row.argmax()) for row in found] == [1, 2, 3, 4]


def test_a_collection_without_latex_has_no_ranking_by_it(collection: FormulaCollection) -> None:
    bare = FormulaCollection(
        "bare", collection.shard, collection.candidates, collection.topics, collection.grades
    )
    assert [name for name in OTHERS if other_scores(name, bare) is None] == [
        "BM25, LaTeX n-grams",
        "lexical",
    ]
    with pytest.raises(MathAMRError, match="unknown ranking of formulas"):
        other_scores("by heart", bare)


def test_a_collection_comes_back_from_its_files(collection: FormulaCollection, tmp_path: Path) -> None:
    collection.save(tmp_path / "few.npz")
    again = FormulaCollection.load(tmp_path / "few.npz")
    assert (again.candidates, again.topics, again.grades) == (
        collection.candidates,
        collection.topics,
        GRADES,
    )
    assert (again.written, again.sets) == (collection.written, {"first": ("B.1",), "second": ("B.2",)})
    (tmp_path / "few.json").write_text("{}", encoding="utf-8")
    with pytest.raises(MathAMRError, match="does not describe a collection"):
        FormulaCollection.load(tmp_path / "few.npz")


def test_a_table_has_means_over_seeds_sets_and_what_is_known() -> None:
    def scores(*values: float) -> Scores:
        return Scores("ours", {"MAP'": dict(zip(("B.1", "B.2"), values, strict=True))})

    rows = [
        MeasuredRow("ours", {0: scores(0.2, 0.4), 1: scores(0.4, 1.0)}, {"MAP'": 0.5}),
        MeasuredRow("known", {}, known={"MAP'": 0.25}),
        MeasuredRow("not there", {}),
    ]
    text = "\n".join(
        comparison_table(rows, ["MAP'"], baselines=["ours"], sets={"first": ["B.1"], "second": ["B.2"]})
    )
    assert "|  | MAP' | MAP' of first | MAP' of second | paper MAP' (full collection) |" in text
    assert "| ours | 0.500 ± 0.283 [0.300, 0.700] | 0.300 ± 0.141 | 0.700 ± 0.424 | 0.500 |" in text
    assert "| known | 0.250 |  |  |  |" in text
    assert "not there" not in text
    assert "2 topics; mean ± standard deviation over 2 seeds" in text
