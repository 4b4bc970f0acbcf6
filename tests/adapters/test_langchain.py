from __future__ import annotations

import asyncio

import pytest

from mathamr.adapters.records import readable
from mathamr.core.errors import MathAMRError
from mathamr.index.engines.entry import Filter
from mathamr.search.searcher import Index

pytest.importorskip("langchain_core", reason="the adapter needs langchain-core")

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from mathamr.adapters.langchain import MathAMRRetriever

QUERY = r"Why does $\sum \frac{1}{n}$ diverge?"


def test_documents_are_the_hits_of_the_index_with_provenance(index: Index) -> None:
    found = MathAMRRetriever(index=index, k=4).invoke(QUERY)
    hits = index.search(QUERY, k=4)
    assert [document.id for document in found] == [hit.id for hit in hits]
    for document, hit in zip(found, hits, strict=True):
        assert document.page_content == readable(index.archive.catalogue.post(hit.id))
        assert (document.metadata["id"], document.metadata["rank"]) == (hit.id, hit.rank)
        assert document.metadata["score"] == pytest.approx(hit.score, abs=1e-5)


def test_task_strategy_and_filter_are_kept(index: Index) -> None:
    where = Filter(kinds=("answer",))
    retriever = MathAMRRetriever(index=index, task="formulas", strategy="lexical", k=3, where=where)
    found = retriever.invoke(QUERY)
    assert found
    assert all(document.metadata["kind"] == "answer" for document in found)
    assert all("latex" in document.metadata["formula"] for document in found)


def test_it_works_in_a_chain_and_asynchronously(index: Index) -> None:
    def first(documents: list[Document]) -> str:
        return str(documents[0].id)

    chain = MathAMRRetriever(index=index, k=2) | RunnableLambda(first)
    expected = index.search(QUERY, k=1)[0].id
    assert chain.invoke(QUERY) == expected
    assert asyncio.run(chain.ainvoke(QUERY)) == expected


def test_a_query_that_cannot_be_read_is_told(index: Index) -> None:
    with pytest.raises(MathAMRError, match="empty"):
        MathAMRRetriever(index=index).invoke("  ")
