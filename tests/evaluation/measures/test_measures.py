"""Names of measures: they parse, print back, and what is unknown is told."""

from __future__ import annotations

import pytest

from mathamr.core.errors import MathAMRError, UnknownNameError
from mathamr.evaluation.measures import MEASURES, SUITES, measure, measures
from tests.cases import cases


@cases(
    "name",
    [
        "nDCG'",
        "nDCG",
        "nDCG'@10",
        "P(rel=3)@5",
        "Bpref",
        "recall",
        "MRR'(rel=1)@10",
        "judged@10",
    ],
)
def test_a_name_prints_back_as_it_was_written(name: str) -> None:
    assert str(measure(name)) == name
    assert measure(str(measure(name))) == measure(name)


@cases("name", ["NDCG'", "ndcg′", "nDCG’", " nDCG' "])
def test_letters_of_any_case_and_any_prime_are_understood(name: str) -> None:
    assert str(measure(name)) == "nDCG'"


def test_every_registered_measure_has_its_own_name_and_a_docstring() -> None:
    for name in MEASURES:
        assert MEASURES[name].name == name
        assert MEASURES[name].__doc__


def test_an_unknown_measure_lists_the_known_ones() -> None:
    with pytest.raises(
        UnknownNameError, match="unknown measure 'F'; known: nDCG, MAP, P, Bpref, recall, MRR, judged"
    ):
        measure("F@1")


@cases(
    ("name", "message"),
    [
        ("P", "needs a cut-off: write P@10"),
        ("judged", "needs a cut-off"),
        ("P@0", "the number after @ must be at least 1"),
        ("Bpref'", "write Bpref"),
        ("judged'@10", "write judged"),
        ("nDCG(rel=2)", "takes no \\(rel=…\\)"),
        ("P(rel=0)@5", "at least 1"),
        ("P@", "expected a name like nDCG'"),
        ("", "expected a name like nDCG'"),
        ("P@10@10", "expected a name like nDCG'"),
        ("P@99999999999999999999", "expected a name like nDCG'"),
    ],
)
def test_a_name_that_makes_no_sense_is_refused_with_the_reason(name: str, message: str) -> None:
    with pytest.raises(MathAMRError, match=message):
        measure(name)


def test_the_threshold_of_the_call_holds_for_binary_measures_without_one_of_their_own() -> None:
    assert [str(each) for each in measures(["nDCG'", "Bpref", "P(rel=3)@5"], relevant=1)] == [
        "nDCG'",
        "Bpref(rel=1)",
        "P(rel=3)@5",
    ]


def test_suites_stand_for_their_measures() -> None:
    for name, members in SUITES.items():
        assert [str(each) for each in measures([name])] == list(members)
    assert [str(each) for each in measures(["arqmath"])] == ["nDCG'", "MAP'", "P'@10", "Bpref", "judged@10"]
