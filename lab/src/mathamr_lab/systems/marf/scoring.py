"""How MaRF compares queries and documents in training: MaxSim over padded rows, or the mean of tokens."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

LIMIT = 1 << 25
"""The number of similarities in memory at a time; of more questions they are computed again for the gradient."""


def mean_vector(vectors: Tensor) -> Tensor:
    """Return the unit mean of one formula's tokens as the only row (1, size)."""
    return functional.normalize(vectors.float().sum(0, keepdim=True), dim=-1)


def padded_maxsim(
    queries: Tensor, query_lengths: Tensor, documents: Tensor, document_lengths: Tensor
) -> Tensor:
    """Return MaxSim of every query with every document, both padded (rows, width, size): the mean over a query's tokens.

    Equation 2 of the paper has the sum; both give the same order of documents for a query.
    """
    at_a_time = max(1, LIMIT // max(1, queries.shape[1] * documents.shape[0] * documents.shape[1]))
    if at_a_time >= len(queries):
        return _maxsims(queries, query_lengths, documents, document_lengths)
    parts = zip(torch.split(queries, at_a_time), torch.split(query_lengths, at_a_time), strict=True)
    found = [checkpoint(_maxsims, *part, documents, document_lengths, use_reentrant=False) for part in parts]
    return torch.cat(found)


def _maxsims(queries: Tensor, query_lengths: Tensor, documents: Tensor, document_lengths: Tensor) -> Tensor:
    similar = torch.einsum("qis,djs->qdij", queries, documents)
    width = torch.arange(documents.shape[1], device=documents.device)
    similar = similar.masked_fill(~(width < document_lengths[:, None])[None, :, None, :], -1.0)
    places = torch.arange(queries.shape[1], device=queries.device)
    real = (places < query_lengths[:, None]).float()
    shares = real / real.sum(1, keepdim=True).clamp(min=1)
    return torch.einsum("qdi,qi->qd", similar.amax(-1).float(), shares)
