"""The contract of the seam: every registered parser passes it, and none lacks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import penman
import pytest
from penman.models.amr import model

from mathamr.amr.document import parse_documents
from mathamr.amr.graph import Amr
from mathamr.amr.parser import PARSERS, AmrParser, load_parser, recorded_parser, vouch_for_parser
from mathamr.amr.workers import ParallelParser
from mathamr.core.errors import MathAMRError, UnknownNameError
from tests.amr.rule_parser import RuleParser
from tests.amr.stand_ins import amrlib, amrlib_model
from tests.cases import cases

__all__ = ["amrlib"]

SENTENCES = [
    "Every bounded sequence has a limit.",
    "Let FORMULA_0 be a group.",
    "Why?",
    "Let FORMULA_0 be a group.",
]

FUZZ = [
    "",
    " \t\n",
    "word " * 5_000,
    "FORMULA_0 FORMULA_1, FORMULA_2; FORMULA_3FORMULA_4 (FORMULA_5)",
    " ".join(f"FORMULA_{number}" for number in range(300)),
    "def f(x): return {'a': [1, 2], \"b\": x ** 2}  # why?\nfor (;;) { std::cout << a->b; }",
    "<p>&amp; $x^2$ \\frac{1}{2} ~ : / ( ) ) ( \" ' ` # ::snt</p>",
    "Пусть группа абелева. 証明してください。 لماذا؟ γιατί;",
    "\x00\x01\x1b[31m\x7f\x85\u2028\u2029\u200b\ufeff\ufffe",
    "lone \ud800 surrogate",
    "😀 👩‍👩‍👧‍👦 proof 🇨🇿!!! ???",
    "(((((((((( a / b :ARG0 (c / d)",
    "a" * 20_000,
    "-" * 3_000,
    "not not not never no n't",
    "1 2 3 4.5 -6 1e9 1/2 50% $5",
    "He said that she said that he said that " * 60,
]


def _amrlib(request: pytest.FixtureRequest, tmp_path: Path) -> AmrParser:
    request.getfixturevalue("amrlib")
    return load_parser("amrlib", str(amrlib_model(tmp_path / "model")))


def _builtin(request: pytest.FixtureRequest, tmp_path: Path) -> AmrParser:
    return load_parser("builtin")


CASES: dict[str, Callable[[pytest.FixtureRequest, Path], AmrParser]] = {
    "builtin": _builtin,
    "amrlib": _amrlib,
}
WRAPPERS: dict[str, Callable[[pytest.FixtureRequest, Path], AmrParser]] = {
    "parallel": lambda request, folder: ParallelParser("tests.amr.rule_parser:RuleParser", workers=1),
}


def test_every_registered_parser_has_a_case() -> None:
    assert set(CASES) == set(PARSERS)


@pytest.fixture(params=[*CASES, *WRAPPERS])
def parser(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AmrParser]:
    made = {**CASES, **WRAPPERS}[request.param](request, tmp_path)
    yield made
    if isinstance(made, ParallelParser):
        made.close()


def test_it_is_a_parser(parser: AmrParser, request: pytest.FixtureRequest) -> None:
    assert isinstance(parser, AmrParser)
    assert parser.name in (*PARSERS, RuleParser.name)
    assert parser.fingerprint == parser.fingerprint
    assert parser.name in parser.fingerprint


def test_one_graph_for_every_sentence_in_order(parser: AmrParser) -> None:
    graphs = parser.parse(SENTENCES)
    assert all(isinstance(graph, Amr) for graph in graphs)
    assert len(graphs) == len(SENTENCES)
    assert graphs[1] == graphs[3]
    assert len({graph.to_penman() for graph in graphs}) == 3
    assert parser.parse([]) == []


def test_a_batch_changes_nothing(parser: AmrParser) -> None:
    graphs = parser.parse(tuple(SENTENCES))
    assert [parser.parse([sentence])[0] for sentence in SENTENCES] == graphs


def test_alignments_point_at_tokens(parser: AmrParser) -> None:
    for graph in parser.parse(SENTENCES):
        assert all(number < len(graph.tokens) for _, numbers in graph.alignments for number in numbers)


def test_a_formula_is_one_node(parser: AmrParser) -> None:
    (document,) = parse_documents(parser, [["Show that FORMULA_0 converges to FORMULA_1 if FORMULA_2."]])
    assert [placeholder for placeholder, _ in document.formulas] == ["FORMULA_0", "FORMULA_1", "FORMULA_2"]
    assert document.dropped == ()


def test_any_text_gives_a_connected_graph_that_reads_back(parser: AmrParser) -> None:
    documents = list(parse_documents(parser, [[text] for text in FUZZ]))
    assert len(documents) == len(FUZZ)
    for text, document in zip(FUZZ, documents, strict=True):
        read = penman.decode(document.amr.to_penman(), model=model)
        assert sorted(read.triples) == sorted(document.amr.triples()), text[:60]
        assert document.dropped == (), text[:60]


def test_parsers_of_others_are_named_by_module_and_class() -> None:
    assert load_parser("tests.amr.rule_parser:RuleParser", "m").fingerprint == "rule-1-m"


def test_unknown_parsers_are_clear_errors(amrlib: ModuleType) -> None:
    with pytest.raises(UnknownNameError, match="unknown AMR parser 'bart'; known: builtin, amrlib"):
        load_parser("bart")
    with pytest.raises(MathAMRError, match=r"no AMR parser 'no.such.module:Parser'"):
        load_parser("no.such.module:Parser")
    with pytest.raises(MathAMRError, match=r"no AMR parser 'tests.amr.rule_parser:Nothing'"):
        load_parser("tests.amr.rule_parser:Nothing")


@cases(
    ("name", "model"),
    [
        ("os:system", "true"),
        ("tests.amr.rule_parser:RuleParser", "a model that nobody named"),
        ("builtin", "/somewhere/weights.npz"),
        ("amrlib", "a-folder-of-pickles"),
    ],
)
def test_a_file_names_no_parser_of_others_and_no_model(name: str, model: str) -> None:
    with pytest.raises(MathAMRError, match=r"never chooses what runs here.*these options"):
        recorded_parser(name, model, "an index")


def test_a_file_may_name_what_the_person_named() -> None:
    vouch_for_parser("tests.amr.rule_parser:RuleParser", "vouched for")
    parser = recorded_parser("tests.amr.rule_parser:RuleParser", "vouched for", "an index")
    assert parser.fingerprint == "rule-1-vouched for"
    assert recorded_parser("builtin", None, "an index").name == "builtin"


def test_an_unknown_name_in_a_file_is_told_as_such() -> None:
    with pytest.raises(UnknownNameError, match="unknown AMR parser 'bart'"):
        recorded_parser("bart", None, "an index")
