"""An encoder behind HTTP: any server that speaks the common embeddings API. It is asked only if the user names it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urldefrag
from urllib.request import ProxyHandler, Request, build_opener

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError

AT_A_TIME, SECONDS, LARGEST_ANSWER = 32, 120, 64 << 20
"""The number of texts in a request, how long it may take, and the bytes of an answer."""
LONGEST_TEXT = 8_000
"""Characters of a post that are sent: servers refuse what is longer than their model reads."""


class ServerEncoder:
    """One vector a text from ``ADDRESS/embeddings``; the part behind # names the model, as servers of several need."""

    def __init__(self, address: str) -> None:
        base, self._model = urldefrag(address)
        self._url = f"{base.rstrip('/').removesuffix('/v1')}/v1/embeddings"
        self._open = build_opener(ProxyHandler({})).open  # the named address, and no proxy of the environment
        self.size = 0
        self.size = self.encode(["x"], are_queries=True)[0].shape[1]

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:  # noqa: ARG002
        """Return one unit vector a text; servers make no difference between queries and documents."""
        shortened = (text[:LONGEST_TEXT] for text in texts)
        return [row for some in batches(shortened, AT_A_TIME) for row in self._ask(some)]

    def _ask(self, texts: list[str]) -> list[FloatArray]:
        body = json.dumps({"input": texts, "model": self._model or "default"}).encode()
        request = Request(self._url, body, {"Content-Type": "application/json"})
        try:
            with self._open(request, timeout=SECONDS) as answer:
                content = answer.read(LARGEST_ANSWER + 1)
        except OSError as error:
            raise MathAMRError(f"cannot ask the server of embeddings {self._url}: {error}") from error
        try:
            data = sorted(json.loads(content)["data"], key=lambda row: int(row["index"]))
            rows = np.array([row["embedding"] for row in data], np.float32)
            if rows.ndim != 2 or len(rows) != len(texts) or self.size not in (0, rows.shape[1]):
                raise ValueError(f"it has vectors of shape {rows.shape} for {len(texts)} texts")
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            if not np.isfinite(rows).all() or not lengths.all():
                raise ValueError("it has vectors that are not finite or zero")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise MathAMRError(
                f"{self._url} did not answer as a server of embeddings does: {error}"
            ) from error
        return list((rows / lengths)[:, None])
