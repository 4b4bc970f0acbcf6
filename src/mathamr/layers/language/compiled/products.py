"""The product of rounded states with weights in eight bits, as machine code.

Twelve columns of the weights lie together, four numbers of each side by side, and so do eight rows of the states: a step multiplies
four numbers of eight rows with four of twelve columns, and the 96 sums stay in 24 registers until all numbers are through.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir

from mathamr.layers.language.compiled.code import BYTE, FLOAT, HALF, WHOLE, Code, floats

ROWS, COLUMNS = 8, 12
"""Of states and of weights that are multiplied together."""
TOGETHER = 4
"""Numbers of a row that one instruction multiplies and adds up."""
LANES = 4
TAKES = (
    ("states", "pointer"), ("scales", "pointer"), ("weights", "pointer"), ("weight_scales", "pointer"), ("weight_sums", "pointer"),
    ("bias", "pointer"),
    ("out", "pointer"), ("rows", "number"), ("size", "number"), ("columns", "number"),
)  # fmt: skip


def packed_weights(weights: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Weights (columns of the result, size) as `product` reads them."""
    columns, size = weights.shape
    parts = weights.reshape(columns // COLUMNS, COLUMNS, size // TOGETHER, TOGETHER)
    return np.ascontiguousarray(parts.transpose(0, 2, 1, 3))


def add_product(module: ir.Module) -> None:
    """``out[rows, columns] = states · weights * scale * weight_scales + bias`` in sixteen bits; rows come in eights.

    Every row has a scale and what its bytes are short of, which is made up for by the sums of the weights."""
    code = Code(module, "product", TAKES)
    build, sums, bytes_ = code.build, ir.VectorType(WHOLE, LANES), ir.VectorType(BYTE, 16)
    registers = COLUMNS // LANES
    running = [[code.variable(ir.Constant(sums, [0] * LANES)) for _ in range(registers)] for _ in range(ROWS)]
    size, rows = code["size"], code["rows"]
    with code.loop(0, code["columns"], COLUMNS) as column:
        panel = code.at(code["weights"], code.product(column, size))
        by_column = code.product(column, 4)
        worth, total, bias = (
            [
                code.load(code[name], code.sum(by_column, 16 * each), floats(LANES))
                for each in range(registers)
            ]
            for name in ("weight_scales", "weight_sums", "bias")
        )
        with code.loop(0, rows, ROWS) as row:
            block = code.at(code["states"], code.product(row, size))
            for of_row in running:
                for each in of_row:
                    each.value = ir.Constant(sums, [0] * LANES)
            with code.loop(0, size, TOGETHER) as offset:
                left = [
                    code.load(block, code.sum(code.product(offset, ROWS), 16 * half), bytes_)
                    for half in range(ROWS // 4)
                ]
                right = [
                    code.load(panel, code.sum(code.product(offset, COLUMNS), 16 * each), bytes_)
                    for each in range(registers)
                ]
                for number, of_row in enumerate(running):
                    quarters = build.bitcast(left[number // 4], sums)
                    spread = build.bitcast(code.lane(quarters, number % 4, LANES), bytes_)
                    for each, weights in zip(of_row, right, strict=True):
                        each.value = code.call(
                            "llvm.aarch64.neon.sdot.v4i32.v16i8", sums, each.value, weights, spread
                        )
            for number, of_row in enumerate(running):
                at = code.sum(row, number)
                scale, short = (
                    code.spread(code.load(code["scales"], code.sum(code.product(at, 8), part), FLOAT), LANES)
                    for part in (0, 4)
                )
                place = code.product(code.sum(code.product(at, code["columns"]), column), 2)
                for number_, each in enumerate(of_row):
                    found: Any = build.sitofp(each.value, floats(LANES))
                    found = code.fused(total[number_], short, found)
                    found = code.fused(found, build.fmul(scale, worth[number_]), bias[number_])
                    found = build.fptrunc(found, floats(LANES, HALF))
                    code.store(found, code["out"], code.sum(place, 2 * LANES * number_))
    code.end()
