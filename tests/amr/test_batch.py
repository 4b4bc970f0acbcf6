"""Halving: the sentence at fault is isolated, the others succeed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr.amr.batch import parse_each
from mathamr.amr.graph import Amr
from mathamr.amr.parser import Failure, PartialParseError
from mathamr.core.errors import MissingExtraError
from tests.amr.rule_parser import RuleParser

CAUSES = {
    "RAISE now": "exception",
    "SLOW now": "time-out",
    "SKIP this": "wrong number of graphs",
    "BROKEN graph": "exception",
    "DEEP graph": "too deep",
}


class Parser:
    """A parser that answers what it is told."""

    name = fingerprint = "told"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


@given(st.lists(st.sampled_from(["a good one", "another", *CAUSES]), max_size=12))
def test_every_sentence_gets_its_own_result(sentences: list[str]) -> None:
    results = parse_each(RuleParser(), sentences)
    assert len(results) == len(sentences)
    for sentence, result in zip(sentences, results, strict=True):
        if sentence in CAUSES:
            assert isinstance(result, Failure)
            assert result.cause == CAUSES[sentence]
        else:
            assert isinstance(result, Amr)
            assert result == RuleParser().parse([sentence])[0]


def test_a_batch_without_faults_is_parsed_once() -> None:
    parser = RuleParser()
    parse_each(parser, ["one", "two", "three"])
    assert parser.calls == [("one", "two", "three")]


def test_one_fault_costs_a_logarithm_of_calls() -> None:
    parser = RuleParser()
    parse_each(parser, ["fine"] * 63 + ["RAISE"])
    assert len(parser.calls) == 13


def test_a_parser_that_knows_the_fault_is_not_asked_again() -> None:
    graph = RuleParser().parse(["fine"])[0]
    failure = Failure("no graph", "the model gave up")
    assert parse_each(Parser(PartialParseError([graph, failure])), ["a", "b"]) == [graph, failure]


@pytest.mark.parametrize(("answer", "cause"), [([None], "no graph"), (["(a / b)"], "invalid graph")])
def test_what_is_no_graph_is_a_failure(answer: list[object], cause: str) -> None:
    (result,) = parse_each(Parser(answer), ["a"])
    assert isinstance(result, Failure)
    assert result.cause == cause


def test_the_message_of_an_exception_is_kept() -> None:
    assert parse_each(RuleParser(), ["RAISE"]) == [Failure("exception", "ValueError: I cannot read this")]


def test_a_missing_part_is_an_error_of_the_whole() -> None:
    with pytest.raises(MissingExtraError):
        parse_each(Parser(MissingExtraError("amrlib", "pip install amrlib")), ["a", "b"])


def test_an_interrupt_is_not_swallowed() -> None:
    class Interrupted(Parser):
        def parse(self, sentences: Sequence[str]) -> list[Amr]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parse_each(Interrupted(None), ["a"])
