"""One process or many (torchrun): divides posts, gathers vectors with gradients, and sums gradients."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from mathamr.core.arrays import AnyArray, IntArray
from mathamr.core.device import chosen_device
from mathamr.core.errors import MathAMRError


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """How the posts of a step are divided: the places of this process's `own`, how many vectors each process will have
    (`gathered`), and the place of each vector of the step among the gathered ones (`order`)."""

    own: IntArray
    gathered: tuple[int, ...]
    order: Tensor | None


@dataclass(frozen=True, slots=True)
class Processes:
    """This process's rank among those that train together."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """True if this process writes and reports."""
        return self.rank == 0

    def share(self, batch_size: int) -> int:
        """Return the pairs of a full batch that each process encodes."""
        if batch_size % self.count:
            raise MathAMRError(
                f"a batch of {batch_size} pairs cannot be shared evenly by {self.count} processes; choose a multiple"
            )
        return batch_size // self.count

    def divided(
        self,
        owners: AnyArray,
        counts: AnyArray,
        batch_size: int,
        device: torch.device,
    ) -> Division:
        """Divide the posts of a step, with their numbers of vectors, by the place of the pair that each belongs to."""
        home = owners // self.share(batch_size)
        gathered = np.bincount(home, counts, self.count).astype(np.int64)
        order = None
        if self.count > 1:
            by_home = np.argsort(home, kind="stable")
            begins = np.zeros(len(counts), np.int64)
            begins[by_home] = np.cumsum(counts[by_home]) - counts[by_home]
            within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            order = torch.from_numpy(np.repeat(begins, counts) + within).to(device)
        return Division(np.flatnonzero(home == self.rank), tuple(gathered.tolist()), order)

    def gather(self, vectors: Tensor, counts: Sequence[int]) -> Tensor:
        """Return the vectors of all processes, end to end; gradients flow into this process's own.

        `counts` says how many each process has: all know it, so that it need not be communicated. Every process then
        computes the complete loss, and the sum of their gradients is the gradient of one process with the complete batch.
        """
        if self.count == 1:
            return vectors
        width = max(counts)
        padded = vectors.new_zeros(width, vectors.shape[1])
        padded[: len(vectors)] = vectors.detach()
        received = [torch.empty_like(padded) for _ in range(self.count)]
        dist.all_gather(received, padded)
        parts = [part[:count] for part, count in zip(received, counts, strict=True)]
        parts[self.rank] = vectors
        return torch.cat(parts)

    def sum_gradients(self, parameters: Iterable[nn.Parameter], common: Iterable[nn.Parameter]) -> None:
        """Sum the gradients of all processes; `common` are parameters of the loss, which each computed completely."""
        if self.count == 1:
            return
        shared = list(common)
        for parameter in shared:
            if parameter.grad is not None:
                parameter.grad /= self.count
        chosen = [parameter for parameter in (*parameters, *shared) if parameter.requires_grad]
        for parameter in chosen:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in chosen if parameter.grad is not None]
        whole = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(whole)
        parts = torch.split(whole, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def agreed(self, numbers: Tensor) -> Tensor:
        """Return the first process's numbers, in every process."""
        if self.count > 1:
            dist.broadcast(numbers, 0)
        return numbers


def join(device: str) -> tuple[Processes, torch.device]:
    """Join the processes that torchrun started, if it did; each takes a GPU of its own if there are some."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        return Processes(), chosen_device(device)
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if device == "auto" and torch.cuda.is_available():
        device = f"cuda:{local % torch.cuda.device_count()}"
    chosen = chosen_device(device)
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    if not dist.is_initialized():
        dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    return Processes(dist.get_rank(), dist.get_world_size()), chosen


def leave() -> None:
    """End what `join` began."""
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()


@contextmanager
def joined_processes(device: str) -> Iterator[tuple[Processes, torch.device]]:
    """Call `join` at the start and `leave` at the end."""
    try:
        yield join(device)
    finally:
        leave()
