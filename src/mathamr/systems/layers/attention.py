"""Attention of virtual nodes over their members: an option in place of the mean."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr.systems.layers.convolution import working_type
from mathamr.systems.layers.groups import EdgeGroups
from mathamr.systems.layers.segments import segment_sums


class VirtualAttention(nn.Module):
    """A weighted sum of a virtual node's members instead of their mean.

    The weights are a softmax over the products of the members' keys with the virtual node's query, one for each head.
    """

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        # Learning starts from equal weights, which give the mean.
        nn.init.zeros_(self.query.weight)

    def forward(
        self, x: Tensor, groups: EdgeGroups, relations: tuple[int, ...]
    ) -> list[tuple[slice, Tensor]]:
        """Returns the summaries of the groups of these relations, in the order of the groups."""
        x = x.to(working_type(x))
        return [(span, self._summary(x, groups, span, edges)) for span, edges in spans(groups, relations)]

    def _summary(self, x: Tensor, groups: EdgeGroups, span: slice, edges: slice) -> Tensor:
        rows, members = span.stop - span.start, edges.stop - edges.start
        starts = groups.starts[span.start : span.stop + 1] - edges.start
        owners = torch.repeat_interleave(
            torch.arange(rows, device=x.device), (starts[1:] - starts[:-1]).long(), output_size=members
        )
        values = x.index_select(0, groups.sources[edges])
        queries = self.query(x.index_select(0, groups.targets[span])).view(rows, self.heads, -1)
        keys = self.key(values).view(members, self.heads, -1)
        logits = (queries.index_select(0, owners) * keys).sum(-1).float() / keys.shape[-1] ** 0.5
        index = owners[:, None].expand(-1, self.heads)
        highest = logits.new_full((rows, self.heads), -torch.inf).scatter_reduce(
            0, index, logits.detach(), "amax"
        )
        shares = torch.exp(logits - highest.index_select(0, owners))
        total = segment_sums(shares, starts, owners)
        shares = (shares / total.index_select(0, owners)).to(x.dtype)
        weighted = (values.view(members, self.heads, -1) * shares[..., None]).flatten(1)
        return segment_sums(weighted, starts, owners)


def spans(groups: EdgeGroups, relations: tuple[int, ...]) -> list[tuple[slice, slice]]:
    """Returns the groups and edges of those relations that occur."""
    found = [groups.span(relation) for relation in sorted(relations)]
    return [(span, edges) for span, edges in found if span.stop > span.start]
