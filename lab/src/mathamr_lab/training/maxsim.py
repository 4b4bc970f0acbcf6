"""MaxSim between many questions and documents at once, with gradients, in bounded memory (thesis, 3.4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mathamr.core.arrays import AnyArray

LIMIT = 1 << 25
"""The number of similarities in memory at a time."""
LOWEST = -1.0
"""The score of a document without vectors: the lowest cosine."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorRows:
    """Which rows of a table of vectors belong to which post; rows are ordered by post.

    `padded` lists the rows of every post, padded with row 0 where `real` is false.
    """

    counts: tuple[int, ...]
    shares: Tensor
    starts: Tensor
    padded: Tensor
    real: Tensor

    @classmethod
    def of(cls, counts: Sequence[int] | AnyArray, device: torch.device | str = "cpu") -> VectorRows:
        """Return the rows of posts with these numbers of vectors."""
        numbers = np.asarray(counts, np.int64)
        width = max(1, int(numbers.max())) if len(numbers) else 1
        begins = np.cumsum(numbers) - numbers
        real = np.arange(width) < numbers[:, None]
        padded = np.where(real, begins[:, None] + np.arange(width), 0)
        shares = np.repeat((1 / np.maximum(numbers, 1)).astype(np.float32), numbers)
        starts = np.append(0, np.cumsum(numbers))
        arrays = (shares, starts, padded, real)
        return cls(tuple(numbers.tolist()), *(there(array, device) for array in arrays))


def there(array: AnyArray, device: torch.device | str) -> Tensor:
    """Copy an array to a device without waiting."""
    tensor = torch.from_numpy(array)
    if torch.device(device).type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def maxsim(
    queries: Tensor,
    query_rows: VectorRows,
    documents: Tensor,
    document_rows: VectorRows,
    limit: int = LIMIT,
) -> Tensor:
    """Return the mean over a question's vectors of their best match in each document (equations 3.5 and 3.7).

    Padding never counts. A gradient flows only into the best match, and no similarities are stored for it. About `limit`
    similarities are computed at a time.
    """
    count, width = document_rows.padded.shape
    rows = max(1, limit // max(1, count * width, len(documents)))
    best = [_best(part, documents, document_rows) for part in torch.split(queries, rows)]
    matches = torch.cat(best) if best else queries.new_zeros(0, count)
    shared = matches * query_rows.shares[:, None]
    return torch.segment_reduce(shared, "sum", offsets=query_rows.starts, initial=0)


def _best(queries: Tensor, documents: Tensor, rows: VectorRows) -> Tensor:
    if not len(documents):
        return queries.new_full((len(queries), len(rows.counts)), LOWEST)
    similar = queries @ documents.T
    with torch.no_grad():
        laid_out = similar.index_select(1, rows.padded.flatten()).view(len(queries), *rows.padded.shape)
        places = laid_out.masked_fill_(~rows.real, -torch.inf).argmax(-1)
        columns = rows.padded.expand(len(queries), -1, -1).gather(2, places[..., None]).squeeze(2)
    return similar.gather(1, columns).masked_fill(~rows.real[:, 0], LOWEST)
