"""Graphs as strings, and the arms that are compared with raw text."""

import numpy as np
import pytest

from mathamr.graphs.flatgraph import FlatGraph, NodePart
from mathamr.graphs.tensor import tensor_of
from mathamr.graphs.vocabulary import RelationVocabulary, Vocabulary, VocabularyCounts
from mathamr.posts.markup import formulas_of
from mathamr.posts.post import Post
from mathamr.text.wording import wording_alone
from mathamr_lab.studies.linearised import (
    MATHAMR,
    MATHAMRPLUS,
    corpus_of,
    linearised,
    reciprocal_ranks,
    stems_to_words,
    trained,
    whole,
    with_roles,
)
from mathamr_lab.systems.mathamrplus.text.configuration import TextTraining
from mathamr_lab.systems.mathamrplus.text.corpus import vocabulary_checksum
from tests.text.small import small_text_encoder


def test_a_graph_is_written_depth_first_with_the_trees_of_its_formulas() -> None:
    flat = FlatGraph()
    converge = flat.add("converge-01", NodePart.CONCEPT)
    formula = flat.add("FORMULA_1", NodePart.FORMULA)
    series = flat.add("series", NodePart.CONCEPT)
    plus, x = flat.add("U!plus", NodePart.OPT), flat.add("V!x", NodePart.OPT)
    layout = flat.add("V!x", NodePart.SLT)
    document = flat.add("VIRTUAL_DOCUMENT", NodePart.VIRTUAL)
    flat.edges += [
        (converge, ":arg1", series),
        (series, ":mod", formula),
        (formula, ":opt", plus),
        (plus, ":0", x),
        (formula, ":slt", layout),
        (document, ":virtual_document", converge),
    ]
    counts = VocabularyCounts()
    counts.count(flat)
    vocabulary, relations = Vocabulary.build(counts), RelationVocabulary.build(counts)
    graph = tensor_of("p", flat, vocabulary, relations)
    words = stems_to_words(["Every series converges; a series."])
    assert linearised(graph, vocabulary.labels, MATHAMR, words) == "converge series plus x"
    assert linearised(graph, vocabulary.labels, MATHAMRPLUS, words) == "converge series plus x x"


def test_roles_stand_beside_the_letters_of_variables() -> None:
    body = "Let $x+y=x$ and $\\\\sin y$."
    post = Post("p", "question", body, markup="latex", formulas=formulas_of("p", "", body, "latex"))
    text = wording_alone(with_roles(post))[0].text
    assert "x v1+y v2=x v1" in text
    assert text.count("v2") == 2


def test_training_pairs_become_neighbours_and_ranks_are_those_of_the_own_answer() -> None:
    start = small_text_encoder()
    names = ("prime", "number", "let")
    texts = {f"{name}{kind}": whole(f"{name} " * 3) for name in names for kind in "qa"}
    pieces = dict(zip(texts, start.pieces.cut(list(texts.values())), strict=True))
    pairs = [(f"{name}q", f"{name}a") for name in names]
    corpus = corpus_of(pieces, pairs, vocabulary_checksum(start.pieces))
    assert len(set(corpus.groups.tolist())) == 3
    settings = TextTraining(batch_size=3, epochs=2, projection=0, neighbours=1)
    encoder = trained(corpus, start, settings, "cpu")
    questions, answers = [pieces[a] for a, _ in pairs], [pieces[b] for _, b in pairs]
    assert reciprocal_ranks(encoder, questions, answers, [0, 1, 2]) == pytest.approx(np.ones(3))
