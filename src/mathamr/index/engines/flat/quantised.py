"""An int8 copy of the vectors for a first pass over all posts, with a bound on its error.

A vector v is kept as v̂ = s∘n with whole numbers n from -127 to 127 and one scale s a dimension. A query's row q,
of length one, is scaled and rounded likewise, q∘s ≈ t·m, so that t·(m·n) is a product of whole numbers, for which
processors have instructions. It differs from q·v by at most ‖v - v̂‖ + ‖q∘s - t·m‖·‖n‖. The first part is kept for
every post, the second is known when the query is: so is an interval that holds the exact score, and only posts whose
interval reaches up to the k-th best need it. Nothing of the exact result is lost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mathamr.index.engines.flat.slots import BLOCK, Slots
from mathamr.index.engines.flat.threads import aside, share, torch_alone
from mathamr.index.engines.maxsim import Floats, products
from mathamr.index.storage.arrays import Array

_LARGEST = 127
_ROUNDING = 2.0**-23
"""What a sum of float32 products is off by at most, for each of its terms."""
FEWEST_ROWS = 1 << 16
"""With fewer vectors than this the exact scan takes a few milliseconds: no first pass can save any."""


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """The vectors of `Slots` as whole numbers: row by row the same layout."""

    numbers: npt.NDArray[np.int8]
    scales: Floats
    errors: Floats
    """The largest ‖v - v̂‖ of each post."""
    longest: Floats
    """The largest ‖n‖, alone in an array."""

    @classmethod
    def of(cls, slots: Slots) -> Quantised:
        """The whole numbers nearest to the vectors."""
        size = slots.vectors.shape[1]
        reach = np.zeros(size, np.float32)
        for piece in _blocks(slots):
            np.maximum(reach, np.abs(piece.astype(np.float32, copy=False)).max(axis=0), out=reach)
        scales = reach / np.float32(_LARGEST)
        divisors = np.where(scales > 0, scales, np.float32(1))
        numbers = np.empty(slots.vectors.shape, np.int8)
        errors = np.empty(len(slots), np.float32)
        bases, widths, longest = slots.bases.tolist(), slots.widths.tolist(), 0.0
        for block, begin, end in slots.blocks():
            exact = slots.vectors[bases[block] : bases[block + 1]].astype(np.float32, copy=False)
            rounded = np.clip(np.rint(exact / divisors), -_LARGEST, _LARGEST)
            numbers[bases[block] : bases[block + 1]] = rounded
            lost = np.linalg.norm(exact - rounded * scales, axis=1)
            errors[begin:end] = lost.reshape(widths[block], end - begin).max(axis=0)
            longest = max(longest, float(np.linalg.norm(rounded, axis=1).max()))
        return cls(numbers, scales, errors, np.array([longest], np.float32))

    def scan(self, slots: Slots, query: Floats) -> tuple[Floats, Floats]:
        """About the MaxSim of every post with a query, and by how much each may be wrong."""
        import torch

        scaled = query * self.scales
        steps = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / _LARGEST
        whole = np.rint(scaled / steps)
        lost = np.linalg.norm(scaled - whole * steps, axis=1) * self.longest
        columns = torch.from_numpy(np.ascontiguousarray(whole.T.astype(np.int8)))
        weights = (steps[:, 0] / np.float32(len(query))).astype(np.float32)
        scores = np.empty(len(slots), np.float32)
        bases, widths = slots.bases.tolist(), slots.widths.tolist()
        bounds = slots.bounds.tolist()

        def scan(first: int, last: int) -> None:
            torch_alone()
            for block in range(first, last):
                begin, end = bounds[block], bounds[block + 1]
                numbers = torch.from_numpy(self.numbers[bases[block] : bases[block + 1]])
                products = torch._int_mm(numbers, columns).numpy()
                best = products.reshape(widths[block], end - begin, -1).max(axis=0)
                scores[begin:end] = best @ weights

        share(scan, len(widths))
        return scores, self.errors + np.float32(lost.mean() + (len(self.scales) + 16) * _ROUNDING)

    def arrays(self) -> dict[str, Array]:
        """The parts by name, for a file."""
        return {
            "int8": self.numbers,
            "int8.scales": self.scales,
            "int8.errors": self.errors,
            "int8.longest": self.longest,
        }


@cache
def worthwhile(size: int) -> bool:
    """Whether whole numbers are multiplied much faster than floats here; measured on one block, once a process."""
    try:
        return aside(lambda: _measured(size))
    except (ImportError, AttributeError, RuntimeError):
        # A build of torch without this multiplication: the exact scan does without it.
        return False


def _measured(size: int) -> bool:
    import torch

    torch_alone()
    generator = np.random.default_rng(0)
    floats = generator.standard_normal((BLOCK, size), np.float32)
    query = np.ascontiguousarray(generator.standard_normal((16, size), np.float32).T)
    numbers, columns = (torch.from_numpy((array * 20).astype(np.int8)) for array in (floats, query))

    def in_int8() -> Any:
        return torch._int_mm(numbers, columns).numpy().reshape(16, BLOCK // 16, 16).max(axis=0)

    def in_float32() -> Any:
        return products(floats, query).reshape(16, BLOCK // 16, 16).max(axis=0)

    return _seconds(in_int8) < 0.7 * _seconds(in_float32)


def _seconds(work: Any) -> float:
    """The processor time of the shortest of some runs: what others do on this machine does not count."""
    shortest = float("inf")
    for _ in range(8):
        started = time.thread_time()
        work()
        shortest = min(shortest, time.thread_time() - started)
    return shortest


def _blocks(slots: Slots) -> list[Array]:
    bases = slots.bases.tolist()
    return [slots.vectors[begin:end] for begin, end in pairwise(bases)]
