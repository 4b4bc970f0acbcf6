"""The built-in parser reads mathematical English: terms are concepts, names name persons, places and organisations."""

from __future__ import annotations

import pytest

from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.graph import Amr


@pytest.fixture(scope="module")
def parser() -> BuiltinParser:
    return BuiltinParser()


def concepts(parser: BuiltinParser, text: str) -> set[str]:
    return set(parser.parse([text])[0].concepts().values())


def named(graph: Amr) -> dict[str, str]:
    """The kind of each name of a graph."""
    kinds = {target: source for source, role, target in graph.edges if role == ":name"}
    texts: dict[str, list[str]] = {}
    for source, role, value in graph.attributes:
        if role.startswith(":op"):
            texts.setdefault(source, []).append(value.strip('"'))
    return {" ".join(texts[name]): graph.concepts()[kinds[name]] for name in kinds}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Holonomic functions", {"holonomic", "function"}),
        ("The Meijer G-function", {"meijer", "function"}),
        ("Meijer", {"meijer"}),
        ("abstract algebra", {"algebra"}),
        ("Abstract Algebra: Ideals And Quotient Rings", {"algebra", "ideal", "quotient", "ring"}),
        ("Sylow Subgroups Of A Finite Group", {"sylow", "subgroup", "group"}),
        (
            "The space is Hausdorff and every Cauchy sequence converges.",
            {"hausdorff", "cauchy", "sequence", "converge-01"},
        ),
        ("Fermat's last theorem has a long proof.", {"fermat", "theorem"}),
        ("Is ZFC consistent with the continuum hypothesis?", {"zfc", "continuum", "hypothesis"}),
        ("Complex numbers and differential equations", {"number", "complex", "equation"}),
        ("Noetherian modules over Dedekind domains", {"noetherian", "module", "dedekind"}),
    ],
)
def test_terms_are_concepts_and_never_entities(parser: BuiltinParser, text: str, wanted: set[str]) -> None:
    found = concepts(parser, text)
    assert wanted <= found
    assert "name" not in found
    assert "person" not in found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Euler proved that FORMULA_0 is irrational.", {"Euler": "person"}),
        ("I found this in a comment by Olga Ladyzhenskaya.", {"Olga Ladyzhenskaya": "person"}),
        (
            "She lectures on topology at the University of Warsaw in Poland.",
            {"University of Warsaw": "university", "Poland": "country"},
        ),
        ("Gauss lived in Göttingen.", {"Gauss": "person", "Göttingen": "city"}),
    ],
)
def test_names_are_persons_places_and_organisations(
    parser: BuiltinParser, text: str, names: dict[str, str]
) -> None:
    assert named(parser.parse([text])[0]) == names


@pytest.mark.parametrize(
    ("text", "verb", "did"),
    [
        ("The student solved the equation", "study-01", "solve-01"),
        ("A teacher explains the lemma.", "teach-01", "explain-01"),
        ("The reader should prove FORMULA_0.", "read-01", "prove-01"),
    ],
)
def test_agent_nouns_are_persons_who_do_the_verb(
    parser: BuiltinParser, text: str, verb: str, did: str
) -> None:
    graph = parser.parse([text])[0]
    found = graph.concepts()
    edges = {(found[s], role, found[t]) for s, role, t in graph.edges}
    assert (verb, ":ARG0", "person") in edges
    assert (did, ":ARG0", "person") in edges


@pytest.mark.parametrize("noun", ["operator", "generator", "estimator"])
def test_nouns_that_end_like_agents_are_things(parser: BuiltinParser, noun: str) -> None:
    found = concepts(parser, f"The {noun} FORMULA_0 is bounded.")
    assert noun in found
    assert "person" not in found


def test_titles_in_capitals_are_read_as_sentences(parser: BuiltinParser) -> None:
    written = parser.parse(["PROVE THAT THE SERIES CONVERGES"])[0]
    plain = parser.parse(["Prove that the series converges"])[0]
    assert (written.instances, written.edges, written.attributes) == (
        plain.instances,
        plain.edges,
        plain.attributes,
    )
    assert written.tokens == ("PROVE", "THAT", "THE", "SERIES", "CONVERGES")
    assert {"prove-01", "series", "converge-01"} <= set(plain.concepts().values())


def test_sentences_on_biology_keep_their_names(parser: BuiltinParser) -> None:
    kinds = named(parser.parse(["BRAF phosphorylates MEK1 in melanoma cells."])[0])
    assert {"BRAF", "MEK1"} <= set(kinds)
    assert set(kinds.values()) <= {
        "enzyme",
        "protein",
        "gene",
        "kinase",
        "disease",
        "cell",
        "medical-condition",
    }


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("Prove that FORMULA_0 is irrational.", "rational-02"),
        ("The linear independence of vectors", "depend-01"),
        ("FORMULA_0 is an unsolved problem.", "solve-01"),
    ],
)
def test_a_negative_prefix_negates(parser: BuiltinParser, text: str, frame: str) -> None:
    graph = parser.parse([text])[0]
    variables = {variable for variable, concept in graph.concepts().items() if concept == frame}
    assert {
        source for source, role, value in graph.attributes if (role, value) == (":polarity", "-")
    } == variables
    assert variables
