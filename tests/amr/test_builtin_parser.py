"""The built-in parser with its shipped weights: what it says, and that it says something about anything."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import penman
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from penman.models.amr import model

from mathamr.amr.builtin import BuiltinParser, describe
from mathamr.amr.graph import Amr
from mathamr.core.errors import MathAMRError
from tests.cases import cases


@pytest.fixture(scope="module")
def parser() -> BuiltinParser:
    return BuiltinParser()


def parsed(parser: BuiltinParser, text: str) -> Amr:
    return parser.parse([text])[0]


def relations(graph: Amr) -> set[tuple[str, str, str]]:
    """The edges and attributes of a graph, by concept."""
    concepts = graph.concepts()
    edges = {(concepts[s], role, concepts[t]) for s, role, t in graph.edges}
    return edges | {(concepts[s], role, constant) for s, role, constant in graph.attributes}


def assert_sound(graph: Amr) -> None:
    """Penman reads the graph back to the same triples, and its alignments point at words."""
    read = penman.decode(graph.to_penman(), model=model)
    assert Counter(read.triples) == Counter(graph.triples())
    assert [v for v, _, _ in read.instances()] == [v for v, _ in graph.instances]
    for _, tokens in graph.alignments:
        assert all(token < len(graph.tokens) for token in tokens)


def named(graph: Amr) -> dict[str, str]:
    """The kind of each name of a graph."""
    kinds = {target: source for source, role, target in graph.edges if role == ":name"}
    texts: dict[str, list[str]] = {}
    for source, role, value in graph.attributes:
        if role.startswith(":op"):
            texts.setdefault(source, []).append(value.strip('"'))
    return {" ".join(texts[name]): graph.concepts()[kinds[name]] for name in kinds}


with Path(__file__).with_name("sentences.tsv").open(encoding="utf-8", newline="") as lines:
    SENTENCES = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
"""A sentence, the concepts and relations that its graph has, those that it lacks, and all of its names with their kinds.

Terms of mathematics are concepts; names name persons, places and organisations; agents are persons who do a verb; prefixes negate.
"""


@cases("row", SENTENCES)
def test_sentences_mean_what_they_say(parser: BuiltinParser, row: dict[str, str]) -> None:
    graph = parsed(parser, row["text"])
    said = {*graph.concepts().values(), *map(" ".join, relations(graph))}
    assert set(filter(None, row["has"].split("; "))) <= said
    assert said.isdisjoint(row["lacks"].split("; "))
    assert named(graph) == dict(name.split(": ") for name in filter(None, row["names"].split(", ")))


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


def test_every_formula_is_exactly_one_aligned_node(parser: BuiltinParser) -> None:
    text = "If FORMULA_0, FORMULA_1 and (FORMULA_2-FORMULA_3) are FORMULA_4-linear, then FORMULA_0 maps to FORMULA_12."
    graph = parsed(parser, text)
    found = Counter(c for _, c in graph.instances if c.startswith("FORMULA_"))
    assert found == Counter({"FORMULA_0": 2} | {f"FORMULA_{n}": 1 for n in (1, 2, 3, 4, 12)})
    words = {
        graph.tokens[numbers[0]] for v, numbers in graph.alignments if graph.concepts()[v] == "FORMULA_12"
    }
    assert words == {"FORMULA_12"}


def test_parsing_is_deterministic(parser: BuiltinParser) -> None:
    text = "Suppose that FORMULA_0 is a ring and FORMULA_1 is one of its ideals, which is maximal."
    assert parsed(parser, text) == parsed(BuiltinParser(), text)


PIECES = [
    "the",
    "not",
    "if",
    "FORMULA_1",
    "converges",
    ",",
    ".",
    "?",
    "7",
    "Euler",
    "'s",
    "and",
    "(",
    ")",
    "let",
    "be",
    "such",
    "that",
    "who",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(
            st.sampled_from(PIECES),
            st.text(max_size=6),
        ),
        max_size=25,
    )
)
def test_fuzzed_text_gives_a_sound_graph(parser: BuiltinParser, pieces: list[str]) -> None:
    assert_sound(parsed(parser, " ".join(pieces)))


def test_the_fingerprint_names_the_weights(parser: BuiltinParser, tmp_path: Path) -> None:
    copy = tmp_path / "weights.npz"
    copy.write_bytes(parser.path.read_bytes())
    assert BuiltinParser(str(copy)).fingerprint == parser.fingerprint
    copy.write_bytes(b"other")
    assert BuiltinParser(str(copy)).fingerprint != parser.fingerprint


def test_missing_and_broken_weights_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MathAMRError, match="train them with"):
        BuiltinParser(str(tmp_path / "none.npz"))
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no archive")
    with pytest.raises(MathAMRError, match=r"broken\.npz"):
        BuiltinParser(str(broken)).parse(["A sentence."])


def test_the_description_says_that_everything_is_here() -> None:
    found = describe()
    assert found.ready
    assert "weights" in found.text


def test_gold_graphs_score_far_above_a_rule_converter(parser: BuiltinParser, data: Path) -> None:
    """Guards against a broken model and measures nothing: the weights have seen the graphs of the first part."""
    smatchpp = pytest.importorskip("smatchpp", reason="needs: pip install smatchpp")
    from mathamr_lab.amr.corpus import read_part

    for part, least in (("little-prince", 65.0), ("bio-dev", 55.0)):
        gold = read_part(part)[10:60]
        graphs = [graph.to_penman() for graph in parser.parse([item.text for item in gold])]
        wanted = [
            penman.encode(penman.Graph(item.graph.triples, top=item.graph.top), model=model) for item in gold
        ]
        scores, _ = smatchpp.Smatchpp().score_corpus(graphs, wanted)
        assert scores["main"]["F1"]["result"] > least
