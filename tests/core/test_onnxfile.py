from __future__ import annotations

import numpy as np
import pytest

from mathamr.core.onnxfile import MICROSOFT, OnnxGraph

onnxruntime = pytest.importorskip("onnxruntime")


def test_the_runtime_computes_what_the_graph_says() -> None:
    graph = OnnxGraph()
    x = graph.input("x", ("rows", 300))
    weights = np.arange(300, dtype=np.float32) / 7
    scaled = graph.add("Mul", [x, graph.constant("weights", weights)])
    halves = graph.split("Split", [scaled, graph.constant("halves", np.array([100, 200]))], 2, axis=-1)
    largest = graph.add("ReduceMax", [halves[1], graph.constant("last", np.array([-1]))], keepdims=1)
    result = graph.add("QuickGelu", [largest], domain=MICROSOFT, alpha=0.5)
    model = graph.model({result: ("rows", 1)})
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given = np.random.default_rng(0).standard_normal((4, 300)).astype(np.float32)
    found = session.run(None, {"x": given})[0]
    expected = (given * weights)[:, 100:].max(1, keepdims=True)
    np.testing.assert_allclose(found, expected / (1 + np.exp(-0.5 * expected)), rtol=1e-5)


def test_a_constant_is_kept_once() -> None:
    graph = OnnxGraph()
    x = graph.input("x", (2,))
    for _ in range(2):
        x = graph.add("Add", [x, graph.constant("one", np.ones(2, np.float32))])
    session = onnxruntime.InferenceSession(graph.model({x: (2,)}), providers=["CPUExecutionProvider"])
    assert session.run(None, {"x": np.zeros(2, np.float32)})[0].tolist() == [2, 2]
