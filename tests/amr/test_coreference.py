"""Coreference within a post: one node where the evidence is clear, nothing else."""

from __future__ import annotations

from mathamr.amr.builtin import BuiltinParser
from mathamr.amr.coreference import resolve_coreference
from mathamr.amr.document import DocumentAmr, join, parse_document
from mathamr.amr.graph import Amr
from mathamr.graphs.maker import GraphMaker
from mathamr.posts.post import Formula, Post


def document(*penman: str) -> DocumentAmr:
    amr, sentences = join([Amr.from_penman(text) for text in penman])
    formulas = tuple((c, v) for v, c in amr.instances if c.startswith("FORMULA_"))
    return DocumentAmr(amr, sentences, formulas)


def relations(found: DocumentAmr) -> list[tuple[str, str, str]]:
    return sorted((s, role, t) for s, role, t in found.amr.edges)


RING = "(l / let-01 :ARG1 (r / ring :domain (f / FORMULA_0)))"


def test_it_is_what_the_sentence_before_introduced() -> None:
    found = resolve_coreference(document(RING, "(c / contain-01 :ARG0 (i / it) :ARG1 (d / ideal))"))
    concepts = found.amr.concepts()
    assert "it" not in concepts.values()
    assert ("c", ":ARG0", "r") in relations(found)
    assert [concepts[v] for v in found.sentences[1]] == ["contain-01", "ideal"]


def test_this_noun_is_the_last_such_noun() -> None:
    found = resolve_coreference(
        document(
            RING,
            "(s / see-01 :ARG1 (t / theorem))",
            "(c / contain-01 :ARG0 (r / ring :mod (t / this)) :ARG1 (u / unit :polarity -))",
        )
    )
    assert ("c", ":ARG0", "r") in relations(found)
    assert "this" not in found.amr.concepts().values()
    assert sum(concept == "ring" for concept in found.amr.concepts().values()) == 1


def test_a_this_that_something_refers_to_stays() -> None:
    found = resolve_coreference(
        document(
            RING,
            "(c / contain-01 :ARG0 (r / ring :mod (t / this)))",
            "(e / easy :domain (x / this :mod (y / that)))",
        )
    )
    assert {v for s, _, t in found.amr.edges for v in (s, t)} <= found.amr.concepts().keys()


def test_without_clear_evidence_nothing_is_joined() -> None:
    two = "(a / and :op1 (r / ring :domain (f / FORMULA_0)) :op2 (m / map :domain (g / FORMULA_1)))"
    for before, after in (
        (two, "(c / contain-01 :ARG0 (i / it))"),
        (RING, "(c / contain-01 :ARG0 (m / map :mod (t / this)))"),
        (RING, "(i / it :domain (d / ideal))"),
    ):
        given = document(before, after)
        assert resolve_coreference(given) is given


def test_graphs_of_posts_resolve_it_on_request() -> None:
    parser = BuiltinParser()
    post = Post(
        "1",
        "question",
        "Let $R$ be a ring. Suppose that it contains an ideal.",
        markup="markdown",
        formulas=(Formula("a", "R"),),
    )
    plain = next(GraphMaker(parser).make([post])).graph
    joined = next(GraphMaker(parser, coreference=True).make([post])).graph
    assert "it" in plain.amr.concepts().values()
    assert "it" not in joined.amr.concepts().values()
    assert len(joined.sentences) == len(plain.sentences) == 2
    assert parse_document(parser, ["Let FORMULA_0 be a ring."]).sentences
