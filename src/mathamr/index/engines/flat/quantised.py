"""An int8 copy of the vectors for a first pass over all posts, with a bound on its error.

A vector v is stored as v̂ = s∘n with whole numbers n from -127 to 127 and one scale s per dimension. A query's row q,
of length one, is scaled and rounded likewise, q∘s ≈ t·m, so that t·(m·n) is a product of whole numbers, for which
processors have instructions. It differs from q·v by at most ‖v - v̂‖ + ‖q∘s - t·m‖·‖n‖. ‖v - v̂‖ and ‖n‖ are kept for
every post, the rest is known when the query is: so is an interval that holds the exact score, and only posts whose
interval reaches up to the k-th best need it. Nothing of the exact result is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray, ByteArray, FloatArray, Int32Array
from mathamr.core.onnxfile import OnnxGraph, multiplies_signed
from mathamr.index.engines.flat.slots import Slots, share

_LARGEST = 127
_ROUNDING = 2.0**-23
"""The largest error of a sum of float32 products, per term."""
FEWEST_ROWS = 1 << 16
"""With fewer vectors the exact scan takes only a few milliseconds, so that a first pass cannot save time."""
LARGEST_PACKED = 64 << 20
"""The bytes up to which the numbers are kept as ONNX Runtime packs them, which is four times as fast for a query of few rows."""


@dataclass(frozen=True, eq=False)
class Quantised:
    """The vectors of `Slots` as int8 numbers in the same layout."""

    numbers: npt.NDArray[np.int8]
    scales: FloatArray
    errors: FloatArray
    """The largest ‖v - v̂‖ of each post."""
    longest: FloatArray
    """The largest ‖n‖ of each post."""

    @classmethod
    def of(cls, slots: Slots) -> Quantised:
        """Quantise the vectors to the nearest int8 numbers."""
        reach = np.zeros(slots.vectors.shape[1], np.float32)
        bases, widths = slots.bases.tolist(), slots.widths.tolist()
        for begin, end in pairwise(bases):
            piece = slots.vectors[begin:end].astype(np.float32, copy=False)
            np.maximum(reach, np.abs(piece).max(axis=0), out=reach)
        scales = reach / np.float32(_LARGEST)
        divisors = np.where(scales > 0, scales, np.float32(1))
        numbers = np.empty(slots.vectors.shape, np.int8)
        errors, longest = np.empty((2, len(slots)), np.float32)
        for block, begin, end in slots.blocks():
            exact = slots.vectors[bases[block] : bases[block + 1]].astype(np.float32, copy=False)
            rounded = np.clip(np.rint(exact / divisors), -_LARGEST, _LARGEST)
            numbers[bases[block] : bases[block + 1]] = rounded
            for largest, rows in ((errors, exact - rounded * scales), (longest, rounded)):
                norms = np.linalg.norm(rows, axis=1)
                largest[begin:end] = norms.reshape(widths[block], end - begin).max(axis=0)
        return cls(numbers, scales, errors, longest)

    def bounded(self, slots: Slots, query: FloatArray) -> tuple[FloatArray, RoundingBound]:
        """Return the approximate MaxSim of every post with a query, and the bounds of their errors, of which few are needed."""
        scaled = query * self.scales
        steps = np.maximum(np.abs(scaled).max(axis=1, keepdims=True), np.finfo(np.float32).tiny) / _LARGEST
        whole = np.rint(scaled / steps)
        lost = np.float32(np.linalg.norm(scaled - whole * steps, axis=1).mean())
        weights = (steps[:, 0] / np.float32(len(query))).astype(np.float32)
        rounding = np.float32((len(self.scales) + len(query) + 16) * _ROUNDING)
        wrong = RoundingBound(self, lost, rounding)
        numbers = whole.astype(np.int8)
        if self.numbers.nbytes <= LARGEST_PACKED and self._scans:
            return self._packed_scan(slots, numbers, weights), wrong
        self._scans.append(1)
        return self._in_blocks(slots, np.ascontiguousarray(numbers.T), weights), wrong

    @cached_property
    def largest(self) -> tuple[np.float32, np.float32]:
        """The largest of `errors` and of `longest`."""
        return self.errors.max(initial=0), self.longest.max(initial=0)

    @cached_property
    def _scans(self) -> list[int]:
        """A list that is empty until the first scan: packing the numbers pays only from the second scan on."""
        return []

    @cached_property
    def _multiply(self) -> Callable[[AnyArray], Int32Array]:
        return packed_products(self.numbers)

    def _packed_scan(self, slots: Slots, rows: AnyArray, weights: FloatArray) -> FloatArray:
        """Return the scan by one product with all numbers, which are laid out for this processor."""
        products = self._multiply(rows)
        scores = np.empty(len(slots), np.float32)
        bases, widths = slots.bases.tolist(), slots.widths.tolist()
        for block, begin, end in slots.blocks():
            own = products[:, bases[block] : bases[block + 1]].reshape(-1, widths[block], end - begin)
            scores[begin:end] = weights @ own.max(axis=1).astype(np.float32)
        return scores

    def _in_blocks(self, slots: Slots, columns: npt.NDArray[np.int8], weights: FloatArray) -> FloatArray:
        """Return the scan by products of whole blocks, which are shared among threads."""
        scores = np.empty(len(slots), np.float32)
        bases, widths = slots.bases.tolist(), slots.widths.tolist()
        bounds, multiply = slots.bounds.tolist(), integer_products(len(self.scales))

        def scan(first: int, last: int) -> None:
            for block in range(first, last):
                begin, end = bounds[block], bounds[block + 1]
                products = multiply(unsigned(self.numbers[bases[block] : bases[block + 1]]), columns)
                best = products.reshape(widths[block], end - begin, -1).max(axis=0)
                scores[begin:end] = best.astype(np.float32) @ weights

        share(scan, len(widths))
        return scores

    def arrays(self) -> dict[str, AnyArray]:
        """Return the arrays by name, to be written to a file."""
        return {
            "int8": self.numbers,
            "int8.scales": self.scales,
            "int8.errors": self.errors,
            "int8.longest": self.longest,
        }


@dataclass(frozen=True, slots=True, eq=False)
class RoundingBound:
    """Bounds the error of a query's scores: ‖v - v̂‖, the query's own rounding times ‖n‖, and the rounding of sums."""

    _quantised: Quantised
    _lost: np.float32
    _rounding: np.float32

    @property
    def most(self) -> np.float32:
        """The largest bound of all posts."""
        error, length = self._quantised.largest
        return error + self._lost * length + self._rounding

    def of(self, posts: AnyArray | slice) -> FloatArray:
        """Return the bounds of some posts."""
        errors, longest = self._quantised.errors, self._quantised.longest
        wrong: FloatArray = errors[posts] + self._lost * longest[posts] + self._rounding
        return wrong


@cache
def integer_products(size: int) -> Callable[[AnyArray, AnyArray], Int32Array]:
    """Return a function that multiplies rows of `size` numbers with int8 columns, exactly, in the calling thread; the rows are `unsigned`."""
    multiply = _product(size)
    return lambda rows, columns: multiply({"rows": rows, "columns": _factor(columns)})


def packed_products(numbers: AnyArray) -> Callable[[AnyArray], Int32Array]:
    """Return a function that multiplies int8 rows with all int8 numbers, exactly, in the calling thread: a row of products for each row."""
    multiply = _product(numbers.shape[1], numbers)
    return lambda rows: multiply({"rows": unsigned(rows)})


def _product(size: int, numbers: AnyArray | None = None) -> Callable[[dict[str, AnyArray]], Int32Array]:
    """Return the product of rows with columns, or with numbers that ONNX Runtime lays out for this processor.

    It is fast if the first factor is unsigned (VNNI, AMX, UDOT), ten times as fast as with two signed factors on x86.
    Flipping the sign bit adds 128 to a number, which the zero points subtract again.
    """
    import onnxruntime

    graph, signed = OnnxGraph(), multiplies_signed()
    rows = graph.input("rows", ("rows", size), np.uint8)
    if numbers is None:
        count: int | str = "columns"
        columns = graph.input("columns", (size, count), np.int8 if signed else np.uint8)
    else:
        count, columns = len(numbers), graph.constant("numbers", _factor(numbers).T)
    zero = graph.constant("zero", np.array(128, np.uint8))
    result = graph.add("MatMulInteger", [rows, columns, zero] if signed else [rows, columns, zero, zero])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = graph.model({result: ("rows", count)}, np.int32)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def multiply(factors: dict[str, AnyArray]) -> Int32Array:
        products: Int32Array = session.run(None, factors)[0]
        return products

    return multiply


def _factor(numbers: AnyArray) -> AnyArray:
    """Return int8 numbers as the second factor of a product."""
    return numbers if multiplies_signed() else unsigned(numbers)


def unsigned(numbers: AnyArray) -> ByteArray:
    """Return int8 numbers with 128 added, as unsigned ones."""
    flipped: ByteArray = numbers.view(np.uint8) ^ np.uint8(128)
    return flipped
