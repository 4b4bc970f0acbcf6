from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from mathamr.core.errors import MathAMRError
from mathamr.systems.encoders.server import ServerEncoder
from tests.systems.encoders.examples import SIZE, EmbeddingsServer, embed, embeddings_server


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with embeddings_server() as found:
        yield found


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(server: EmbeddingsServer) -> None:
    encoder = ServerEncoder(f"{server.address}/v1#small")
    texts = [f"number {number} of many" for number in range(70)]
    rows = encoder.encode(texts, are_queries=False)
    wanted = np.array([embed(text) for text in texts])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.allclose(np.concatenate(rows), wanted, atol=1e-6)
    assert encoder.size == SIZE
    assert {row["path"] for row in server.asked} == {"/v1/embeddings"}
    assert {row["model"] for row in server.asked} == {"small"}
    assert max(len(row["input"]) for row in server.asked) == 32


@pytest.mark.parametrize(
    "answer",
    [
        b"hello",
        b"{}",
        b'{"data": 5}',
        json.dumps({"data": [{"index": 0, "embedding": [0.0] * SIZE}]}).encode(),
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
        json.dumps({"data": [{"index": 0, "embedding": [1.0, 2.0]}]}).encode(),
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_none_gives_a_clear_error(server: EmbeddingsServer, answer: bytes) -> None:
    encoder = ServerEncoder(server.address)
    server.answer = answer
    with pytest.raises(MathAMRError, match="did not answer as a server of embeddings does"):
        encoder.encode(["text"], are_queries=True)


def test_a_server_that_refuses_or_is_gone_is_named(server: EmbeddingsServer) -> None:
    encoder = ServerEncoder(server.address)
    server.status = 503
    with pytest.raises(MathAMRError, match="503"):
        encoder.encode(["text"], are_queries=True)
    with embeddings_server() as other:
        address = other.address
    with pytest.raises(MathAMRError, match="cannot ask the server"):
        ServerEncoder(address)
