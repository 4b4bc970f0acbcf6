"""`MathAMRConfiguration`: which context is read, and with which encoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mathamr.core.configured import Configured
from mathamr.systems.mathamr.context import check_context


@dataclass(frozen=True, slots=True, kw_only=True)
class MathAMRConfiguration(Configured):
    """The context of Table 1 that is embedded, the text encoder it starts from, and the rank of the changes to it.

    `length` is how many word pieces of a context are read, without the two marks: the paper's 128 and 256 have them. A vector
    is the mean of the encoder's states, `projected` as the base projects it or as it is.
    """

    title: ClassVar[str] = "MathAMR"
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {"rank": (1, 4096), "length": (1, 510)}
    later: ClassVar[tuple[str, ...]] = ("projected",)

    context: str = "amr-opt"
    base: str = "mathamr-2"
    rank: int = 16
    length: int = 128
    projected: bool = True

    def check(self) -> None:
        """Refuse an unknown context."""
        check_context(self.context)
