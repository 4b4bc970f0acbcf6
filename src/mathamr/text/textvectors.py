"""`TextVectors`: the vectors that a text encoder gives the parts of a post, and `AnyTextEncoder`, which computes them.

A graph encoder with a text slot only needs to know which vector belongs to which representative. A
representative without text has no vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyFloatArray
from mathamr.core.errors import MathAMRError
from mathamr.text.configuration import WINDOWS

if TYPE_CHECKING:
    from mathamr.text.wording import Wording
    from mathamr.text.wordpieces import Pieces, WordPieces


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """The text vectors of one graph: row i belongs to its representative `of[i]`."""

    of: npt.NDArray[np.integer[Any]]
    vectors: AnyFloatArray

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.of) != len(self.vectors):
            raise MathAMRError(
                f"{len(self.of)} representatives cannot have text vectors of shape {self.vectors.shape}"
            )


class AnyTextEncoder(Protocol):
    """A text encoder with any backend."""

    size: int
    fingerprint: str
    pieces: WordPieces

    def encode(self, wordings: Iterable[Wording], windows: int = WINDOWS) -> Iterator[TextVectors]:
        """Return the vectors of every wording's spans in its first windows, in the order of the wordings."""
        ...

    def encode_pieces(self, posts: Sequence[Pieces]) -> list[TextVectors]:
        """Return the vectors of the spans of cut wordings, in order."""
        ...
