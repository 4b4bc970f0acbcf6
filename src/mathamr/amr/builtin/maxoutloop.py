"""What follows the product of a maxout layer, in the part of Python that becomes machine code.

Bias, greatest piece, layer norm and the sum with what went in are one pass over a row instead of ten over many.
"""

from __future__ import annotations

from mathamr.core.arrays import FloatArray, IntArray
from mathamr.core.loops import MachineCode, sqrt

SMALL = 1e-8


def _finish_row(
    made: FloatArray,
    before: FloatArray,
    products: FloatArray,
    bias: FloatArray,
    gain: FloatArray,
    shift: FloatArray,
    width: int,
    pieces: int,
) -> None:
    """A row of a layer: `before` with the norm of the greatest pieces; `products` is written over."""
    for place in range(width):
        products[place] += bias[place]
    for piece in range(1, pieces):
        for place in range(width):
            products[place] = max(
                products[place], products[piece * width + place] + bias[piece * width + place]
            )
    total = 0.0
    for place in range(width):
        total += products[place]
    mean = total / width
    squares = 0.0
    for place in range(width):
        products[place] -= mean
        squares += products[place] * products[place]
    scale = 1.0 / sqrt(squares / width + SMALL)
    for place in range(width):
        made[place] = before[place] + products[place] * scale * gain[place] + shift[place]


def finish_rows(
    made: FloatArray,
    states: FloatArray,
    rows: IntArray,
    count: int,
    packed: int,
    products: FloatArray,
    bias: FloatArray,
    gain: FloatArray,
    shift: FloatArray,
    width: int,
    pieces: int,
) -> None:
    """Some rows of a layer, put where they stand, or one after another where they are to be `packed`."""
    for number in range(count):
        row = rows[number]
        put = row * width
        if packed == 1:
            put = number * width
        _finish_row(
            made[put:],
            states[row * width :],
            products[number * width * pieces :],
            bias,
            gain,
            shift,
            width,
            pieces,
        )


def gather_windows(around: FloatArray, states: FloatArray, rows: IntArray, count: int, width: int) -> None:
    """Some rows, each between the one before and the one behind it."""
    for number in range(count):
        begin = (rows[number] - 1) * width
        for place in range(3 * width):
            around[3 * width * number + place] = states[begin + place]


def first_rows(
    made: FloatArray,
    embedded: FloatArray,
    words: IntArray,
    count: int,
    none: int,
    left: FloatArray,
    middle: FloatArray,
    right: FloatArray,
    bias: FloatArray,
    gain: FloatArray,
    shift: FloatArray,
    width: int,
    pieces: int,
    scratch: FloatArray,
    zeros: FloatArray,
) -> None:
    """The first layer from the products of distinct words as a left, a middle and a right one; `none` is no word."""
    whole = width * pieces
    for row in range(count):
        word = words[row]
        for place in range(whole):
            scratch[place] = 0.0
        if word < none:
            for place in range(whole):
                scratch[place] += middle[word * whole + place]
        if row > 0 and words[row - 1] < none:
            for place in range(whole):
                scratch[place] += left[words[row - 1] * whole + place]
        if row + 1 < count and words[row + 1] < none:
            for place in range(whole):
                scratch[place] += right[words[row + 1] * whole + place]
        if word < none:
            _finish_row(
                made[row * width :], embedded[word * width :], scratch, bias, gain, shift, width, pieces
            )
        else:
            _finish_row(made[row * width :], zeros, scratch, bias, gain, shift, width, pieces)


CODE = MachineCode(_finish_row, finish_rows, gather_windows, first_rows)
