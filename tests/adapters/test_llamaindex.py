"""LlamaIndex's retriever gives the hits of the index."""

from __future__ import annotations

import asyncio

import pytest

from mathamr.adapters.records import provenance, readable
from mathamr.index.engines.entry import Filter
from mathamr.search.searcher import Index

pytest.importorskip("llama_index.core", reason="the adapter needs llama-index-core")

from mathamr.adapters.llamaindex import MathAMRNodeRetriever

QUERY = r"Why does $\sum \frac{1}{n}$ diverge?"


def test_nodes_are_the_hits_of_the_index_with_source_and_line(index: Index) -> None:
    retriever = MathAMRNodeRetriever(index, k=4, where=Filter(kinds=("answer",)))
    found = retriever.retrieve(QUERY)
    hits = index.search(QUERY, k=4, where=Filter(kinds=("answer",)))
    assert [node.node.node_id for node in found] == [hit.id for hit in hits]
    for node, hit in zip(found, hits, strict=True):
        assert node.node.get_content() == readable(index.archive.catalogue.post(hit.id))
        assert node.score == pytest.approx(hit.score)
        assert node.node.metadata == provenance(hit)
        assert {"source", "line"} <= node.node.metadata.keys()
    assert [node.node.node_id for node in asyncio.run(retriever.aretrieve(QUERY))] == [hit.id for hit in hits]
