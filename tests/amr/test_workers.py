"""Workers: order is kept, and a process that dies or hangs loses nobody else's work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.amr.batch import parse_each
from mathamr.amr.graph import Amr
from mathamr.amr.parser import Failure, PartialParseError
from mathamr.amr.workers import ParallelParser
from mathamr.core.errors import MathAMRError
from mathamr.core.workers import WorkLimits
from tests.amr.rule_parser import RuleParser

ROOT = Path(__file__).resolve().parents[2]
RULE = "tests.amr.rule_parser:RuleParser"


@pytest.fixture(scope="module")
def parser() -> Iterator[ParallelParser]:
    with ParallelParser(RULE, "m", workers=2, batch=8) as parallel:
        yield parallel


def test_order_is_kept(parser: ParallelParser) -> None:
    sentences = [f"sentence {number} FORMULA_{number}" for number in range(100)]
    assert parser.parse(sentences) == RuleParser().parse(sentences)


def test_name_and_fingerprint_are_those_of_the_parser_behind(parser: ParallelParser) -> None:
    assert (parser.name, parser.fingerprint) == ("rule", "rule-1-m")


def test_any_text_travels(parser: ParallelParser) -> None:
    sentences = ["", "line\nbreak \u2028 \x00", "emoji 😀 é", "surrogate \ud800 end"]
    assert parser.parse(sentences) == RuleParser().parse(sentences)


@pytest.mark.parametrize(
    ("bad", "cause"),
    [
        ("RAISE", "exception"),
        ("DIE", "worker died"),
        ("SKIP", "wrong number of graphs"),
    ],
)
def test_one_bad_sentence_costs_only_itself(parser: ParallelParser, bad: str, cause: str) -> None:
    sentences = [f"word{number}" for number in range(20)]
    sentences[5] = bad
    with pytest.raises(PartialParseError) as caught:
        parser.parse(sentences)
    results = caught.value.results
    failure = results[5]
    assert isinstance(failure, Failure)
    assert failure.cause == cause
    assert [r for n, r in enumerate(results) if n != 5] == RuleParser().parse(
        [s for s in sentences if s != bad]
    )
    assert all(isinstance(result, Amr) for result in parse_each(parser, ["still", "alive"]))


def test_a_sentence_that_takes_for_ever_costs_only_itself() -> None:
    with ParallelParser(RULE, "m", workers=1, batch=2, allowance=WorkLimits(4)) as parser:
        with pytest.raises(PartialParseError) as caught:
            parser.parse(["one", "SLEEP", "two"])
        first, failure, last = caught.value.results
        assert [first, last] == RuleParser().parse(["one", "two"])
        assert isinstance(failure, Failure)
        assert failure.cause == "time-out"


def test_a_parser_that_cannot_be_loaded_is_a_clear_error() -> None:
    with pytest.raises(MathAMRError, match="unknown AMR parser 'nonsense'"):
        ParallelParser("nonsense", workers=1)


def test_files_of_the_working_folder_are_not_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('not the json of Python')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(ROOT), *(entry for entry in sys.path if entry)])
    with ParallelParser(RULE, workers=1) as parallel:
        assert parallel.parse(["word"]) == RuleParser().parse(["word"])
