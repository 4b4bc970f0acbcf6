"""What is done to every row of states between two products, as machine code: sums, normalisation, GELU, and rounding.

A row is rounded relative to its own smallest and largest numbers, whatever the other rows hold, and written where `product` reads it: eight rows
together, four numbers of each side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from mathamr.layers.language.compiled.code import (
    FLOAT,
    HALF,
    LOG2E,
    ROUNDER,
    WHOLE,
    Code,
    Variable,
    constant,
    floats,
)
from mathamr.layers.language.compiled.products import ROWS, TOGETHER

STEP = 16
"""Numbers of a row that are taken at a time."""
RANGE = 254.0
"""From the smallest number of a row, or zero, to its largest: one less than bytes have, for both ends are rounded."""
LEAST = 254 / 60_000
"""A row whose numbers differ by less is rounded as if they did by this: its factor would not fit in sixteen bits."""
NORMAL_TAKES = (
    ("states", "pointer"), ("more", "pointer"), ("weight", "pointer"), ("bias", "pointer"), ("epsilon", "real"),
    ("packed", "pointer"), ("scales", "pointer"), ("rows", "number"), ("size", "number"),
)  # fmt: skip
ROUND_TAKES = (
    ("states", "pointer"), ("packed", "pointer"), ("scales", "pointer"), ("rows", "number"), ("size", "number"),
)  # fmt: skip
GELU_INNER, GELU_CUBE = 0.7978845608028654, 0.044715
"""GELU by a hyperbolic tangent (Hendrycks and Gimpel, 2016)."""
LEAST_POWER, LARGEST_POWER = -14.0, 15.0
"""Of two, in sixteen bits."""


def add_normal(module: ir.Module) -> None:
    """``states = normal(states + more) * weight + bias``, where `more` has sixteen bits, and the same rounded."""
    code = Code(module, "normal", NORMAL_TAKES)
    build, size = code.build, code["size"]
    registers, four, halves = STEP // 4, floats(4), floats(4, HALF)
    share = build.fdiv(FLOAT(1.0), build.uitofp(size, FLOAT))
    with code.loop(0, code["rows"], 1) as row:
        states, more = (
            code.at(code[name], code.product(row, size, bytes_))
            for name, bytes_ in (("states", 4), ("more", 2))
        )
        sums, squares, smallest, largest = (_zeros(code, four, registers) for _ in range(4))
        with code.loop(0, size, STEP) as place:
            for number in range(registers):
                at = code.sum(place, number * 4)
                beside = build.fpext(code.load(more, code.product(at, 2), halves), four)
                value = build.fadd(code.load(states, code.product(at, 4), four), beside)
                code.store(value, states, code.product(at, 4))
                sums[number].value = build.fadd(sums[number].value, value)
        mean = code.spread(build.fmul(_total(code, sums), share), 4)
        with code.loop(0, size, STEP) as place:
            for number in range(registers):
                at = code.product(code.sum(place, number * 4), 4)
                value = build.fsub(code.load(states, at, four), mean)
                squares[number].value = code.fused(value, value, squares[number].value)
        spread = code.unary("sqrt", build.fadd(build.fmul(_total(code, squares), share), code["epsilon"]))
        factor = code.spread(build.fdiv(FLOAT(1.0), spread), 4)
        with code.loop(0, size, STEP) as place:
            for number in range(registers):
                at = code.product(code.sum(place, number * 4), 4)
                value = build.fmul(build.fsub(code.load(states, at, four), mean), factor)
                value = code.fused(
                    value, code.load(code["weight"], at, four), code.load(code["bias"], at, four)
                )
                code.store(value, states, at)
                _compare(code, smallest[number], largest[number], value)
        _round(code, states, row, (_smallest(code, smallest), _largest(code, largest)), FLOAT)
    code.end()


def add_gelu(module: ir.Module) -> None:
    """GELU of states in sixteen bits, rounded; what they were is lost."""
    code = Code(module, "gelu", ROUND_TAKES)
    build, kind = code.build, floats(8, HALF)
    slope = -2 * GELU_INNER * LOG2E

    def gelu(x: Any) -> Any:
        power = code.fused(build.fmul(x, x), constant(kind, slope * GELU_CUBE), constant(kind, slope))
        power = code.binary("maxnum", build.fmul(x, power), constant(kind, LEAST_POWER))
        power = code.binary("minnum", power, constant(kind, LARGEST_POWER))
        below = build.fadd(code.exp2(power), constant(kind, 1.0))
        # The processor's first guess of an inverse, made better once.
        inverse = code.call("llvm.aarch64.neon.frecpe.v8f16", kind, below)
        better = code.call("llvm.aarch64.neon.frecps.v8f16", kind, below, inverse)
        return build.fmul(x, build.fmul(inverse, better))

    _add_rounded(code, gelu)


def add_rounding(module: ir.Module) -> None:
    """States in sixteen bits, rounded."""
    _add_rounded(Code(module, "rounded", ROUND_TAKES), None)


def _add_rounded(code: Code, change: Callable[[Any], Any] | None) -> None:
    halves, registers = floats(8, HALF), STEP // 8
    with code.loop(0, code["rows"], 1) as row:
        states = code.at(code["states"], code.product(row, code["size"], 2))
        smallest, largest = (_zeros(code, halves, registers) for _ in range(2))
        with code.loop(0, code["size"], STEP) as place:
            for number in range(registers):
                at = code.product(code.sum(place, number * 8), 2)
                value = code.load(states, at, halves)
                if change is not None:
                    value = change(value)
                    code.store(value, states, at)
                _compare(code, smallest[number], largest[number], value)
        ends = _smallest(code, smallest), _largest(code, largest)
        first, last = (code.build.fpext(each, FLOAT) for each in ends)
        _round(code, states, row, (first, last), HALF)
    code.end()


def _round(code: Code, states: Any, row: Any, ends: tuple[Any, Any], kind: Any) -> None:
    """Writes a row between whose ends all its numbers and zero lie, rounded; its scale, and what its bytes are short of.

    A byte is `states / scale + zero - 128`, where zero is the byte of nothing: `scale * (byte + 128 - zero)` is the number again.
    """
    build, size = code.build, code["size"]
    lanes, bytes_ = (4, 4) if kind is FLOAT else (8, 2)
    smallest, largest = ends
    factor = build.fdiv(FLOAT(RANGE), code.larger(build.fsub(largest, smallest), FLOAT(LEAST)))
    if kind is not FLOAT:
        factor = build.fpext(build.fptrunc(factor, kind), FLOAT)
    zero = code.unary("rint", build.fmul(build.fneg(smallest), factor))
    code.store(build.fdiv(FLOAT(1.0), factor), code["scales"], code.product(row, 8))
    code.store(build.fsub(FLOAT(128.0), zero), code["scales"], code.sum(code.product(row, 8), 4))
    moved = build.fadd(zero, FLOAT(ROUNDER[str(kind)][0] - 128))
    factor, moved = (each if kind is FLOAT else build.fptrunc(each, kind) for each in (factor, moved))
    factor, moved = code.spread(factor, lanes), code.spread(moved, lanes)
    inside = build.and_(row, code.whole(ROWS - 1))
    block = code.at(code["packed"], code.product(build.sub(row, inside), size))
    block = code.at(block, code.product(inside, TOGETHER))
    with code.loop(0, size, STEP) as place:
        parts = [
            code.rounded(
                code.load(states, code.product(code.sum(place, number), bytes_), floats(lanes, kind)),
                factor,
                moved,
            )
            for number in range(0, STEP, lanes)
        ]
        while len(parts) > 1:
            parts = [code.joined(left, right) for left, right in zip(parts[::2], parts[1::2], strict=True)]
        fours = build.bitcast(parts[0], ir.VectorType(WHOLE, STEP // TOGETHER))
        for number in range(STEP // TOGETHER):
            four = build.extract_element(fours, WHOLE(number))
            code.store(four, block, code.sum(code.product(place, ROWS), number * ROWS * TOGETHER))


def _zeros(code: Code, kind: Any, count: int) -> list[Variable]:
    return [code.variable(constant(kind, 0.0)) for _ in range(count)]


def _compare(code: Code, smallest: Variable, largest: Variable, value: Any) -> None:
    smallest.value = code.smaller(smallest.value, value)
    largest.value = code.larger(largest.value, value)


def _total(code: Code, sums: list[Variable]) -> Any:
    first, second, third, fourth = (each.value for each in sums)
    build = code.build
    return code.total(build.fadd(build.fadd(first, second), build.fadd(third, fourth)))


def _largest(code: Code, found: list[Variable]) -> Any:
    best, *others = (each.value for each in found)
    for each in others:
        best = code.larger(best, each)
    return code.largest(best)


def _smallest(code: Code, found: list[Variable]) -> Any:
    best, *others = (each.value for each in found)
    for each in others:
        best = code.smaller(best, each)
    return code.smallest(best)
