"""MaRF's inference: token vectors of posts, fused with each of their formulas, in batches, and reduced to what is stored."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from mathamr.systems.marf.network import MarfNetwork
from mathamr.systems.marf.postinput import PostInput, padded
from mathamr.text.encoder import precision

BUDGET = 8_192
"""The number of word pieces in the context encoder at a time, including padding."""


def context_vectors(network: MarfNetwork, posts: Sequence[PostInput], device: torch.device) -> list[Tensor]:
    """Return the token vectors of each post's text (tokens, size)."""
    found: list[Tensor | None] = [None] * len(posts)
    for places in _alike([len(post.numbers) for post in posts], _budget(device)):
        numbers, lengths = padded([posts[place].numbers for place in places], 0)
        with torch.inference_mode(), precision(device):
            vectors = network.context(numbers.to(device), lengths.to(device))
        for place, row, length in zip(places, vectors, lengths.tolist(), strict=True):
            found[place] = row[:length]
    return [each for each in found if each is not None]


def formula_vectors(
    network: MarfNetwork, posts: Sequence[PostInput], device: torch.device
) -> list[list[Tensor]]:
    """Return the token vectors of each post's formulas (tokens, size), the longest formula first."""
    flat = [numbers for post in posts for _, numbers in post.formulas]
    found: list[Tensor] = [torch.zeros(0)] * len(flat)
    for places in _alike([len(numbers) for numbers in flat], _budget(device)):
        numbers, lengths = padded([flat[place] for place in places], 0)
        with torch.inference_mode(), precision(device):
            vectors = network.formula(numbers.to(device), lengths.to(device))
        for place, row, length in zip(places, vectors, lengths.tolist(), strict=True):
            found[place] = row[:length]
    rows = iter(found)
    return [[next(rows) for _ in post.formulas] for post in posts]


def fused_vectors(
    network: MarfNetwork,
    posts: Sequence[PostInput],
    device: torch.device,
    most: int,
    contexts: Sequence[Tensor] | None = None,
) -> list[list[Tensor]]:
    """Fuse each post's text with each of its formulas, up to a maximum; a post without formulas has only its text.

    Algorithm 1 of the paper, lines 9 and 10, for many posts at a time. `contexts` are the token vectors of the texts, if
    they are known.
    """
    contexts = context_vectors(network, posts, device) if contexts is None else contexts
    formulas = formula_vectors(network, posts, device)
    jobs = [
        (place, number) for place, own in enumerate(formulas) for number in range(min(most, len(own)) or 1)
    ]
    found: list[list[Tensor]] = [[] for _ in posts]
    empty = contexts[0].new_zeros(1, contexts[0].shape[1]) if contexts else torch.zeros(1, 1)
    results: dict[tuple[int, int], Tensor] = {}
    widths = [len(contexts[place]) for place, _ in jobs]
    for chosen in _alike(widths, 4 * _budget(device)):
        batch = [jobs[job] for job in chosen]
        texts, lengths = _stacked([contexts[place] for place, _ in batch])
        given = [formulas[place][number] if formulas[place] else empty for place, number in batch]
        tokens, _ = _stacked(given)
        counts = torch.tensor(
            [len(formulas[place][number]) if formulas[place] else 0 for place, number in batch], device=device
        )
        with torch.inference_mode(), precision(device):
            rows = network.fused(texts, tokens, counts)
        results |= {job: row[:length] for job, row, length in zip(batch, rows, lengths, strict=True)}
    for place, number in jobs:
        found[place].append(results[place, number])
    return found


def stored(vectors: Tensor, components: Tensor, rows: int) -> Tensor:
    """Reduce a representation to what an index stores: neighbouring tokens pooled to at most `rows` rows, fewer numbers each."""
    return functional.normalize(neighbours_pooled(vectors, rows).float() @ components, dim=-1)


def neighbours_pooled(vectors: Tensor, rows: int) -> Tensor:
    """Pool neighbouring rows by their means to at most this many rows; the runs are as equal as possible.

    >>> neighbours_pooled(torch.tensor([[1.0], [3.0], [5.0]]), 2).tolist()
    [[2.0], [5.0]]
    """
    count = len(vectors)
    if count <= rows:
        return vectors
    owner = pooled_into(count, rows).to(vectors.device)
    sums = vectors.new_zeros(rows, vectors.shape[1]).index_add_(0, owner, vectors)
    return sums / torch.bincount(owner, minlength=rows)[:, None]


def pooled_into(count: int, rows: int) -> Tensor:
    """Return, for each of `count` tokens, the row that it is pooled into.

    >>> pooled_into(5, 2).tolist(), pooled_into(2, 8).tolist()
    ([0, 0, 0, 1, 1], [0, 1])
    """
    return torch.arange(count) if count <= rows else torch.arange(count) * rows // count


def _budget(device: torch.device) -> int:
    return BUDGET * (32 if device.type == "cuda" else 1)


def _alike(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group places of similar length, as many as fit the budget."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    groups: list[list[int]] = []
    for place in order:
        widest = max(1, lengths[groups[-1][0]]) if groups else 1
        if not groups or (len(groups[-1]) + 1) * widest > budget:
            groups.append([])
        groups[-1].append(place)
    return groups


def _stacked(rows: Sequence[Tensor]) -> tuple[Tensor, list[int]]:
    lengths = [len(row) for row in rows]
    return torch.nn.utils.rnn.pad_sequence([row.float() for row in rows], batch_first=True), lengths
