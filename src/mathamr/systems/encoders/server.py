"""An encoder behind HTTP: any server that speaks the common embeddings API. It is asked only if the user names it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.error import HTTPError, URLError
from urllib.parse import urldefrag
from urllib.request import ProxyHandler, Request, build_opener

import numpy as np

from mathamr.core.arrays import FloatArray
from mathamr.core.errors import MathAMRError
from mathamr.systems.encoders.source import check_address

AT_A_TIME = 32
"""The number of texts in a request."""
SECONDS = 120
"""How long a server may take for one request."""
LARGEST_ANSWER = 64 << 20
LONGEST_TEXT = 8_000
"""Characters of a post that are sent: servers refuse what is longer than their model reads."""


class ServerEncoder:
    """One vector a text from ``ADDRESS/embeddings``; the part behind # names the model, as servers of several need."""

    def __init__(self, address: str) -> None:
        check_address(address)
        base, self._model = urldefrag(address)
        base = base.rstrip("/")
        self._url = f"{base if base.endswith('/v1') else f'{base}/v1'}/embeddings"
        self._open = build_opener(ProxyHandler({})).open  # the named address, and no proxy of the environment
        self.size = 0
        self.size = self.encode(["x"], are_queries=True)[0].shape[1]

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:
        """Return one unit vector a text; servers make no difference between queries and documents."""
        del are_queries
        found: list[FloatArray] = []
        for first in range(0, len(texts), AT_A_TIME):
            found += self._ask([text[:LONGEST_TEXT] for text in texts[first : first + AT_A_TIME]])
        return found

    def _ask(self, texts: list[str]) -> list[FloatArray]:
        body = json.dumps({"input": texts, "model": self._model or "default"}).encode()
        request = Request(self._url, body, {"Content-Type": "application/json"})
        try:
            with self._open(request, timeout=SECONDS) as answer:
                content = answer.read(LARGEST_ANSWER + 1)
        except HTTPError as error:
            raise MathAMRError(f"{self._url} answered {error.code} {error.reason}") from error
        except (URLError, OSError) as error:
            raise MathAMRError(f"cannot reach the server of embeddings {self._url}: {error}") from error
        return self._rows(content, len(texts))

    def _rows(self, content: bytes, count: int) -> list[FloatArray]:
        """Return the unit vectors of an answer, in the order of the texts."""
        try:
            if len(content) > LARGEST_ANSWER:
                raise ValueError(f"it has more than {LARGEST_ANSWER:,} bytes")
            data = sorted(json.loads(content)["data"], key=lambda row: int(row["index"]))
            rows = np.array([row["embedding"] for row in data], np.float32)
            if rows.ndim != 2 or len(rows) != count or (self.size and rows.shape[1] != self.size):
                raise ValueError(f"it has vectors of shape {rows.shape} for {count} texts")
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            if not np.isfinite(rows).all() or not lengths.all():
                raise ValueError("it has vectors that are not finite or zero")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise MathAMRError(
                f"{self._url} did not answer as a server of embeddings does: {error}"
            ) from error
        return list((rows / lengths)[:, None])
