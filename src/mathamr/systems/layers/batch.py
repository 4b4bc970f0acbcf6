"""`GraphBatch`: a stack of graphs as an encoder reads it, on any device."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mathamr.systems.layers.groups import EdgeGroups
from mathamr.systems.layers.stack import GraphStack


@dataclass(frozen=True, slots=True, eq=False)
class GraphBatch:
    """Graphs without padding: node labels, grouped edges, and which nodes represent which graph.

    The representatives are ordered by graph: `counts` says how many each graph has.
    """

    counts: tuple[int, ...]
    groups: EdgeGroups
    node_ids: Tensor
    representatives: Tensor
    levels: Tensor

    @classmethod
    def of(cls, stack: GraphStack) -> GraphBatch:
        """Make the batch of a stack of graphs."""
        return cls(
            tuple(stack.representative_counts.tolist()),
            EdgeGroups.of(stack.sources, stack.targets, stack.relations, len(stack.node_ids)),
            torch.from_numpy(stack.node_ids),
            torch.from_numpy(stack.representatives),
            torch.from_numpy(stack.levels),
        )

    def __len__(self) -> int:
        return len(self.counts)

    def to(self, device: torch.device) -> GraphBatch:
        """Return the batch on a device; everything is copied at once, without waiting for the copy."""
        if self.node_ids.device == device:
            return self
        tensors = [self.node_ids, self.representatives, self.levels, *self.groups.tensors()]
        moved = moved_together(tensors, device)
        return GraphBatch(self.counts, self.groups.with_tensors(moved[3:]), *moved[:3])


def moved_together(tensors: list[Tensor], device: torch.device) -> list[Tensor]:
    """Copy tensors of four-byte numbers as one; each starts at a multiple of 16 bytes."""
    sizes = [-(-tensor.numel() // 4) * 4 for tensor in tensors]
    whole = torch.empty(sum(sizes), dtype=torch.int32, pin_memory=device.type == "cuda")
    for part, tensor in zip(torch.split(whole, sizes), tensors, strict=True):
        part[: tensor.numel()] = tensor.reshape(-1).view(torch.int32)
    there = torch.split(whole.to(device, non_blocking=True), sizes)
    return [
        part[: tensor.numel()].view(tensor.dtype).view(tensor.shape)
        for part, tensor in zip(there, tensors, strict=True)
    ]
