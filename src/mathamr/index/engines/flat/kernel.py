"""MaxSim as one loop of machine code: products, maxima and means without a number written between.

A library multiplies a block, writes 32 bits for every cosine, and numpy reads them all again for the maxima: with vectors as
short as these that takes longer than the products. Here the maxima never leave the registers of the processor, and the
vectors of a post are read where they lie. The code is made by LLVM (`llvmlite`, the extra `fast`) for the instructions that the
processor has: on whole numbers SDOT (ARM) or VNNI (x86), on floats what every one of them has.

A lane of a register is a row of the query. Four bytes of a vector are multiplied with those of every row at a time, some slots
of a post side by side, so that what is read of the query serves all of them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray, Int32Array, IntArray
from mathamr.core.errors import MathAMRError
from mathamr.core.machinecode import NUMBER, POINTER, Program, is_arm, loop, processor_features

RowType = Literal["int8", "float32"]

_PIECE = 16
"""Bytes of a vector that are loaded at a time: vectors have multiples of it."""
_LINE, _AHEAD = 64, 256
"""Bytes that memory gives at a time, and how far ahead of a vector they are asked for: no processor follows so many slots by itself."""
_NEAR = 1024
"""Posts that a call goes through where a query has rows for several passes: they are read again while they are near."""
_HOT = 2_000_000_000
"""Products after which a process makes the code: that takes as long as these do without it."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a processor multiplies numbers of a kind and adds the products up."""

    kind: RowType
    intrinsic: str
    lanes: int
    """Rows of a query in a register."""
    registers: int
    """Registers of rows that one pass takes."""
    side_by_side: int
    """Slots of a post that are multiplied side by side."""
    unsigned: bool = False
    """One factor has no sign: numbers of vectors get 128 added, and 128 times the sum of the query's row is taken off."""


