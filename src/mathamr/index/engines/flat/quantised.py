"""Vectors of length one as whole numbers of eight bits, which is how the flat engine stores and compares them.

A row v is stored as n = v · 127 / max |v|, rounded to whole numbers, and stands for n / ‖n‖. The rows of a query are rounded
likewise, m / ‖m‖, so that a cosine is m·n / (‖m‖ ‖n‖): a product of whole numbers, for which processors have instructions.
What is stored is what is scored: rounding a stored row again gives the same numbers, in whatever segment it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mathamr.core.arrays import AnyArray, ByteArray, FloatArray, Int32Array
from mathamr.core.onnxfile import OnnxGraph, multiplies_signed
from mathamr.index.engines.maxsim import similarities

_LARGEST = np.float32(127)
_LEAST = np.float32(1e-30)
"""What a row of zeros is divided by."""
_AT_A_TIME = 1 << 16
"""The number of rows that are rounded at a time."""
LARGEST_PACKED = 64 << 20
"""The bytes up to which the numbers are kept as ONNX Runtime packs them, which is four times as fast for a query of few rows."""


@dataclass(frozen=True, eq=False)
class Quantised:
    """Rows of whole numbers, and the length ‖n‖ of each."""

    numbers: npt.NDArray[np.int8]
    lengths: FloatArray

    @classmethod
    def of(cls, vectors: AnyArray) -> Quantised:
        """Round rows to whole numbers."""
        numbers = np.empty(vectors.shape, np.int8)
        lengths = np.empty(len(vectors), np.float32)
        for begin in range(0, len(vectors), _AT_A_TIME):
            part = slice(begin, begin + _AT_A_TIME)
            whole = _whole(np.asarray(vectors[part], np.float32))
            numbers[part], lengths[part] = whole, np.linalg.norm(whole, axis=1)
        return cls(numbers, lengths)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and of numbers in each."""
        return self.numbers.shape

    @property
    def dtype(self) -> np.dtype[np.int8]:
        """The type of the stored numbers."""
        return self.numbers.dtype

    def __getitem__(self, where: AnyArray | slice) -> Quantised:
        return Quantised(self.numbers[where], self.lengths[where])

    def floats(self) -> FloatArray:
        """Return the rows that the numbers stand for."""
        rows: FloatArray = self.numbers * self.inverse[:, None]
        return rows

    @cached_property
    def inverse(self) -> FloatArray:
        """1 / ‖n‖ of each row; 0 where the row is zero, as damaged files may have it."""
        return np.divide(
            np.float32(1), self.lengths, out=np.zeros(len(self), np.float32), where=self.lengths > 0
        )

    def whole_cosines(self, query: FloatArray) -> Callable[[slice], FloatArray]:
        """Return a function from places to the cosines of a query's rows with the rows there, by products of whole numbers.

        The rows of the query are rounded; a row of the result is that of a row of the query.
        """
        whole = _whole(query)
        shares = (1 / np.maximum(np.linalg.norm(whole, axis=1), 1)).astype(np.float32)[:, None]
        numbers = whole.astype(np.int8)
        packed = self._packed(numbers)
        columns, multiply = np.ascontiguousarray(numbers.T), integer_products(self.shape[1])

        def cosines(rows: slice) -> FloatArray:
            products = (
                multiply(unsigned(self.numbers[rows]), columns).T if packed is None else packed[:, rows]
            )
            similar: FloatArray = np.multiply(products, self.inverse[rows], dtype=np.float32) * shares
            return similar

        return cosines

    def _packed(self, rows: AnyArray) -> Int32Array | None:
        """Return the products with all numbers, which are laid out for this processor, if they are few and it is not the first time."""
        if self.numbers.nbytes > LARGEST_PACKED:
            return None
        if not self._scans:
            self._scans.append(1)
            return None
        return self._multiply(rows)

    @cached_property
    def _scans(self) -> list[int]:
        """A list that is empty until the first scan: packing the numbers pays only from the second scan on."""
        return []

    @cached_property
    def _multiply(self) -> Callable[[AnyArray], Int32Array]:
        return packed_products(self.numbers)


Stored: TypeAlias = "AnyArray | Quantised"
"""Rows as they are stored: of eight bits, or of sixteen or thirty-two in an array."""


def stored(vectors: AnyArray, dtype: str) -> Stored:
    """Return rows as numbers of a type."""
    return Quantised.of(vectors) if dtype == "int8" else vectors.astype(dtype, copy=False)


def floats(rows: Stored) -> FloatArray:
    """Return stored rows as they are compared."""
    if isinstance(rows, Quantised):
        return rows.floats()
    exact: FloatArray = rows.astype(np.float32, copy=False)
    return exact


def cosines(query: FloatArray, rows: Stored) -> FloatArray:
    """Return the cosines of a query's rows with stored rows, a row of the result for each row of the query."""
    if isinstance(rows, Quantised):
        similar: FloatArray = similarities(query, rows.numbers.astype(np.float32)) * rows.inverse
        return similar
    return similarities(query, floats(rows))


def rounded_rows(query: FloatArray) -> FloatArray:
    """Return the rows that the whole numbers of a query's rows stand for."""
    return Quantised.of(query).floats()


def arrays_of(rows: Stored) -> dict[str, AnyArray]:
    """Return the arrays of stored rows by name, to be written to a file."""
    if isinstance(rows, Quantised):
        return {"numbers": rows.numbers, "lengths": rows.lengths}
    return {"vectors": rows}


def read_arrays(arrays: Mapping[str, AnyArray]) -> Stored:
    """Return the rows of the arrays of `arrays_of`; a `ValueError` or `KeyError` tells what is wrong."""
    if "numbers" not in arrays:
        return arrays["vectors"]
    numbers, lengths = arrays["numbers"], arrays["lengths"]
    if numbers.dtype != np.int8 or lengths.shape != numbers.shape[:1]:
        raise ValueError("numbers of eight bits with a length for each row")
    return Quantised(numbers, lengths)


def _whole(vectors: FloatArray) -> FloatArray:
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True, initial=0), _LEAST)
    whole: FloatArray = np.rint(vectors * (_LARGEST / largest))
    return whole


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
