"""An encoder behind HTTP: any server that speaks the common embeddings API. It is asked only if the user names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urldefrag

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from mathamr.core.arrays import FloatArray
from mathamr.core.batches import batches
from mathamr.core.errors import MathAMRError
from mathamr.core.exchange import post_json

AT_A_TIME, SECONDS = 32, 120.0
"""The number of texts in a request, and how long it may take from the first byte to the last."""
LONGEST_TEXT = 8_000
"""Characters of a post that are sent: servers refuse what is longer than their model reads."""
MOST_NUMBERS = 1 << 14
"""The largest dimension of a vector; models have up to 12,288."""
_A_NUMBER, _THE_REST = 64, 1 << 16
"""Bytes of an answer: a number with its indentation, and all other fields."""


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class _Embedding(BaseModel):
    index: Annotated[int, Field(strict=True, ge=0, lt=AT_A_TIME)]
    embedding: Annotated[list[_Number], Field(strict=True, min_length=1, max_length=MOST_NUMBERS)]


class _Answer(BaseModel):
    data: Annotated[list[_Embedding], Field(strict=True, min_length=1, max_length=AT_A_TIME)]


class ServerEncoder:
    """One vector a text from ``ADDRESS/embeddings``; the part behind # names the model, as servers of several need."""

    def __init__(self, address: str, seconds: float = SECONDS) -> None:
        base, self._model = urldefrag(address)
        self._url = f"{base.rstrip('/').removesuffix('/v1')}/v1/embeddings"
        self._seconds = seconds
        self.size = 0
        self.size = self.encode(["x"], are_queries=True)[0].shape[1]

    def encode(self, texts: Sequence[str], *, are_queries: bool) -> list[FloatArray]:  # noqa: ARG002
        """Return one unit vector a text; servers make no difference between queries and documents."""
        shortened = (text[:LONGEST_TEXT] for text in texts)
        return [row for some in batches(shortened, AT_A_TIME) for row in self._ask(some)]

    def _ask(self, texts: list[str]) -> list[FloatArray]:
        longest = len(texts) * (self.size or MOST_NUMBERS) * _A_NUMBER + _THE_REST
        question = {"input": texts, "model": self._model or "default"}
        content = post_json(self._url, question, longest, self._seconds, "server of embeddings")
        try:
            rows = _rows(content, len(texts))
            if self.size not in (0, rows.shape[1]):
                raise ValueError(f"it has vectors of {rows.shape[1]} numbers, before they had {self.size}")
        except ValueError as error:
            raise MathAMRError(
                f"{self._url} did not answer as a server of embeddings does: {error}"
            ) from error
        return list(rows[:, None])


def _rows(content: bytes, count: int) -> FloatArray:
    """Return the unit vectors of an answer in the order of the texts."""
    try:
        data = _Answer.model_validate_json(content).data
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error
    if sorted(row.index for row in data) != list(range(count)):
        raise ValueError(f"it has {len(data)} vectors for {count} texts, or two of one text")
    if len({len(row.embedding) for row in data}) > 1:
        raise ValueError("its vectors are of several lengths")
    rows = np.array([row.embedding for row in sorted(data, key=lambda row: row.index)], np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise ValueError("it has a vector of zeros")
    rows = rows / largest  # so that squares neither overflow nor vanish
    units: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units
