"""The transformer of the text encoder in eight bits, as a graph of operations for ONNX Runtime.

Products with weights, nine tenths of the work, multiply eight-bit numbers: the weights as stored in the model
folder, and the states rounded before every product. A few pieces of a text have states many times as large as
the others'; each piece is therefore scaled to its own largest number before the feed-forward network, because the steps
would otherwise be too coarse for all others. Attention, normalisation and sums stay in 32 bits. Rows have no padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.core.onnxfile import MICROSOFT, OnnxGraph, multiplies_signed

if TYPE_CHECKING:
    from mathamr.text.configuration import TransformerConfiguration

STATES, ADDED = "states", "added"
"""The inputs: embeddings before their normalisation, and what attention adds by distance, if the model has it."""
SCALE = ".scale"
LEAST_GELU = 0.17
"""The minimum of GELU: this and a row's largest number bound the row."""


class OnnxTransformer:
    """Computes states from embeddings, one window at a time, in the calling thread."""

    def __init__(
        self,
        configuration: TransformerConfiguration,
        weights: Mapping[str, AnyArray],
        mix: Mapping[int, float] | None = None,
    ) -> None:
        """Keep the weights (eight bits with scales); `mix` gives the shares of layers that a second result sums."""
        self._shape, self._weights, self._mix = configuration, weights, mix

    def __call__(self, embedded: FloatArray, added: FloatArray | None = None) -> FloatArray:
        """Return the states (width, size) of embeddings before their normalisation; `added` is (heads, width, width)."""
        return self.run(embedded, added)[0]

    def run(self, embedded: FloatArray, added: FloatArray | None = None) -> list[FloatArray]:
        """Return the states and, if layers are mixed, their mixed states."""
        inputs = {STATES: embedded[None]}
        if added is not None:
            inputs[ADDED] = added[None]
        return [states[0] for states in self._session.run(None, inputs)]

    @cached_property
    def _session(self) -> Any:
        """The session, created when the first text is encoded: the runtime lays the weights out for this processor."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Processes run side by side with one thread each: threads of one process would wait for each other.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Everything that can be fused is fused already; a higher level would make single steps slower.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        model = TransformerGraph(self._shape, self._weights).model(self._mix)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class TransformerGraph:
    """The graph from embeddings (1, width, size) to states, built layer by layer."""

    def __init__(self, configuration: TransformerConfiguration, weights: Mapping[str, AnyArray]) -> None:
        self.shape, self.weights, self.graph = configuration, weights, OnnxGraph()

    def model(self, mix: Mapping[int, float] | None = None) -> bytes:
        """Return the bytes of a model of all layers; `mix` adds the sum of some layers' states times their shares."""
        size = self.shape.size
        x = self.graph.input(STATES, (1, "width", size))
        if self.shape.buckets:
            self.graph.input(ADDED, (1, self.shape.heads, "width", "width"))
        x = self._normal(x, "norm")
        every = [x]
        for number in range(self.shape.layers):
            x = self._layer(x, f"layers.{number}.")
            every.append(x)
        results = {x: (1, "width", size)}
        if mix:
            shares = [
                self.graph.constant(f"mix.{layer}", np.array(share, np.float32))
                for layer, share in mix.items()
            ]
            parts = [
                self.graph.add("Mul", [every[layer], share]) for layer, share in zip(mix, shares, strict=True)
            ]
            results[self.graph.add("Sum", parts)] = (1, "width", size)
        return self.graph.model(results)

    def _layer(self, x: str, name: str) -> str:
        add = self.graph.add
        projected = self._product(x, f"{name}attention", bias=True)
        thirds = np.full(3, self.shape.size, np.int64)
        parts = self.graph.split("Split", [projected, self.graph.constant("thirds", thirds)], 3, axis=-1)
        more = ["", "", ADDED] if self.shape.buckets else []
        attended = add("MultiHeadAttention", [*parts, *more], domain=MICROSOFT, num_heads=self.shape.heads)
        return self._attended(attended, x, name)

    def _attended(self, attended: str, x: str, name: str) -> str:
        """Add the part of a layer after attention."""
        add = self.graph.add
        attended = self._product(attended, f"{name}attended", bias=True)
        x = self._normal(add("Add", [attended, x]), f"{name}attention_norm")
        largest = add("ReduceMax", [add("Abs", [x]), self._last_axis()], keepdims=1)
        inner = self._scaled_product(x, self._at_least(largest, 1e-6), f"{name}inner")
        inner = add("FastGelu", [inner, self._bias(f"{name}inner")], domain=MICROSOFT)
        largest = add("ReduceMax", [inner, self._last_axis()], keepdims=1)
        outer = self._scaled_product(inner, self._at_least(largest, LEAST_GELU), f"{name}outer")
        outer = add("Add", [outer, self._bias(f"{name}outer")])
        return self._normal(add("Add", [outer, x]), f"{name}outer_norm")

    def _scaled_product(self, x: str, largest: str, name: str) -> str:
        """Multiply with each row rounded relative to its own largest number."""
        rows = self.graph.add("Mul", [x, self.graph.add("Reciprocal", [largest])])
        return self.graph.add("Mul", [self._product(rows, name, bias=False), largest])

    def _product(self, x: str, name: str, *, bias: bool) -> str:
        numbers, scale = self.weights[f"{name}.weight"].T, self.weights[f"{name}.weight{SCALE}"]
        zero = ""
        if not multiplies_signed():
            numbers = (numbers.astype(np.int16) + 128).astype(np.uint8)
            zero = self.graph.constant(f"{name}.zero", np.full(len(scale), 128, np.uint8))
        inputs = [
            x,
            self.graph.constant(f"{name}.weight", numbers),
            self.graph.constant(f"{name}.scale", scale.astype(np.float32)),
            zero,
            *([self._bias(name)] if bias else []),
        ]
        while not inputs[-1]:
            inputs.pop()
        return self.graph.add("DynamicQuantizeMatMul", inputs, domain=MICROSOFT)

    def _normal(self, x: str, name: str) -> str:
        """Add layer normalisation as single steps: the runtime's own takes twice as long."""
        add, constant = self.graph.add, self.graph.constant
        centred = add("Sub", [x, add("ReduceMean", [x, self._last_axis()], keepdims=1)])
        squares = add("ReduceSumSquare", [centred, self._last_axis()], keepdims=1)
        share = constant("share", np.array(1 / self.shape.size, np.float32))
        epsilon = constant("epsilon", np.array(self.shape.epsilon, np.float32))
        spread = add("Sqrt", [add("Add", [add("Mul", [squares, share]), epsilon])])
        unit = add("Mul", [centred, add("Reciprocal", [spread])])
        weight = constant(f"{name}.weight", self.weights[f"{name}.weight"].astype(np.float32))
        return add("Add", [add("Mul", [unit, weight]), self._bias(name)])

    def _bias(self, name: str) -> str:
        return self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"].astype(np.float32))

    def _at_least(self, x: str, least: float) -> str:
        return self.graph.add("Max", [x, self.graph.constant(f"least {least}", np.array(least, np.float32))])

    def _last_axis(self) -> str:
        return self.graph.constant("last", np.array([-1], np.int64))
