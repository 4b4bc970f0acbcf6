"""Ways to rank formulas without a network, against what they stand for; tables worked by hand."""

from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError
from mathamr.evaluation.baselines.bm25 import LatexBm25
from mathamr.evaluation.baselines.candidate import Candidate
from mathamr.evaluation.qrels import Qrels
from mathamr.evaluation.scores import Scores
from mathamr.formulas.alignment import similarity
from mathamr.formulas.mathml.markup import annotated_tree
from mathamr.formulas.notation import to_string
from mathamr.formulas.parse import parse
from mathamr.posts.post import Formula, Post
from mathamr_lab.experiments.formulabed import formula_post, formula_topics
from mathamr_lab.experiments.formulaothers import OTHERS, other_run
from mathamr_lab.experiments.tables import MeasuredRow, comparison_table
from tests.systems.formulamodels import LATEX

QUERIES = {"B.1": "x^2+1", "B.2": r"\frac{n}{k}"}
GRADES = {"B.1": {"2": 3, "5": 2, "0": 0}, "B.2": {"4": 2, "0": 0, "3": 1}}
TOPICS = formula_topics(Formula(topic, latex) for topic, latex in QUERIES.items())


def posts() -> list[Post]:
    """A post for each of the formulas, the first of them twice."""
    named = [*enumerate(LATEX), (0, LATEX[0])]
    return [formula_post(Formula(str(n), latex, visual_id=str(n))) for n, latex in named]


def given(name: str, latex: str) -> Formula:
    """A formula that is known by its trees alone."""
    parsed = parse(latex)
    layout, operators = (annotated_tree(to_string(tree)) for tree in (parsed.slt, parsed.opt))
    return Formula(name, "", visual_id=name, presentation_mathml=layout, content_mathml=operators)


def test_bm25_over_latex_is_the_baseline_s() -> None:
    found = other_run("BM25, LaTeX n-grams", posts(), TOPICS)
    baseline = LatexBm25([Candidate(str(n), "", (latex,)) for n, latex in enumerate(LATEX)])
    hits = baseline.rank([Candidate("", "", (latex,)) for latex in QUERIES.values()], 99)
    assert found.name == "BM25, LaTeX n-grams"
    assert [list(found.rankings[topic]) for topic in QUERIES] == hits


def test_parts_and_tuples_of_trees_find_the_formula_itself_first() -> None:
    # The first formula is one symbol.
    trees = [formula_post(given(str(number), latex)) for number, latex in enumerate(LATEX)]
    asked = formula_topics(given(str(number), LATEX[number]) for number in range(1, 5))
    for name in OTHERS:
        for bed, topics in (
            (posts(), formula_topics(Formula(str(n), LATEX[n]) for n in range(1, 5))),
            (trees, asked),
        ):
            if bed is posts() or name != "BM25, LaTeX n-grams":
                found = other_run(name, bed, topics)
                assert [hits[0].id for hits in found.rankings.values()] == ["1", "2", "3", "4"], name


def test_alignment_orders_what_shares_parts_and_judged_formulas_alone_if_so_wanted() -> None:
    everything = other_run("alignment", posts(), TOPICS)
    judged = other_run("alignment", posts(), TOPICS, Qrels(GRADES))
    for topic, latex in QUERIES.items():
        query, shared = parse(latex), set(other_run("shared parts", posts(), TOPICS).ids(topic))
        worth = {
            str(number): similarity((query.opt, query.slt), (parsed.opt, parsed.slt))
            for number, parsed in enumerate(map(parse, LATEX))
        }
        assert everything.ids(topic) == sorted(shared, key=lambda each: (-worth[each], each))
        assert judged.ids(topic) == [each for each in everything.ids(topic) if each in GRADES[topic]]
    assert judged.rankings["B.1"]


def test_shared_parts_find_the_formulas_with_a_square_of_x() -> None:
    found = other_run("shared parts", posts(), TOPICS)
    assert set(found.ids("B.1")[:2]) <= {"2", "5", "10"}


def test_formulas_without_latex_have_no_ranking_by_it() -> None:
    trees = [formula_post(given(str(number), latex)) for number, latex in enumerate(LATEX)]
    asked = formula_topics([given("B.1", "x^2")])
    assert not other_run("BM25, LaTeX n-grams", trees, asked).rankings.get("B.1")
    with pytest.raises(MathAMRError, match="unknown ranking of formulas"):
        other_run("by heart", trees, asked)


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
