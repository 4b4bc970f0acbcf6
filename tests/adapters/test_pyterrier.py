"""Transformers in a real pipeline of PyTerrier; its BM25 needs Java, so that a list of candidates stands for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mathamr.search.searcher import Index

pandas = pytest.importorskip("pandas")
pyterrier = pytest.importorskip("pyterrier", reason="needs PyTerrier: pip install pyterrier")


@pytest.fixture(scope="module")
def index(small_index: Path) -> Iterator[Index]:
    with Index.open(small_index) as opened:
        yield opened


TOPICS = pandas.DataFrame([{"qid": "1", "query": "$\\sum 1/n^2$"}, {"qid": "2", "query": "prime numbers"}])


def test_retrieval_gives_the_ranking_of_the_index(index: Index) -> None:
    from mathamr.adapters.pyterrier import Retriever

    found = Retriever(index, k=5)(TOPICS)
    assert set(found.columns) >= {"qid", "query", "docno", "score", "rank"}
    for qid, query in TOPICS.itertuples(index=False):
        ids = list(found[found.qid == qid].sort_values("rank").docno)
        assert ids == [each.id for each in index.rank(query, depth=5)[0]]


def test_reranking_keeps_the_documents_and_scores_them_by_the_index(index: Index) -> None:
    from mathamr.adapters.pyterrier import Reranker

    ids = [post.id for post, _ in zip(index.posts(), range(8), strict=False)]
    candidates = pandas.DataFrame(
        [{"qid": "1", "query": "sum of squares", "docno": each, "score": 0.0} for each in [*ids, "unknown"]]
    )
    first = pyterrier.Transformer.from_df(candidates, uniform=False)
    found = (first >> Reranker(index, strategy="lexical") % 5)(candidates[["qid", "query"]].drop_duplicates())
    scored = sorted(index.score("sum of squares", ids, "lexical"), key=lambda each: (-each.score, each.id))
    assert list(found.docno) == [each.id for each in scored[:5]]
    assert "unknown" not in set(found.docno)


def test_a_frame_without_queries_is_refused(index: Index) -> None:
    from mathamr.adapters.pyterrier import Retriever

    with pytest.raises(Exception, match="query"):
        Retriever(index)(pandas.DataFrame([{"qid": "1"}]))
