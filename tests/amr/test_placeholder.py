"""Placeholders stay single nodes, whatever a parser made of them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.graph import Amr
from mathamr.amr.placeholder import PLACEHOLDER, formula_nodes, mend, placeholders, separated
from tests.amr.strategies import graphs
from tests.cases import cases


@cases(
    ("text", "found"),
    [
        ("Let FORMULA_0 be FORMULA_12.", ("FORMULA_0", "FORMULA_12")),
        ("(FORMULA_1)FORMULA_2,FORMULA_1", ("FORMULA_1", "FORMULA_2")),
        ("a FORMULA_3-dimensional space, the FORMULA_4th", ("FORMULA_3", "FORMULA_4")),
        ("2FORMULA_1FORMULA_2", ("FORMULA_1", "FORMULA_2")),
        ("FORMULA_01 formula_2 FORMULA_ FORMULA", ()),
    ],
)
def test_placeholders_of_a_sentence(text: str, found: tuple[str, ...]) -> None:
    assert placeholders(text) == found


@cases(
    ("broken", "mended"),
    [
        ("(l / let-01 :ARG1 (f / formula_0))", "(l / let-01 :ARG1 (f / FORMULA_0))"),
        ("(l / let-01 :ARG1 (f / formula-0))", "(l / let-01 :ARG1 (f / FORMULA_0))"),
        ("(l / let-01 :ARG1 (f / formula_0-01))", "(l / let-01 :ARG1 (f / FORMULA_0))"),
        ('(l / let-01 :ARG1 (f / "FORMULA_0"))', "(l / let-01 :ARG1 (f / FORMULA_0))"),
        ('(s / set :name (n / name :op1 "FORMULA_0"))', "(s / set :name (n / FORMULA_0))"),
        ('(s / set :name (n / name :op1 "FORMULA" :op2 "0"))', "(s / set :name (n / FORMULA_0))"),
        ('(s / set :name (n / name :op1 "FORMULA" :op2 "_" :op3 "0"))', "(s / set :name (n / FORMULA_0))"),
        (
            '(t / theorem :name (n / name :op1 "Theorem" :op2 "FORMULA_0"))',
            '(t / theorem :name (n / name :op1 "Theorem" :op2 (f / FORMULA_0)))',
        ),
        ('(l / let-01 :ARG1 (s / string-entity :value "FORMULA_0"))', "(l / let-01 :ARG1 (s / FORMULA_0))"),
        ("(l / let-01 :ARG1 (f / formula :mod 0))", "(l / let-01 :ARG1 (f / FORMULA_0))"),
        ("(l / let-01 :ARG1 FORMULA_0)", "(l / let-01 :ARG1 (f / FORMULA_0))"),
        (
            "(l / let-01 :ARG1 (f / FORMULA_0) :ARG2 (g / FORMULA_0 :mod (h / real)))",
            "(l / let-01 :ARG1 (f / FORMULA_0 :mod (h / real)) :ARG2 f)",
        ),
        (
            "(s / space :mod (d / FORMULA_0-dimensional))",
            "(s / space :mod (d / dimensional :mod (f / FORMULA_0)))",
        ),
        (
            '(s / space :name (n / name :op1 "FORMULA_0-space"))',
            '(s / space :name (n / name :op1 "space" :mod (f / FORMULA_0)))',
        ),
        ("(f / FORMULA_0 :mod (g / FORMULA_0))", "(f / FORMULA_0)"),
        ("(f / FORMULA_7 :mod (g / FORMULA_0))", "(f / formula :mod (g / FORMULA_0))"),
        # what is no placeholder of the sentence is left alone
        *(
            (graph, graph)
            for graph in ("(f / formula :mod 5)", "(f / formula-01)", '(n / name :op1 "FORMULA_9")')
        ),
    ],
)
def test_recognisable_placeholders_are_mended(broken: str, mended: str) -> None:
    amr = mend(Amr.from_penman(broken), ["FORMULA_0"])
    assert sorted(amr.triples()) == sorted(Amr.from_penman(mended).triples())


def test_two_formulas_in_one_concept_become_two_nodes() -> None:
    amr = mend(Amr.from_penman("(p / FORMULA_0-FORMULA_1 :mod (h / 2))"), ["FORMULA_0", "FORMULA_1"])
    assert amr.to_penman(one_line=True) == "(p / and :mod (h / 2) :mod (f / FORMULA_0) :mod (f2 / FORMULA_1))"


@given(st.text(alphabet="FORMULA_ 012k-,", max_size=40).map(lambda text: text.replace("U", "FORMULA_1")))
def test_separating_keeps_placeholders_and_frees_them(text: str) -> None:
    free = separated(text)
    assert placeholders(free) == placeholders(text)
    assert free.replace(" ", "") == text.replace(" ", "")
    assert all(PLACEHOLDER.fullmatch(run) for run in re.findall(r"\w+", free) if PLACEHOLDER.search(run))


def test_a_graph_in_order_is_not_touched() -> None:
    amr = Amr.from_penman("(b / be-in-01 :ARG1 (f / FORMULA_0) :ARG2 (g / FORMULA_1))")
    assert mend(amr, ["FORMULA_1", "FORMULA_0"]) is amr


def test_alignments_of_merged_nodes_are_kept() -> None:
    amr = Amr.from_penman("(l / let-01 :ARG1 (f / FORMULA_0~e.1) :ARG2 (g / FORMULA_0~e.4))")
    assert mend(amr, ["FORMULA_0"]).alignments == (("f", (1, 4)),)


@given(graphs(), st.sampled_from([["FORMULA_0"], [], ["FORMULA_0", "FORMULA_1"]]))
def test_any_graph_stays_a_graph_with_single_formula_nodes(amr: Amr, expected: list[str]) -> None:
    mended = mend(amr, expected)
    concepts = [concept for _, concept in mended.instances if concept.startswith("FORMULA_")]
    assert len(concepts) == len(set(concepts))
    assert set(concepts) <= set(expected)
    assert set(formula_nodes(mended, expected)) == set(concepts)
    assert mend(mended, expected) == mended
