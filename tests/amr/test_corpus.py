"""Real posts through the built-in parser: each gets a graph that accounts for all of its formulas."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import penman
import pytest
from penman.models.amr import model

from mathamr.amr.document import parse_documents
from mathamr.amr.parser import load_parser
from mathamr.posts.passage import passage
from mathamr.posts.reader import read_posts
from mathamr.posts.report import Report


@pytest.mark.slow
def test_every_post_gets_a_graph_with_all_of_its_formulas(data: Path) -> None:
    posts = islice(read_posts(data / "arqmath-mini", Report()), 0, 6000, 200)
    passages = [passage(post) for post in posts]
    documents = list(parse_documents(load_parser(), [[s.text for s in p.sentences] for p in passages]))
    assert len(documents) == len(passages) == 30
    for its_passage, document in zip(passages, documents, strict=True):
        assert len(document.sentences) == len(its_passage.sentences)
        assert {name for name, _ in document.formulas} | set(document.dropped) == set(its_passage.formula_map)
        assert document.dropped == ()
        assert document.fallbacks == ()
        read = penman.decode(document.amr.to_penman(), model=model)
        assert sorted(read.triples) == sorted(document.amr.triples())
