"""The adapter to IBM's transition parser, at a stand-in with its interface."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from mathamr.amr.cache import CachedParser, GraphCache
from mathamr.amr.chunk import MAX_TOKENS
from mathamr.amr.document import parse_document
from mathamr.amr.parser import Failure, PartialParseError
from mathamr.amr.transition import TransitionParser
from mathamr.core.errors import MathAMRError, MissingExtraError
from mathamr.graphs.maker import GraphMaker
from mathamr.posts.post import Post
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


DOCUMENTS = "doc-sen-conll-amr-seed42"


def test_sentences_of_a_post_are_one_document_with_shared_nodes(transition: ModuleType) -> None:
    parser = TransitionParser(DOCUMENTS)
    document = parse_document(parser, ["series converge", "does it matter", "no"])
    assert parser._parser.documents == [[["series", "converge"], ["does", "it", "matter"], ["no"]]]
    concepts = document.amr.concepts()
    words = [[concepts[variable].strip('"') for variable in sentence] for sentence in document.sentences]
    assert words == [["and", "series", "converge"], ["and", "does", "matter"], ["and", "no"]]
    series = next(variable for variable, concept in concepts.items() if concept == '"series"')
    assert sum(target == series for _, _, target in document.amr.edges) == 2
    assert [role for source, role, _ in document.amr.edges if source == document.amr.top] == [
        ":snt1",
        ":snt2",
        ":snt3",
    ]


def test_chunks_of_a_post_have_at_most_the_thesis_tokens(transition: ModuleType) -> None:
    parser = TransitionParser(DOCUMENTS)
    sentences = ["one two three four"] * 300
    document = parse_document(parser, sentences)
    sizes = [sum(map(len, chunk)) for chunk in parser._parser.documents]
    assert max(sizes) <= MAX_TOKENS
    assert sum(sizes) == 1200
    assert len(sizes) == 3
    assert len(document.sentences) == 300
    tops = [role for source, role, _ in document.amr.edges if source == document.amr.top]
    assert tops == [":snt1", ":snt2", ":snt3"]


def test_a_document_that_fails_is_parsed_by_sentences(transition: ModuleType) -> None:
    document = parse_document(TransitionParser(DOCUMENTS), ["boys run", "GIBBERISH here", "girls run"])
    assert [fallback.sentence for fallback in document.fallbacks] == [1]
    assert len(document.sentences) == 3


def test_a_sentence_model_reads_sentences_alone(transition: ModuleType) -> None:
    parser = TransitionParser()
    assert not parser.documents
    parse_document(parser, ["boys run", "it ends"])
    assert not hasattr(parser._parser, "documents")


def test_the_cache_and_the_graph_of_a_post_take_documents(transition: ModuleType, tmp_path: Path) -> None:
    parser = CachedParser(TransitionParser(DOCUMENTS), GraphCache(tmp_path / "amr.sqlite"))
    post = Post(id="1", kind="question", title="", body="Series converge. Does it matter?", markup="text")
    (made,) = GraphMaker(parser).make([post])
    assert [len(sentence) for sentence in made.graph.sentences] == [4, 4]
