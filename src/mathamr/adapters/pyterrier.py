"""An index in pipelines of PyTerrier: one transformer that retrieves, one that reranks (`pip install pyterrier`).

from mathamr.adapters.pyterrier import Reranker, Retriever
pipeline = bm25 % 100 >> Reranker.open("notes.index")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from mathamr.core.errors import MissingExtraError
from mathamr.index.scored import Scored
from mathamr.search.searcher import Index
from mathamr.systems.ranking import Task

try:
    import pandas
    import pyterrier
except ImportError as error:
    raise MissingExtraError("PyTerrier", "pip install pyterrier") from error

QUERY = ("qid", "query")
RESULT = ("docno", "score", "rank")


class _IndexTransformer(pyterrier.Transformer):  # type: ignore[misc]
    """A transformer over an open index; `strategy` names a ranking, by default that of the index."""

    needed: tuple[str, ...] = QUERY

    def __init__(
        self, index: Index, *, task: Task = "answers", strategy: str | None = None, k: int = 1000
    ) -> None:
        self.index, self.task, self.strategy, self.k = index, task, strategy, k

    @classmethod
    def open(cls, path: Path | str, **options: Any) -> Self:
        """Return a transformer over the index in a folder; `options` are those of the class."""
        return cls(Index.open(path), **options)

    def transform(self, inp: pandas.DataFrame) -> pandas.DataFrame:
        """Return one row for each query and result, best first within a query."""
        pyterrier.validate.columns(inp, includes=list(self.needed))
        kept = [name for name in inp.columns if name not in RESULT]
        rows = [
            {**dict(zip(kept, values[0], strict=True)), "docno": each.id, "score": each.score, "rank": rank}
            for values in self._groups(inp, kept)
            for rank, each in enumerate(self._results(*values[1:]))
        ]
        return pandas.DataFrame(rows, columns=[*kept, *RESULT])

    def _groups(self, inp: pandas.DataFrame, kept: Sequence[str]) -> list[tuple[Any, str, list[str]]]:
        raise NotImplementedError

    def _results(self, query: str, ids: list[str]) -> Sequence[Scored]:
        raise NotImplementedError


class Retriever(_IndexTransformer):
    """Transformer that searches the index: reads the columns `qid` and `query`, adds `docno`, `score` and `rank`. A query
    may hold formulas.
    """

    def _groups(self, inp: pandas.DataFrame, kept: Sequence[str]) -> list[tuple[Any, str, list[str]]]:
        return [(row[list(kept)], str(row["query"]), []) for _, row in inp.iterrows()]

    def _results(self, query: str, _ids: list[str]) -> Sequence[Scored]:
        return [
            Scored(each.id, each.score)
            for each in self.index.rank(query, self.task, self.strategy, self.k)[0]
        ]


class Reranker(_IndexTransformer):
    """Transformer that ranks the same documents anew: reads `qid`, `query` and `docno`, sets `score` and `rank`.

    Documents that the index does not hold are left out.
    """

    needed = (*QUERY, "docno")

    def _groups(self, inp: pandas.DataFrame, kept: Sequence[str]) -> list[tuple[Any, str, list[str]]]:
        return [
            (part.iloc[0][list(kept)], str(part.iloc[0]["query"]), [str(each) for each in part["docno"]])
            for _, part in inp.groupby("qid", sort=False)
        ]

    def _results(self, query: str, ids: list[str]) -> Sequence[Scored]:
        return self.index.score(query, ids, self.strategy, self.task)
