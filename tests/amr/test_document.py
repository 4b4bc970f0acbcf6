"""Documents: sentences joined, formulas accounted for, faults counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import penman
from hypothesis import given
from hypothesis import strategies as st
from penman.models.amr import model

from mathamr.amr.document import Fallback, Text, join, parse_document, parse_documents
from mathamr.amr.graph import Amr
from tests.amr.rule_parser import RuleParser
from tests.amr.strategies import graphs

POST = ["What is FORMULA_0?", "RAISE FORMULA_1 here", "DROP FORMULA_2 and FORMULA_3", "End."]


def test_sentences_stand_under_one_root_in_order() -> None:
    document = parse_document(RuleParser(), ["Hello world", "Good bye"])
    assert document.amr.to_penman() == (
        "(m / multi-sentence\n"
        "    :snt1 (h / Hello\n        :mod (w / world))\n"
        "    :snt2 (g / Good\n        :mod (b / bye)))"
    )
    assert document.sentences == (("h", "w"), ("g", "b"))
    assert document.amr.tokens == ("Hello", "world", "Good", "bye")
    assert dict(document.amr.alignments) == {"h": (0,), "w": (1,), "g": (2,), "b": (3,)}


def test_one_sentence_is_its_own_graph() -> None:
    parser = RuleParser()
    assert parse_document(parser, ["Hello world"]).amr == parser.parse(["Hello world"])[0]


def test_formulas_are_found_dropped_and_kept_in_fallbacks() -> None:
    document = parse_document(RuleParser(), POST)
    concepts = document.amr.concepts()
    assert {placeholder: concepts[variable] for placeholder, variable in document.formulas} == {
        "FORMULA_0": "FORMULA_0",
        "FORMULA_1": "FORMULA_1",
    }
    assert document.dropped == ("FORMULA_2", "FORMULA_3")
    assert document.fallbacks == (Fallback(1, "exception", "ValueError: I cannot read this"),)
    assert document.causes() == {"exception": 1}


def test_every_node_belongs_to_one_sentence_but_the_root() -> None:
    document = parse_document(RuleParser(), POST)
    of_sentences = [variable for variables in document.sentences for variable in variables]
    assert sorted([document.amr.top, *of_sentences]) == sorted(document.amr.concepts())


def test_no_text_at_all_gives_an_empty_graph() -> None:
    assert parse_document(RuleParser(), []).amr.to_penman() == "(a / amr-empty)"
    blank = parse_document(RuleParser(), ["  ", "word", "\n"])
    assert [len(variables) for variables in blank.sentences] == [1, 1, 1]
    assert blank.fallbacks == ()


def test_an_overlong_sentence_is_parsed_in_chunks_and_stays_one_sentence() -> None:
    parser = RuleParser()
    document = parse_document(parser, ["word " * 1200 + "FORMULA_0", "End."])
    assert max(len(sentence.split()) for call in parser.calls for sentence in call) <= 500
    assert len(document.sentences) == 2
    assert len(document.sentences[0]) == 1201 + 1
    assert document.formulas == (("FORMULA_0", "f"),)


def test_the_parser_gets_the_sentences_of_several_posts_at_once() -> None:
    parser = RuleParser()
    documents = list(parse_documents(parser, [["one", "two"], [], ["three"], ["four"]], batch=3))
    assert parser.calls == [("one", "two", "three"), ("four",)]
    assert [len(document.sentences) for document in documents] == [2, 0, 1, 1]


@given(st.lists(graphs(max_nodes=5), max_size=5))
def test_joined_graphs_keep_every_triple(parts: list[Amr]) -> None:
    joined, variables = join(parts)
    assert len(variables) == len(parts)
    assert len(joined.edges) == sum(len(part.edges) for part in parts) + (len(parts) if len(parts) > 1 else 0)
    assert len(joined.attributes) == sum(len(part.attributes) for part in parts)
    read = penman.decode(joined.to_penman(), model=model)
    assert sorted(read.triples) == sorted(joined.triples())


@given(
    st.lists(st.one_of(st.text(max_size=40), st.sampled_from([*POST, "DEEP", "SKIP", "SLOW"])), max_size=6)
)
def test_any_post_gets_a_graph_that_accounts_for_every_formula(sentences: list[str]) -> None:
    document = parse_document(RuleParser(), sentences)
    read = penman.decode(document.amr.to_penman(), model=model)
    assert sorted(read.triples) == sorted(document.amr.triples())
    found = {placeholder for placeholder, _ in document.formulas}
    assert found.isdisjoint(document.dropped)
    assert len(document.sentences) == len(sentences)
    for placeholder, variable in document.formulas:
        assert document.amr.concepts()[variable] == placeholder


class ContextParser:
    """A parser whose graphs name the text that they were read in."""

    name = fingerprint = "context"

    def parse(self, sentences: Sequence[str]) -> list[Amr]:
        return [Amr("x", (("x", "alone"),)) for _ in sentences]

    def parse_text(self, sentences: Sequence[str], latex: Mapping[str, str]) -> list[Amr]:
        if "fails" in sentences:
            raise ValueError("no graphs")
        return [Amr("x", (("x", f"of-{len(sentences)}-{'-'.join(latex.values())}"),)) for _ in sentences]


def test_posts_are_read_in_context_and_in_order() -> None:
    documents = [["One."], Text(["A.", "B."], {"FORMULA_0": "y"}), ["Two."], ["fails", "C."]]
    found = [[c for _, c in each.amr.instances] for each in parse_documents(ContextParser(), documents)]
    assert found == [
        ["alone"],
        ["multi-sentence", "of-2-y", "of-2-y"],
        ["alone"],
        ["multi-sentence", "alone", "alone"],
    ]
