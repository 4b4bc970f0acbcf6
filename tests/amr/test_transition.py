"""The adapter to IBM's transition parser, at a stand-in with its interface."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from mathamr.amr.document import parse_document
from mathamr.amr.parser import Failure, PartialParseError
from mathamr.amr.transition import TransitionParser
from mathamr.core.errors import MathAMRError, MissingExtraError
from tests.amr.stand_ins import transition

__all__ = ["transition"]


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transition_amr_parser", None)
    with pytest.raises(MissingExtraError, match="pip install transition-neural-parser"):
        TransitionParser()


def test_the_default_model_is_downloaded_by_the_package(transition: ModuleType) -> None:
    assert TransitionParser()._parser.origin == "AMR3-structbart-L"
    assert TransitionParser("doc-sen-conll-amr-seed42")._parser.origin == "doc-sen-conll-amr-seed42"


def test_a_checkpoint_file_is_loaded(transition: ModuleType, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint_best.pt"
    checkpoint.write_bytes(b"weights")
    parser = TransitionParser(str(checkpoint))
    assert parser._parser.origin == str(checkpoint)
    first = parser.fingerprint
    checkpoint.write_bytes(b"other weights")
    assert parser.fingerprint != first


def test_a_missing_checkpoint_or_unknown_name_says_what_to_give(
    transition: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(MathAMRError, match=rf"no checkpoint at {tmp_path}/none\.pt: give --model"):
        TransitionParser(str(tmp_path / "none.pt"))
    with pytest.raises(MathAMRError, match=r"cannot load 'AMR9': .*give --model a checkpoint file"):
        TransitionParser("AMR9")


def test_tokens_and_alignments_are_the_parsers_own(
    transition: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    (graph,) = TransitionParser().parse(["Two boys."])
    assert graph.tokens == ("Two", "boys", ".")
    assert dict(graph.alignments) == {"v0": (0,), "v1": (1,), "v2": (2,)}
    assert capsys.readouterr().out == ""


def test_a_sentence_without_tokens_does_not_fail_its_batch(transition: ModuleType) -> None:
    assert len(TransitionParser().parse(["", "boys", "  "])) == 3


def test_broken_penman_is_told_apart(transition: ModuleType) -> None:
    with pytest.raises(PartialParseError) as caught:
        TransitionParser().parse(["fine", "GIBBERISH"])
    failure = caught.value.results[1]
    assert isinstance(failure, Failure)
    assert failure.cause == "invalid graph"


def test_formulas_as_names_become_single_nodes(transition: ModuleType) -> None:
    document = parse_document(TransitionParser(), ["Let FORMULA_0 be prime"])
    assert document.formulas == (("FORMULA_0", "w1"),)
    assert dict(document.amr.alignments)["w1"] == (1,)
