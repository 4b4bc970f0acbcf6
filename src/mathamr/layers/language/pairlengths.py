"""`PairLengths`: how much of a query and of a document a cross-encoder reads, and both as one row of pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mathamr.errors import MathAMRError
from mathamr.layers.language.wordpieces import WordPieces

Numbers = npt.NDArray[np.integer]
MARKS = 3
"""One mark begins a row, one ends the query, one the document."""


@dataclass(frozen=True, slots=True)
class PairLengths:
    """Pieces of a query and of a document that are read; what a short query leaves is the document's."""

    query: int = 64
    document: int = 96

    def __post_init__(self) -> None:
        if not (1 <= self.query <= 10_000 and 1 <= self.document <= 10_000):
            raise MathAMRError(
                f"a cross-encoder reads 1 to 10,000 pieces of a query and of a document, not {self.query} and {self.document}"
            )

    @property
    def width(self) -> int:
        """The longest row, marks counted."""
        return self.query + self.document + MARKS

    def row(self, query: Numbers, document: Numbers, pieces: WordPieces) -> npt.NDArray[np.int64]:
        """A query and a document as one row.

        >>> small = WordPieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"])
        >>> PairLengths(2, 2).row(np.array([4]), np.array([5, 5, 5, 5]), small).tolist()
        [2, 4, 3, 5, 5, 5, 3]
        """
        asked = query[: self.query]
        given = document[: self.query + self.document - len(asked)]
        made = np.empty(len(asked) + len(given) + MARKS, np.int64)
        made[0], made[len(asked) + 1], made[-1] = pieces.begin, pieces.end, pieces.end
        made[1 : len(asked) + 1], made[len(asked) + 2 : -1] = asked, given
        return made