_ARM = {
    "int8": Arithmetic("int8", "llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 4, 4),
    "float32": Arithmetic("float32", "llvm.fma.v4f32", 4, 4, 4),
}
_AVX512 = {
    "int8": Arithmetic("int8", "llvm.x86.avx512.vpdpbusd.512", 16, 2, 8, unsigned=True),
    "float32": Arithmetic("float32", "llvm.fma.v16f32", 16, 2, 8),
}
_AVX2 = {
    "int8": Arithmetic("int8", "llvm.x86.avx512.vpdpbusd.256", 8, 2, 5, unsigned=True),
    "float32": Arithmetic("float32", "llvm.fma.v8f32", 8, 2, 5),
}


@cache
def arithmetic(kind: RowType) -> Arithmetic | None:
    """What this processor has for numbers of a kind; None where that is nothing quick, or llvmlite is not installed."""
    features = processor_features()
    if not features:
        return None
    if is_arm():
        return _ARM[kind] if kind == "float32" or features.get("dotprod") else None
    if features.get("avx512vnni" if kind == "int8" else "avx512f") and features.get("avx512vl"):
        return _AVX512[kind]
    return _AVX2[kind] if features.get("avxvnni" if kind == "int8" else "fma") else None


class _Heat:
    """How many products the process has computed without the code."""

    def __init__(self) -> None:
        self._products, self._counting = 0, threading.Lock()

    def add(self, products: int) -> None:
        """Counts some that are about to be computed."""
        with self._counting:
            self._products += products

    def expect_many(self) -> None:
        """The process will compute so many that the code pays, as whoever starts a server knows beforehand."""
        self.add(_HOT)

    @property
    def hot(self) -> bool:
        """Whether there were so many that the code pays."""
        return self._products >= _HOT


_heat = _Heat()


def pays(vectors: AnyArray) -> bool:
    """Whether vectors should be scanned by the code: it can, and the process has multiplied enough for it to be made."""
    kind = vectors.dtype.name
    fits = kind in ("int8", "float32") and (vectors.shape[1] * vectors.itemsize) % _PIECE == 0
    return fits and _heat.hot and vectors.flags.c_contiguous and arithmetic(kind) is not None


def expect_many() -> None:
    """Makes the code when it is next wanted, without waiting for what is computed until then."""
    _heat.expect_many()


def multiplied(query: AnyArray, vectors: AnyArray) -> None:
    """Counts the products of a query and vectors, computed without the code."""
    _heat.add(query.size * len(vectors))


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where posts lie among rows: their first row, how far it is from one to the next, and how many they have.

    The code follows them without looking: what leads out of the rows is refused here.
    """

    firsts: IntArray
    strides: IntArray
    counts: IntArray

    @classmethod
    def within(cls, rows: int, firsts: IntArray, strides: IntArray, counts: IntArray) -> Places:
        """Places that were looked at."""
        parts = [np.ascontiguousarray(each, np.int64) for each in (firsts, strides, counts)]
        # By floats, since numbers of a damaged file might wrap around.
        ends = parts[0] + (parts[2] - 1.0) * parts[1]
        if len(ends) and not (
            min(each.min() for each in parts) >= 0 and parts[2].min() > 0 and ends.max() < rows
        ):
            raise MathAMRError("the vectors of posts are not where their file says; build the index again")
        return cls(*parts)

    def __len__(self) -> int:
        return len(self.firsts)


class PackedQuery:
    """A query's numbers as the code reads them, in passes of as many rows as registers hold."""

    def __init__(self, numbers: AnyArray, weights: FloatArray) -> None:
        how = arithmetic(numbers.dtype.name)
        if how is None:
            raise RuntimeError("the processor has nothing quick for this; ask `pays` first")
        self._passes: list[tuple[Any, AnyArray, FloatArray, Int32Array]] = []
        together = 4 // numbers.itemsize
        most = how.lanes * how.registers
        for first in range(0, len(numbers), most):
            rows = numbers[first : first + most]
            registers = -(-len(rows) // how.lanes)
            padded = np.zeros((registers * how.lanes, numbers.shape[1]), numbers.dtype)
            padded[: len(rows)] = rows
            worth = np.zeros(len(padded), np.float32)
            worth[: len(rows)] = weights[first : first + most]
            begun = np.zeros(len(padded), np.int32)
            if how.unsigned:
                begun -= 128 * padded.sum(axis=1, dtype=np.int32)
            # Four bytes of every row, then the next four.
            packed = np.ascontiguousarray(padded.reshape(len(padded), -1, together).transpose(1, 0, 2))
            code = _compiled(how, numbers.shape[1] * numbers.itemsize, registers)["scan"]
            self._passes.append((code, packed, worth, begun))

    def add(self, vectors: AnyArray, places: Places, out: FloatArray, begin: int, end: int) -> None:
        """Adds to ``out[begin:end]`` the weighted sum over the query's rows of the best product in each post."""
        parts = (vectors, places.firsts, places.strides, places.counts, out)
        where = [each.ctypes.data for each in parts]
        step = _NEAR if len(self._passes) > 1 else max(1, end - begin)
        for start in range(begin, end, step):
            for code, packed, worth, begun in self._passes:
                code(
                    *where,
                    start,
                    min(end, start + step),
                    packed.ctypes.data,
                    worth.ctypes.data,
                    begun.ctypes.data,
                )


@cache
def _compiled(how: Arithmetic, size: int, registers: int) -> Program:
    """The code for vectors of so many bytes and so many registers of the query's rows; it is kept as long as the process lives."""
    given = (*[POINTER] * 5, NUMBER, NUMBER, *[POINTER] * 3)
    return Program(_module(how, size, registers), {"scan": given})


def _module(how: Arithmetic, size: int, registers: int) -> Any:
    """``scan(vectors, firsts, strides, counts, out, begin, end, query, weights, begun)``."""
    from llvmlite import ir

    lanes, floats = how.lanes, how.kind == "float32"
    byte, whole, long, real = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()
    reals, wholes = ir.VectorType(real, lanes), ir.VectorType(whole, lanes)
    sums = reals if floats else wholes
    piece, quarters = ir.VectorType(byte, _PIECE), ir.VectorType(whole, _PIECE // 4)
    # The product of ARM takes bytes, that of x86 four of them as a number.
    factor = reals if floats else wholes if how.unsigned else ir.VectorType(byte, 4 * lanes)
    module = ir.Module("maxsim")
    # Products of floats come with what they are added to at the end, those of whole numbers at the beginning.
    order = [factor, factor, sums] if floats else [sums, factor, factor]
    dot = ir.Function(module, ir.FunctionType(sums, order), how.intrinsic)
    name = f"llvm.maxnum.v{lanes}f32" if floats else f"llvm.smax.v{lanes}i32"
    larger = ir.Function(module, ir.FunctionType(sums, [sums, sums]), name)
    added = ir.Function(module, ir.FunctionType(real, [real, reals]), f"llvm.vector.reduce.fadd.v{lanes}f32")
    hint = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), whole, whole, whole])
    prefetch = ir.Function(module, hint, "llvm.prefetch.p0")
    given = [
        byte.as_pointer(),
        *[long.as_pointer()] * 3,
        real.as_pointer(),
        long,
        long,
        *[byte.as_pointer()] * 3,
    ]
    scan = ir.Function(module, ir.FunctionType(ir.VoidType(), given), "scan")
    vectors, firsts, strides, counts, out, begin, end, query, weights, begun = scan.args
    build = ir.IRBuilder(scan.append_basic_block("entry"))

    def load(pointer: Any, offset: Any, type_: Any) -> Any:
        return build.load(build.bitcast(build.gep(pointer, [offset]), type_.as_pointer()), align=1)

    register = long(4 * lanes)
    best = [build.alloca(sums) for _ in range(registers)]
    running = [[build.alloca(sums) for _ in range(registers)] for _ in range(how.side_by_side)]
    worth = [load(weights, build.mul(register, long(each)), reals) for each in range(registers)]
    starts = [load(begun, build.mul(register, long(each)), sums) for each in range(registers)]
    numbers_only = ("nnan",) if floats else ()
    lowest = ir.Constant(sums, [float("-inf") if floats else -(2**31)] * lanes)
    with loop(build, begin, end, 1) as post:
        first, stride, count = (build.load(build.gep(each, [post])) for each in (firsts, strides, counts))
        last = build.sub(count, long(1))
        for kept in best:
            build.store(lowest, kept)
        with loop(build, long(0), count, how.side_by_side) as slot:
            places = []
            for beside, mine in enumerate(running):
                # Past the last slot it is the last once more, which changes no maximum.
                number = build.add(slot, long(beside))
                number = build.select(build.icmp_signed("<", number, last), number, last)
                row = build.add(first, build.mul(number, stride))
                places.append(build.gep(vectors, [build.mul(row, long(size))]))
                # Floats are read of posts here and there: what lies behind one of them is not wanted.
                for line in range(0, 0 if floats else size, _LINE):
                    ahead = build.gep(places[-1], [long(max(_AHEAD, size) + line)])
                    build.call(prefetch, [ahead, whole(0), whole(3), whole(1)])
                for each, start in zip(mine, starts, strict=True):
                    build.store(start, each)
            with loop(build, long(0), long(size), _PIECE) as offset:
                loaded = [load(place, offset, piece) for place in places]
                if how.unsigned:
                    loaded = [build.xor(each, ir.Constant(piece, [-128] * _PIECE)) for each in loaded]
                loaded = [build.bitcast(each, quarters) for each in loaded]
                of_query = build.mul(offset, long(lanes * registers))
                for quarter in range(_PIECE // 4):
                    places_ = (4 * lanes * (quarter * registers + each) for each in range(registers))
                    rows = [load(query, build.add(of_query, long(each)), factor) for each in places_]
                    lane = ir.Constant(wholes, [quarter] * lanes)
                    for mine, some in zip(running, loaded, strict=True):
                        spread = build.shuffle_vector(some, ir.Constant(quarters, ir.Undefined), lane)
                        spread = build.bitcast(spread, factor)
                        for each, row in zip(mine, rows, strict=True):
                            total = build.load(each)
                            # Of two whole numbers that without a sign comes first.
                            numbers = [spread, row] if floats or how.unsigned else [row, spread]
                            numbers = [*numbers, total] if floats else [total, *numbers]
                            build.store(build.call(dot, numbers), each)
            for mine in running:
                for each, kept in zip(mine, best, strict=True):
                    best_of = build.call(larger, [build.load(each), build.load(kept)], fastmath=numbers_only)
                    build.store(best_of, kept)
        weighed = None
        for kept, weight in zip(best, worth, strict=True):
            found = build.load(kept) if floats else build.sitofp(build.load(kept), reals)
            found = build.fmul(found, weight)
            weighed = found if weighed is None else build.fadd(weighed, found)
        place = build.gep(out, [post])
        build.store(build.call(added, [build.load(place), weighed], fastmath=("reassoc",)), place)
    build.ret_void()
    return module
