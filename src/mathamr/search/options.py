"""`SearchOptions`: how many results a search returns, from which entries, and how exactly."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr.core.errors import MathAMRError
from mathamr.index.engines.entry import Filter

MAX_DEPTH = 10_000
"""The greatest depth of a search; a ranking may look at more candidates within."""
POOL = 1000
"""Posts that `rerank` takes from the document vectors; the thesis uses 1000 and 5000."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The depth of a ranking, its filter, and how exact it is.

    `pool` is the number of posts that `rerank` scores again.
    """

    depth: int
    where: Filter | None = None
    exact: bool = True
    pool: int = POOL

    @classmethod
    def of_search(cls, depth: int, where: Filter | None, pool: int, *, exact: bool) -> SearchOptions:
        """Return the options of a search, whose depth is limited."""
        if not 1 <= depth <= MAX_DEPTH:
            raise MathAMRError(f"the depth must be between 1 and {MAX_DEPTH:,}, got {depth:,}")
        return cls(depth, where or None, exact, pool)

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise MathAMRError(f"the depth must be at least 1, got {self.depth:,}")
        if self.pool < 1:
            raise MathAMRError(f"pool must be at least 1, got {self.pool}")
