"""`MathAMRNodeRetriever`: an index as a retriever of LlamaIndex (`pip install llama-index-core`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from mathamr.adapters.records import LONGEST_TEXT, provenance, readable
from mathamr.core.errors import MissingExtraError
from mathamr.index.engines.entry import Filter
from mathamr.search.searcher import Index

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise MissingExtraError("llama-index-core", "pip install llama-index-core") from error


class MathAMRNodeRetriever(BaseRetriever):  # type: ignore[misc]
    """Finds posts for a question with formulas between dollar signs: nodes of whole posts, with source and line as metadata."""

    def __init__(
        self,
        index: Index,
        *,
        task: Literal["answers", "formulas"] = "answers",
        strategy: str | None = None,
        k: int = 10,
        where: Filter | None = None,
        longest_text: int = LONGEST_TEXT,
    ) -> None:
        self.index, self.longest_text = index, longest_text
        self._options: dict[str, Any] = {"task": task, "strategy": strategy, "k": k, "where": where}
        super().__init__()

    @classmethod
    def open(cls, path: Path | str, **options: Any) -> MathAMRNodeRetriever:
        """Return a retriever for the index in a folder; `options` are those of the class."""
        return cls(Index.open(path), **options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self.index.search(query_bundle.query_str, **self._options)
        posts = self.index.archive.catalogue.posts(list(dict.fromkeys(hit.id for hit in hits)))
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id, text=readable(posts[hit.id], self.longest_text), metadata=provenance(hit)
                ),
                score=float(hit.score),
            )
            for hit in hits
            if hit.id in posts
        ]
