"""Fits the models in torch; `network` reads the resulting arrays."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.core.arrays import FloatArray


class FeatureVocabulary:
    """Numbers for the features that occur at least `least` times."""

    def __init__(self, rows: Iterable[Sequence[str]], least: int) -> None:
        counts: Counter[str] = Counter()
        for row in rows:
            counts.update(row)
        self.words = sorted(word for word, count in counts.items() if count >= least)
        self.numbers = {word: number for number, word in enumerate(self.words)}

    def encode(self, rows: Iterable[Sequence[str]]) -> Ragged:
        """The rows as numbers."""
        get = self.numbers.get
        return Ragged([[n for n in map(get, row) if n is not None] for row in rows])


class Ragged:
    """Rows of numbers of different lengths, flat."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        self.starts = np.concatenate(([0], np.cumsum(sizes)))
        self.flat = np.fromiter((n for row in rows for n in row), dtype=np.int64, count=int(sizes.sum()))

    def pick(self, rows: np.ndarray, drop: float, generator: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Returns numbers and offsets of some rows, each number left out with probability `drop`."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        index = np.repeat(self.starts[rows] - offsets, sizes) + np.arange(int(sizes.sum()))
        flat = self.flat[index]
        if drop > 0:
            keep = generator.random(len(flat)) >= drop
            kept = np.add.reduceat(keep, offsets) if len(flat) else np.zeros(len(rows), dtype=np.int64)
            kept = np.where(sizes > 0, kept, 0)
            offsets = np.concatenate(([0], np.cumsum(kept)[:-1]))
            flat = flat[keep]
        return torch.from_numpy(flat), torch.from_numpy(offsets)


def bag(vocabulary: FeatureVocabulary, width: int) -> nn.EmbeddingBag:
    """Creates feature vectors to be summed, small at the start."""
    made = nn.EmbeddingBag(max(1, len(vocabulary.words)), width, mode="sum", sparse=True)
    nn.init.normal_(made.weight, std=0.05)
    return made


def to_array(parameter: Tensor) -> FloatArray:
    """Returns a parameter as the array that is shipped."""
    return parameter.detach().cpu().numpy().astype(np.float32)


def optimise(
    name: str,
    modules: nn.ModuleList,
    count: int,
    loss_of: Callable[[np.ndarray, float], Tensor],
    *,
    epochs: int,
    batch: int,
    rate: float,
    decay: float,
    generator: np.random.Generator,
    after: Callable[[int], str] | None = None,
) -> None:
    """Runs Adam over shuffled batches with a linearly falling rate and prints a line per epoch.

    Feature vectors get sparse updates: a batch touches few of them. The weights of the second half of the epochs
    are averaged at the end.
    """
    sparse = [p for module in modules if isinstance(module, nn.EmbeddingBag) for p in module.parameters()]
    others = [p for module in modules if not isinstance(module, nn.EmbeddingBag) for p in module.parameters()]
    optimisers = [
        torch.optim.SparseAdam(sparse, lr=rate),
        torch.optim.AdamW(others, lr=rate, weight_decay=decay),
    ]
    steps = epochs * ((count + batch - 1) // batch)
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.02, 1 - step / steps))
        for optimiser in optimisers
    ]
    every = [parameter for module in modules for parameter in module.parameters()]
    sums = [torch.zeros_like(parameter) for parameter in every]
    first = epochs // 2
    for epoch in range(epochs):
        started, whole = time.perf_counter(), 0.0
        order = generator.permutation(count)
        for begin in range(0, count, batch):
            for optimiser in optimisers:
                optimiser.zero_grad()
            loss = loss_of(order[begin : begin + batch], epoch / epochs)
            loss.backward()  # type: ignore[no-untyped-call]
            for optimiser, schedule in zip(optimisers, schedules, strict=True):
                optimiser.step()
                schedule.step()
            whole += float(loss.detach()) * len(order[begin : begin + batch])
        if epoch >= first:
            for total, parameter in zip(sums, every, strict=True):
                total += parameter.detach()
        shown = after(epoch) if after else ""
        spent = time.perf_counter() - started
        print(f"{name} epoch {epoch + 1}: loss {whole / count:.4f} {shown} ({spent:.1f} s)", flush=True)
    with torch.no_grad():
        for total, parameter in zip(sums, every, strict=True):
            parameter.copy_(total / (epochs - first))
    print(f"{name} averaged: {after(epochs) if after else ''}", flush=True)
