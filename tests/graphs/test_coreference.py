"""Coreference: one node for the words of one thing, links from symbols to their first mention, and nothing where it is unclear."""

from __future__ import annotations

from hypothesis import given
from penman.codec import PENMANCodec

from mathamr.amr.document import parse_document
from mathamr.amr.graph import Amr
from mathamr.formulas.parse import parse
from mathamr.formulas.trees import Trees
from mathamr.graphs import notation
from mathamr.graphs.coreference import coreferent, symbol_mentions
from mathamr.graphs.mathgraph import COREFERENCE, MathGraph
from mathamr.graphs.picture import picture
from mathamr.graphs.unify import unify
from tests.graphs.strategies import math_graphs


class Given:
    """Returns given graphs, a sentence each, aligned in the order of their text."""

    name = fingerprint = "given"

    def __init__(self, *penmans: str) -> None:
        self._graphs = iter(penmans)

    def parse(self, sentences: list[str]) -> list[Amr]:
        graphs = [Amr.from_penman(next(self._graphs)) for _ in sentences]
        return [
            Amr(
                each.top, each.instances, each.edges, each.attributes,
                alignments=tuple((v, (n,)) for n, (v, _) in enumerate(each.instances)),
            )
            for each in graphs
        ]  # fmt: skip


def graph_of(sentences: list[str], penmans: list[str], *latex: str) -> MathGraph:
    trees: dict[str, Trees] = {}
    for number, each in enumerate(latex):
        found = parse(each)
        trees[f"FORMULA_{number}"] = found.opt, found.slt
    document = parse_document(Given(*penmans), sentences)
    return unify("q1", document, sentences, {name: name.lower() for name in trees}, trees)


def shared(sentences: list[str], penmans: list[str], *latex: str) -> set[tuple[str, str, str]]:
    """The edges of the graph after coreference, by the concepts at their ends."""
    amr = coreferent(graph_of(sentences, penmans, *latex)).amr
    concepts = amr.concepts()
    return {(concepts[a], role, concepts[b]) for a, role, b in amr.edges}


ALICE = ["Alice bought a book.", "She read it."]


def test_the_graph_of_figure_2_4() -> None:
    buy = '(b / buy-01 :ARG0 (p / person :name (n / name :op1 "Alice")) :ARG1 (k / book))'
    found = coreferent(graph_of(ALICE, [buy, "(r / read-01 :ARG0 (s / she) :ARG1 (i / it))"])).amr
    (person,), (book,) = (
        [v for v, concept in found.instances if concept == name] for name in ("person", "book")
    )
    concepts = found.concepts()
    roles = {(concepts[a], role) for a, role, b in found.edges if b == person}
    assert roles == {("buy-01", ":ARG0"), ("read-01", ":ARG0")}
    assert {(concepts[a], role) for a, role, b in found.edges if b == book} == {
        ("buy-01", ":ARG1"),
        ("read-01", ":ARG1"),
    }
    assert len(found.instances) == 6


def test_nothing_is_joined_where_two_things_fit() -> None:
    buy = "(b / buy-01 :ARG0 (p / person) :ARG1 (k / book) :ARG2 (s / shop))"
    given = graph_of(ALICE, [buy, "(r / like-01 :ARG1 (i / it))"])
    assert coreferent(given).amr == given.amr
    empty = graph_of(ALICE, [buy.replace(" :ARG2 (s / shop)", ""), "(s / seem-01 :ARG1 (i / it))"])
    assert coreferent(empty).amr == empty.amr


def test_this_ring_and_it_are_the_ring_before() -> None:
    ring = "(l / let-01 :ARG1 (r / ring :domain (f / FORMULA_0)))"
    this = "(p / prove-01 :ARG1 (a / abelian :domain (r / ring :mod (t / this))))"
    found = shared(["Let FORMULA_0 be a ring.", "Prove that this ring is abelian."], [ring, this], "R")
    assert ("abelian", ":domain", "ring") in found
    assert "this" not in {end for edge in found for end in edge}
    found = shared(
        ["Let FORMULA_0 be a ring.", "It is finite."], [ring, "(x / finite :domain (i / it))"], "R"
    )
    assert ("finite", ":domain", "FORMULA_0") in found


def test_a_name_is_one_person() -> None:
    cauchy = '(p / prove-01 :ARG0 (x / person :name (n / name :op1 "Cauchy")))'
    graph = coreferent(graph_of(["Cauchy proved.", "Cauchy said."], [cauchy, cauchy.replace("prove", "say")]))
    assert [concept for _, concept in graph.amr.instances].count("person") == 1
    assert [concept for _, concept in graph.amr.instances].count("name") == 1
    assert graph.sentences[1][1] in graph.sentences[0]


def mentions(*latex: str) -> set[tuple[str, str]]:
    texts = [f"Formula FORMULA_{number}." for number in range(len(latex))]
    graph = graph_of(texts, [f"(f / FORMULA_{number})" for number in range(len(latex))], *latex)
    named = {formula.variable: formula.placeholder[8:] for formula in graph.formulas}

    def label(variable: str) -> str:
        if variable in named:
            return named[variable]
        number, node = variable[1:].split("_")
        return f"{number}.{graph.formulas[int(number)].opt.labels[int(node)]}"

    return {(label(a), label(b)) for a, b in symbol_mentions(graph)}


def test_symbols_lead_to_their_first_mention() -> None:
    assert mentions("f", "f(x)=x^2", "x") == {("1.V!𝑓", "0"), ("2", "1.V!𝑥")}
    assert mentions("f(x)=x^2", "g", "f(x)=x^2") == {("2", "0")}
    assert mentions(r"\bar{x}+x_1", "x_1", "x", r"\bar{x}", "x_2") == {("1", "0.O!SUB"), ("3", "0.F!¯")}
    assert mentions("f'(x)", "f", "f'") == {("2", "0.O!SUP")}


def test_bound_letters_and_differentials_are_no_mentions() -> None:
    assert mentions(r"\sum_{n=1}^\infty a^n", r"\sum_{n=0}^k b^n", "n") == set()
    assert mentions(r"\{x\in R\mid x>0\}", "x") == set()
    assert mentions(r"\int_0^1 f(x)\,dx", r"\frac{dy}{dt}", "d") == set()


def test_links_are_written_read_and_drawn() -> None:
    texts, latex = ["Formula FORMULA_0.", "Formula FORMULA_1."], ("f", "f(x)=x^2")
    graph = coreferent(graph_of(texts, ["(f / FORMULA_0)", "(f / FORMULA_1)"], *latex))
    text = notation.write(graph)
    assert text.count(COREFERENCE) == 1
    assert notation.read(text) == notation.write_and_read(graph)[1]
    assert notation.read(text).links == graph.links
    assert PENMANCodec().decode(text).triples
    assert picture(graph).count("formula again") == 1


@given(math_graphs())
def test_any_graph_keeps_its_formulas_and_reads_back(graph: MathGraph) -> None:
    found = coreferent(graph)
    assert found.formulas == graph.formulas
    assert {formula.variable for formula in found.formulas} <= set(found.amr.concepts())
    assert set(notation.read(notation.write(found)).links) == set(found.links)
    assert {v for own in found.sentences for v in own} <= set(found.amr.concepts())
    picture(found)
