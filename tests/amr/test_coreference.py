"""Coreference: mentions of one thing share a node, and every sentence that mentions it holds it."""

from __future__ import annotations

import penman
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from penman.models.amr import model

from mathamr.amr.coreference import merge_formulas, merge_pronouns
from mathamr.amr.document import DocumentAmr, join, parse_document
from mathamr.amr.graph import Amr
from mathamr.amr.placeholder import formula_nodes, placeholders
from tests.amr.rule_parser import RuleParser


def document(*texts: str) -> DocumentAmr:
    amr, variables = join([Amr.from_penman(text) for text in texts])
    nodes = formula_nodes(amr, placeholders(" ".join(texts)))
    return DocumentAmr(amr, variables, tuple(sorted(nodes.items())))


def triples(result: DocumentAmr) -> list[str]:
    concepts = result.amr.concepts()
    return sorted(
        f"{concepts[s]} {r} {concepts[t]}" for s, r, t in result.amr.edges if not r.startswith(":snt")
    )


def test_repeated_formulas_share_a_node() -> None:
    before = document(
        "(p / prime :domain (f / FORMULA_0))",
        "(e / even :domain (f / FORMULA_1))",
        "(o / odd :domain (f / FORMULA_2))",
    )
    after = merge_formulas(before, {"FORMULA_0": "x", "FORMULA_1": "x+1", "FORMULA_2": "x"})
    assert triples(after) == ["even :domain FORMULA_1", "odd :domain FORMULA_0", "prime :domain FORMULA_0"]
    nodes = dict(after.formulas)
    assert nodes["FORMULA_0"] == nodes["FORMULA_2"] != nodes["FORMULA_1"]
    assert nodes["FORMULA_0"] in after.sentences[0]
    assert nodes["FORMULA_0"] in after.sentences[2]


def test_formulas_without_a_key_stay_apart() -> None:
    before = document("(p / prime :domain (f / FORMULA_0))", "(o / odd :domain (f / FORMULA_1))")
    assert merge_formulas(before, {"FORMULA_0": "x"}) is before


def test_the_figure_of_the_thesis() -> None:
    before = document(
        "(b / buy-01 :ARG0 (p / person) :ARG1 (k / book))", "(r / read-01 :ARG0 (s / she) :ARG1 (i / it))"
    )
    after = merge_pronouns(before)
    assert triples(after) == [
        "buy-01 :ARG0 person",
        "buy-01 :ARG1 book",
        "read-01 :ARG0 person",
        "read-01 :ARG1 book",
    ]
    assert set(after.sentences[0]) & set(after.sentences[1]) == {"p", "b2"}


@pytest.mark.parametrize(
    ("first", "pronoun", "antecedent"),
    [
        ("(l / let-01 :ARG1 (f / FORMULA_0) :ARG2 (g / group :mod (a / abelian)))", "it", "FORMULA_0"),
        ("(h / have-03 :ARG0 (s / set :part (e / element)) :ARG1 (b / bound))", "it", "set"),
        ("(t / take-01 :ARG1 (a / and :op1 (s / set) :op2 (m / map)))", "they", "and"),
        ("(a / and :op1 (t / take-01 :ARG0 (i / i)) :op2 (g / give-01 :ARG1 (m / map)))", "they", "map"),
        ("(p / prove-01 :ARG0 (i / i) :ARG1 (e / exist-01))", "it", "it"),
        ("(p / prove-01 :ARG0 (i / it))", "it", "it"),
        ("(s / set :mod (t / this))", "he", "he"),
    ],
)
def test_a_pronoun_finds_what_fits(first: str, pronoun: str, antecedent: str) -> None:
    after = merge_pronouns(document(first, f"(c / converge-01 :ARG1 (x / {pronoun}))"))
    assert f"converge-01 :ARG1 {antecedent}" in triples(after)


def test_this_before_a_noun_is_no_pronoun() -> None:
    before = document("(s / set)", "(g / group :mod (t / this))")
    assert merge_pronouns(before) is before


def test_a_chain_of_pronouns_leads_to_the_same_thing() -> None:
    after = merge_pronouns(
        document("(s / set)", "(o / open-09 :ARG1 (i / it))", "(c / close-01 :ARG1 (i / it))")
    )
    assert triples(after) == ["close-01 :ARG1 set", "open-09 :ARG1 set"]


def test_antecedents_out_of_reach_are_left() -> None:
    far = document("(s / set)", "(a / ask-01)", "(a / ask-01)", "(c / close-01 :ARG1 (i / it))")
    assert merge_pronouns(far) is far


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.sampled_from(["set", "it", "they", "FORMULA_0", "FORMULA_1", "prove-01", "he", "and"]),
            max_size=4,
        ),
        max_size=5,
    )
)
def test_merging_keeps_a_valid_document(words: list[list[str]]) -> None:
    before = parse_document(RuleParser(), [" ".join(sentence) for sentence in words])
    after = merge_pronouns(merge_formulas(before, {"FORMULA_0": "x", "FORMULA_1": "x"}))
    read = penman.decode(after.amr.to_penman(), model=model)
    assert sorted(read.triples) == sorted(after.amr.triples())
    assert len(after.sentences) == len(before.sentences)
    assert {v for variables in after.sentences for v in variables} | {after.amr.top} == set(
        after.amr.concepts()
    )
    assert all(variable in after.amr.concepts() for _, variable in after.formulas)
