"""Estimates the memory and the time of a training's step from a few examples, before the first step."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from mathamr.core.errors import MathAMRError
from mathamr.core.progress import duration

AGAIN = 4 / 3
"""A step in parts takes so much longer: what leads to its vectors is computed twice, forwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEstimate:
    """What a step needs beside what is in memory before it, in bytes, and its seconds.

    `divided` is what a step in parts has for one part at a time, `shared` all else. `fewer` says which setting makes it smaller.
    """

    shared: float
    divided: float
    seconds: float
    fewer: str
    most_parts: int = 1
    parts: int = 1

    @property
    def memory(self) -> float:
        """The bytes of a step in its parts."""
        return self.shared + self.divided / self.parts

    def within(self, room: float) -> StepEstimate:
        """Return the estimate with as many parts as it needs to fit into `room`; refuse a step that does not fit in any."""
        if self.memory <= room:
            return self
        parts = math.ceil(self.divided / (room - self.shared)) if room > self.shared else math.inf
        if parts > self.most_parts:
            can = (
                f" and {in_bytes(self.shared + self.divided / self.most_parts)} in parts"
                if self.divided
                else ""
            )
            raise MathAMRError(
                f"a step needs about {in_bytes(self.memory)}{can} beside what is in memory, where {in_bytes(max(0, room))} are left;"
                f" make it smaller with {self.fewer}, or allow more with --memory"
            )
        return replace(self, parts=int(parts), seconds=self.seconds * AGAIN)

    def line(self, examples: str, steps: int, left: int) -> str:
        """Return the estimate in words, for a step of some examples, of which so many are left."""
        parts = f", in {self.parts} parts that fit into memory" if self.parts > 1 else ""
        return (
            f"a step of {examples} takes about {in_bytes(self.memory)} and {duration(self.seconds)}{parts};"
            f" {left:,} of {steps:,} steps are left, about {duration(left * self.seconds)}"
        )


@runtime_checkable
class Estimated(Protocol):
    """A trainer that can estimate its step, and compute it in `parts` with the same loss and gradients."""

    parts: int

    def estimate(self, epoch: int) -> StepEstimate:
        """Compute a few examples of an epoch's first step; nothing is learned from them."""
        ...


def in_bytes(count: float) -> str:
    """Return a number of bytes in words.

    >>> in_bytes(16_700_000_000), in_bytes(3_400_000)
    ('16.7 GB', '3 MB')
    """
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"


@dataclass(frozen=True, slots=True)
class Measured:
    """The greatest memory of a computation in bytes, and its seconds."""

    memory: float
    seconds: float


def measured(compute: Callable[[], object], device: torch.device) -> Measured:
    """Compute something and return what it took."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        began = time.perf_counter()
        compute()
        torch.cuda.synchronize(device)
        peak = torch.cuda.max_memory_allocated(device) - before
        return Measured(peak, time.perf_counter() - began)
    with LiveBytes() as live:
        compute()
    began = time.perf_counter()
    compute()  # counting bytes takes longer than a small step
    return Measured(live.peak, time.perf_counter() - began)


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of tensors that are made inside of it and live at the same time; on a processor nothing else does."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = {_storage(each) for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)}
        made = func(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, Tensor) and (key := _storage(each)) not in given and key not in self._known:
                storage = each.untyped_storage()
                self._known.add(key)
                self.now += storage.nbytes()
                self.peak = max(self.peak, self.now)
                weakref.finalize(storage, self._freed, key, storage.nbytes())
        return made

    def _freed(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.now -= size


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def fitted(tried: Mapping[int, Measured], examples: int) -> tuple[float, float, float, float]:
    """Return the memory of a step of `examples` that does not grow, that grows with them and with their square, and its seconds.

    >>> few = {n: Measured(100 + 10 * n + n * n, 1 + n) for n in (1, 2, 4)}
    >>> fitted(few, 10)
    (100.0, 100.0, 100.0, 11.0)
    """
    counts = np.array(sorted(tried), np.float64)
    memory = np.array([tried[int(n)].memory for n in counts])
    square, line, level = (
        np.polyfit(counts, memory, len(counts) - 1)
        if len(counts) == 3
        else (
            0.0,
            *(np.polyfit(counts, memory, 1) if len(counts) == 2 else (0.0, memory[0])),
        )
    )
    first, last = counts[0], counts[-1]
    times = np.array([tried[int(n)].seconds for n in counts])
    seconds = times[-1] + max(0.0, times[-1] - times[0]) / max(1.0, last - first) * (examples - last)
    if len(counts) == 3 and examples <= 2 * last:  # farther away a square would be chance
        seconds = max(seconds, np.polyval(np.polyfit(counts, times, 2), examples))

    def kept(found: float) -> float:
        return round(max(0.0, float(found)), 3)

    return kept(level), kept(line * examples), kept(square * examples**2), round(float(seconds), 6)
