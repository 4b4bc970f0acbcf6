"""`MathAMRRetriever`: an index as a retriever of LangChain (`pip install 'mathamr[langchain]'`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from mathamr.adapters.records import LONGEST_TEXT, provenance, readable
from mathamr.core.errors import MissingExtraError
from mathamr.index.engines.entry import Filter
from mathamr.search.searcher import Index

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtraError("langchain-core", "pip install 'mathamr[langchain]'") from error


class MathAMRRetriever(BaseRetriever):
    """Finds posts for a question with formulas between dollar signs.

    The content of a document is the whole post as text; its metadata have its source and its scores.
    With `task="formulas"` each found formula returns its post.
    """

    index: Index
    task: Literal["answers", "formulas"] = "answers"
    strategy: str | None = None
    k: int = 10
    where: Filter | None = None
    longest_text: int = LONGEST_TEXT

    @classmethod
    def open(
        cls, path: Path | str, *, device: str = "auto", model: Path | str | None = None, **options: Any
    ) -> MathAMRRetriever:
        """Return a retriever for the index in a folder; `options` are the fields of the class."""
        return cls(index=Index.open(path, device=device, model=model), **options)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it by name
    ) -> list[Document]:
        hits = self.index.search(query, self.task, self.strategy, self.k, where=self.where)
        posts = self.index.archive.catalogue.posts(list(dict.fromkeys(hit.id for hit in hits)))
        return [
            Document(
                page_content=readable(posts[hit.id], self.longest_text),
                metadata=provenance(hit),
                id=hit.id,
            )
            for hit in hits
            if hit.id in posts
        ]
