"""Attention as machine code: products in sixteen bits, and no score that leaves the nearest memory.

Four rows of queries are multiplied with 32 keys at a time; when they have met all keys their scores become shares, which are
multiplied with the values. Shares are added up in 32 bits. A score that does not fit
into sixteen bits makes a row of no numbers, which is found behind the last layer.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from mathamr.layers.language.compiled.code import FLOAT, HALF, LOG2E, WHOLE, Code, constant, floats

ROWS, TILE, LANES = 4, 32, 8
"""Rows and columns that are multiplied together, and numbers of sixteen bits in a register."""
NOTHING = -60_000.0
"""The score of a key that is not there."""
LEAST = -14.0
"""No score counts that is so far below the best: sixteen bits have no such power of two."""
TAKES = (
    ("projected", "pointer"), ("added", "pointer"), ("out", "pointer"), ("scratch", "pointer"),
    ("rows", "number"), ("width", "number"), ("heads", "number"),
)  # fmt: skip
GATHER_TAKES = (
    ("projected", "pointer"), ("turned", "pointer"), ("values", "pointer"),
    ("width", "number"), ("keys", "number"), ("total", "number"),
)  # fmt: skip
TILE_TAKES = (
    ("left", "pointer"), ("stride", "number"), ("right", "pointer"), ("across", "number"), ("depth", "number"),
    ("out", "pointer"), ("apart", "number"),
)  # fmt: skip
SHARES_TAKES = (
    ("scores", "pointer"), ("added", "pointer"), ("width", "number"), ("keys", "number"), ("inverse", "pointer"),
)  # fmt: skip


def scratch_bytes(rows: int, head: int) -> int:
    """Bytes to work with: keys and values of a head, and of four rows their scores, results and sums."""
    keys, wide = -(-rows // TILE) * TILE, -(-head // TILE) * TILE
    return 2 * (keys * (head + wide) + ROWS * (keys + wide)) + 4 * ROWS


def add_attention(module: ir.Module, head: int, *, adds: bool) -> None:
    """``out[rows, heads * head]`` from projected states (rows, 3 · heads · head) in sixteen bits: queries, keys, values.

    `width` rows count, `rows` (a multiple of eight) are there; scores are powers of two, so that queries come multiplied
    with `query_scale`. `adds`: (heads, width, width) numbers are added to the scores.
    """
    gather, tile, shares = _add_gather(module, head), _add_tile(module), _add_shares(module, adds=adds)
    code = Code(module, "attention", TAKES)
    build, width, wide = code.build, code["width"], -(-head // TILE) * TILE
    halves = floats(LANES, HALF)
    keys = build.and_(code.sum(width, TILE - 1), code.whole(-TILE))
    total = code.product(code["heads"], head)
    turned = code["scratch"]
    values = code.at(turned, code.product(keys, 2 * head))
    scores = code.at(values, code.product(keys, 2 * wide))
    found = code.at(scores, code.product(keys, 2 * ROWS))
    inverse = code.at(found, 2 * ROWS * wide)
    line, across = code.product(keys, 2), code.product(total, 6)
    with code.loop(0, code["heads"], 1) as number:
        mine = code.at(code["projected"], code.product(number, 2 * head))
        build.call(gather, [mine, turned, values, width, keys, total])
        with code.loop(0, code["rows"], ROWS) as row:
            asked = code.at(mine, code.product(row, across))
            with code.loop(0, keys, TILE) as key:
                places = code.product(key, 2)
                here = code.at(turned, places), line, code.whole(head), code.at(scores, places), line
                build.call(tile, [asked, across, *here])
            with code.loop(0, ROWS, 1) as each:
                beside = code["added"]
                if adds:
                    at = code.sum(row, each)
                    # Rows beyond the window are not in what is added; any will do for them.
                    at = build.select(build.icmp_signed("<", at, width), at, code.whole(0))
                    beside = code.at(
                        beside, code.product(code.sum(code.product(number, width), at), width, 4)
                    )
                here = code.at(scores, code.product(line, each))
                build.call(shares, [here, beside, width, keys, code.at(inverse, code.product(each, 4))])
            for first in range(0, wide, TILE):
                given = code.at(values, 2 * first), code.whole(2 * wide), keys
                build.call(tile, [scores, line, *given, code.at(found, 2 * first), code.whole(2 * wide)])
            with code.loop(0, ROWS, 1) as each:
                factor = code.spread(code.load(inverse, code.product(each, 4), FLOAT), LANES)
                at = code.sum(code.product(code.sum(row, each), total), code.product(number, head))
                for place in range(0, head, LANES):
                    value = code.load(
                        found, code.product(code.sum(code.product(each, wide), place), 2), halves
                    )
                    value = build.fmul(build.fpext(value, floats(LANES)), factor)
                    code.store(
                        build.fptrunc(value, halves), code["out"], code.product(code.sum(at, place), 2)
                    )
    code.end()


def query_scale(head: int) -> float:
    """What queries are multiplied with: the root of their size, and what makes powers of two of powers of e."""
    return float(LOG2E / head**0.5)


def _add_gather(module: ir.Module, head: int) -> Any:
    """The values of a head row by row, its keys number by number."""
    code = Code(module, "gather", GATHER_TAKES, inner=True)
    build, halves, zero = code.build, floats(LANES, HALF), constant(floats(LANES, HALF), 0.0)
    wide, keys, width = -(-head // TILE) * TILE, code["keys"], code["width"]

    def read(row: Any, third: int, place: Any) -> Any:
        at = code.sum(code.product(row, code["total"], 3), code.product(code["total"], third), place)
        return code.load(code["projected"], code.product(at, 2), halves)

    def write(value: Any, name: str, row: Any, size: Any, place: Any) -> None:
        code.store(value, code[name], code.product(code.sum(code.product(row, size), place), 2))

    with code.loop(0, width, 1) as row:
        with code.loop(0, head, LANES) as place:
            write(read(row, 2, place), "values", row, wide, place)
        with code.loop(head, wide, LANES) as place:
            write(zero, "values", row, wide, place)
    with code.loop(width, keys, 1) as row, code.loop(0, wide, LANES) as place:
        write(zero, "values", row, wide, place)
    with code.loop(0, width, LANES) as row, code.loop(0, head, LANES) as place:
        # Rows come in eights: those beyond the window are no keys, and their scores are overwritten.
        square = [read(code.sum(row, each), 1, place) for each in range(LANES)]
        for each, column in enumerate(_turned(code, square)):
            write(column, "turned", code.sum(place, each), keys, row)
    last = build.and_(code.sum(width, LANES - 1), code.whole(-LANES))
    with code.loop(last, keys, LANES) as row, code.loop(0, head, 1) as place:
        write(zero, "turned", place, keys, row)
    code.end()
    return code.function


def _turned(code: Code, square: list[Any]) -> list[Any]:
    """Eight registers of eight numbers, rows and columns exchanged."""
    step = 1
    while step < LANES:
        new = list(square)
        for first in range(LANES):
            if first & step:
                continue
            left, right = square[first], square[first | step]
            low = [each if not each & step else LANES + (each ^ step) for each in range(LANES)]
            high = [each | step if not each & step else LANES + each for each in range(LANES)]
            for place, order in ((first, low), (first | step, high)):
                new[place] = code.build.shuffle_vector(
                    left, right, ir.Constant(ir.VectorType(WHOLE, LANES), order)
                )
        square, step = new, 2 * step
    return square


def _add_tile(module: ir.Module) -> Any:
    """The product of four rows with 32 columns; rows of both, and of the result, are so many bytes apart."""
    code = Code(module, "tile", TILE_TAKES, inner=True)
    halves = floats(LANES, HALF)
    sums = [[code.variable(constant(halves, 0.0)) for _ in range(TILE // LANES)] for _ in range(ROWS)]
    with code.loop(0, code["depth"], LANES) as place:
        across, at = code["across"], code.product(place, 2)
        factors = [
            code.load(code["left"], code.sum(code.product(code["stride"], row), at), halves)
            for row in range(ROWS)
        ]
        for lane in range(LANES):
            line = code.at(code["right"], code.product(code.sum(place, lane), across))
            numbers = [code.load(line, 2 * LANES * each, halves) for each in range(TILE // LANES)]
            for of_row, factor in zip(sums, factors, strict=True):
                spread = code.lane(factor, lane, LANES)
                for each, some in zip(of_row, numbers, strict=True):
                    each.value = code.fused(some, spread, each.value)
    for row, of_row in enumerate(sums):
        for number, each in enumerate(of_row):
            code.store(
                each.value, code["out"], code.sum(code.product(code["apart"], row), 2 * LANES * number)
            )
    code.end()
    return code.function


def _add_shares(module: ir.Module, *, adds: bool) -> Any:
    """Turns the scores of a row into shares of its best; writes what they are to be multiplied with to add up to one."""
    code = Code(module, "shares", SHARES_TAKES, inner=True)
    build, halves, eight = code.build, floats(LANES, HALF), floats(LANES)
    scores, width, keys = code["scores"], code["width"], code["keys"]
    if adds:
        with code.loop(0, width, 1) as key:
            more = build.fmul(code.load(code["added"], code.product(key, 4), FLOAT), FLOAT(LOG2E))
            at = code.product(key, 2)
            score = build.fadd(build.fpext(code.load(scores, at, HALF), FLOAT), more)
            code.store(build.fptrunc(score, HALF), scores, at)
    with code.loop(width, keys, 1) as key:
        code.store(HALF(NOTHING), scores, code.product(key, 2))
    best = [code.variable(constant(halves, NOTHING)) for _ in range(TILE // LANES)]
    with code.loop(0, keys, TILE) as key:
        for number, each in enumerate(best):
            at = code.product(code.sum(key, number * LANES), 2)
            each.value = code.larger(each.value, code.load(scores, at, halves))
    first, second, third, fourth = (each.value for each in best)
    found = code.larger(code.larger(first, second), code.larger(third, fourth))
    largest = code.spread(code.largest(found), LANES)
    total = code.variable(constant(eight, 0.0))
    with code.loop(0, keys, TILE) as key:
        parts = []
        for number in range(TILE // LANES):
            at = code.product(code.sum(key, number * LANES), 2)
            below = build.fsub(code.load(scores, at, halves), largest)
            share = code.exp2(code.binary("maxnum", below, constant(halves, LEAST)))
            counts = build.fcmp_ordered(">", below, constant(halves, LEAST))
            parts.append(build.select(counts, share, constant(halves, 0.0)))
            code.store(parts[-1], scores, at)
        some = build.fadd(build.fadd(parts[0], parts[1]), build.fadd(parts[2], parts[3]))
        total.value = build.fadd(total.value, build.fpext(some, eight))
    code.store(build.fdiv(FLOAT(1.0), code.total(total.value)), code["inverse"], 0)
    code.end()
    return code.function
