"""`OnnxTransformer`: the layers of the text encoder over one window, in eight bits by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mathamr.core.arrays import AnyArray, FloatArray
from mathamr.text.quantisedgraph import ADDED, STATES, transformer_model

if TYPE_CHECKING:
    from mathamr.text.configuration import TransformerConfiguration


class OnnxTransformer:
    """Computes states from embeddings."""

    def __init__(self, configuration: TransformerConfiguration, weights: Mapping[str, AnyArray]) -> None:
        self._shape, self._weights = configuration, weights

    def __call__(self, embedded: FloatArray, added: FloatArray | None = None) -> FloatArray:
        """The states (width, size) of embeddings before their normalisation; `added`: (heads, width, width)."""
        given = {STATES: embedded[None]}
        if added is not None:
            given[ADDED] = added[None]
        states: FloatArray = self._session.run(None, given)[0][0]
        return states

    @cached_property
    def _session(self) -> Any:
        """Made when something is read: the runtime lays the weights out anew for this processor."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Processes stand side by side, one thread each: threads of one process would wait for each other.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # All that can be joined is joined already; beyond this level single steps would become slower ones.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        model = transformer_model(self._shape, self._weights)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
