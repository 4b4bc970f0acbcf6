"""`CompiledTransformer`: all layers of the text encoder over one window, each step a call of machine code.

Rows come in eights; what is beyond the window is computed as well and thrown away. After attention some rows at a time
go through the rest of a layer, so that what they become in between stays near the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mathamr.arrays import Floats
from mathamr.layers.language.quantisedgraph import SCALE
from mathamr.machinecode import Program, is_arm, processor_features

if TYPE_CHECKING:
    from mathamr.layers.language.configuration import TransformerConfiguration

Array = npt.NDArray[Any]
EIGHT, MULTIPLE = 8, 48
"""Rows come in eights; sizes are multiples of sixteen numbers and of twelve columns."""
AT_A_TIME = 128
"""Rows that go through a layer together."""


def fits(configuration: TransformerConfiguration) -> bool:
    """Whether a transformer of this shape can be computed so on this processor."""
    features = processor_features()
    able = is_arm() and features.get("dotprod") and features.get("fullfp16")
    head = configuration.size // configuration.heads
    whole = configuration.size % MULTIPLE == 0 and configuration.inner % MULTIPLE == 0
    return bool(able and whole and head % 8 == 0 and (head <= 32 or head % 32 == 0))


@lru_cache(maxsize=8)
def program(head: int, adds: bool) -> Program:
    """The code for heads of a size, with or without something that attention adds to its scores."""
    from llvmlite import ir

    from mathamr.layers.language.compiled import attention, products, rows
    from mathamr.layers.language.compiled.code import KINDS

    module = ir.Module("transformer")
    products.add_product(module)
    rows.add_normal(module)
    rows.add_gelu(module)
    rows.add_rounding(module)
    attention.add_attention(module, head, adds=adds)
    takes = {
        "product": products.TAKES,
        "normal": rows.NORMAL_TAKES,
        "gelu": rows.ROUND_TAKES,
        "rounded": rows.ROUND_TAKES,
        "attention": attention.TAKES,
    }
    return Program(module, {name: [KINDS[kind][1] for _, kind in given] for name, given in takes.items()})


@dataclass(frozen=True, slots=True, eq=False)
class PackedMatrix:
    """Weights as the code reads them, and where they lie."""

    parts: tuple[Array, ...]
    places: tuple[int, ...]
    size: int
    columns: int

    @classmethod
    def of(cls, weights: Mapping[str, Array], name: str, first: float = 1.0) -> PackedMatrix:
        """The matrix of a name, with its scales and what is added; its first third is multiplied with `first`."""
        from mathamr.layers.language.compiled.products import packed_weights

        numbers = weights[f"{name}.weight"]
        scales, bias = (
            np.array(weights[f"{name}.{part}"], np.float32) for part in (f"weight{SCALE}", "bias")
        )
        scales[: len(scales) // 3] *= first
        bias[: len(bias) // 3] *= first
        parts = packed_weights(numbers), scales, numbers.sum(1, dtype=np.int32).astype(np.float32), bias
        return cls(parts, tuple(each.ctypes.data for each in parts), numbers.shape[1], numbers.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class NormalWeights:
    """The weights of a normalisation, and where they lie."""

    parts: tuple[Array, Array]
    places: tuple[int, int]

    @classmethod
    def of(cls, weights: Mapping[str, Array], name: str) -> NormalWeights:
        """The normalisation of a name."""
        parts = _floats(weights[f"{name}.weight"]), _floats(weights[f"{name}.bias"])
        return cls(parts, (parts[0].ctypes.data, parts[1].ctypes.data))


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """The weights of a layer."""

    attention: PackedMatrix
    attended: PackedMatrix
    attention_norm: NormalWeights
    inner: PackedMatrix
    outer: PackedMatrix
    outer_norm: NormalWeights


class CompiledTransformer:
    """Computes states from embeddings."""

    def __init__(self, configuration: TransformerConfiguration, weights: Mapping[str, Array]) -> None:
        from mathamr.layers.language.compiled.attention import query_scale

        self._shape = configuration
        self._program = program(configuration.size // configuration.heads, bool(configuration.buckets))
        scale = query_scale(configuration.size // configuration.heads)
        self._norm = NormalWeights.of(weights, "norm")
        self._layers = [
            LayerWeights(
                PackedMatrix.of(weights, f"{name}attention", scale),
                PackedMatrix.of(weights, f"{name}attended"),
                NormalWeights.of(weights, f"{name}attention_norm"),
                PackedMatrix.of(weights, f"{name}inner"),
                PackedMatrix.of(weights, f"{name}outer"),
                NormalWeights.of(weights, f"{name}outer_norm"),
            )
            for name in (f"layers.{number}." for number in range(configuration.layers))
        ]

    def __call__(self, embedded: Floats, added: Floats | None = None, wanted: int | None = None) -> Floats:
        """The states (width, size) of embeddings before their normalisation; `added`: (heads, width, width).

        Where only the first `wanted` are asked for, the last layer makes no others.
        """
        from mathamr.layers.language.compiled.attention import scratch_bytes

        size, inner, width = self._shape.size, self._shape.inner, len(embedded)
        wanted = width if wanted is None else min(wanted, width)
        rows = -(-width // EIGHT) * EIGHT
        some = min(rows, AT_A_TIME)
        states = np.zeros((rows, size), np.float32)
        states[:width] = embedded
        attended, part = np.empty((rows, size), np.float16), np.zeros((some, size), np.float16)
        projected, inside = np.empty((rows, 3 * size), np.float16), np.empty((some, inner), np.float16)
        packed, scales = np.empty(some * max(inner, size), np.int8), np.empty((some, 2), np.float32)
        scratch = np.empty(scratch_bytes(rows, size // self._shape.heads), np.uint8)
        code, epsilon = self._program, self._shape.epsilon
        gelu, rounded, attention = code["gelu"], code["rounded"], code["attention"]
        into = packed.ctypes.data, scales.ctypes.data

        def product(matrix: PackedMatrix, out: int, count: int) -> None:
            code["product"](*into, *matrix.places, out, count, matrix.size, matrix.columns)

        def normal(by: NormalWeights, first: int, count: int) -> None:
            here = states.ctypes.data + 4 * size * first
            code["normal"](here, part.ctypes.data, *by.places, epsilon, *into, count, size)

        blocks = [(first, min(some, rows - first)) for first in range(0, rows, some)]
        for first, count in blocks:
            normal(self._norm, first, count)
            product(self._layers[0].attention, projected.ctypes.data + 6 * size * first, count)
        beside = 0 if added is None else added.ctypes.data
        read = (projected.ctypes.data, beside, attended.ctypes.data, scratch.ctypes.data)
        for number, layer in enumerate(self._layers):
            attention(*read, rows, width, self._shape.heads)
            if number + 1 == len(self._layers):
                needed = -(-wanted // EIGHT) * EIGHT
                blocks = [(first, min(count, needed - first)) for first, count in blocks if first < needed]
            for first, count in blocks:
                rounded(attended.ctypes.data + 2 * size * first, *into, count, size)
                product(layer.attended, part.ctypes.data, count)
                normal(layer.attention_norm, first, count)
                product(layer.inner, inside.ctypes.data, count)
                gelu(inside.ctypes.data, *into, count, inner)
                product(layer.outer, part.ctypes.data, count)
                normal(layer.outer_norm, first, count)
                if number + 1 < len(self._layers):
                    following = self._layers[number + 1].attention
                    product(following, projected.ctypes.data + 6 * size * first, count)
        return states[:wanted]


def _floats(numbers: Array) -> Floats:
    return np.ascontiguousarray(numbers, np.float32)
