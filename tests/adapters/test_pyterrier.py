"""Transformers in a real pipeline of PyTerrier, behind our own BM25: Terrier's is fetched from Maven on first use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mathamr.evaluation.baselines.bm25 import Bm25
from mathamr.evaluation.baselines.candidate import Candidate
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


def test_reranking_keeps_the_documents_of_bm25_and_scores_them_by_the_index(index: Index) -> None:
    from mathamr.adapters.pyterrier import Reranker

    ranked = Bm25([Candidate(post.id, post.body, ()) for post in index.posts()])

    def search(queries: Any) -> Any:
        asked = [Candidate(qid, text, ()) for qid, text in queries[["qid", "query"]].itertuples(index=False)]
        rows = [
            {"qid": query.id, "query": query.text, "docno": docno, "score": score, "rank": rank}
            for query, hits in zip(asked, ranked.rank(asked, 20), strict=True)
            for rank, (docno, score) in enumerate([*hits, ("unknown", 0.0)])
        ]
        return pandas.DataFrame(rows)

    bm25 = pyterrier.apply.generic(search)
    topic = pandas.DataFrame([{"qid": "1", "query": "sum of squares"}])
    found = (bm25 % 8 >> Reranker(index, strategy="lexical") % 5)(topic)
    ids = [each for each in bm25(topic).docno[:8] if each != "unknown"]
    scored = sorted(index.score("sum of squares", ids, "lexical"), key=lambda each: (-each.score, each.id))
    assert list(found.docno) == [each.id for each in scored[:5]]
    assert len(found) == min(5, len(ids)) > 1
    everything = (bm25 >> Reranker(index, strategy="lexical"))(topic)
    assert "unknown" in set(bm25(topic).docno)
    assert "unknown" not in set(everything.docno)


def test_a_frame_without_queries_is_refused(index: Index) -> None:
    from mathamr.adapters.pyterrier import Retriever

    with pytest.raises(Exception, match="query"):
        Retriever(index)(pandas.DataFrame([{"qid": "1"}]))
