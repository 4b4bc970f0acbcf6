from __future__ import annotations

import torch

from mathamr.graphs.shard import Shard
from mathamr.systems.layers.attention import VirtualAttention
from mathamr.systems.layers.batch import GraphBatch
from mathamr.systems.layers.convolution import group_means
from mathamr.systems.layers.stack import GraphStack
from mathamr.systems.mathamrplus.network import GATHERING


def test_attention_starts_as_the_mean(shard: Shard) -> None:
    groups = GraphBatch.of(GraphStack.of_shard(shard, [0, 1, 2])).groups
    x = torch.randn(len(groups.fed_starts) - 1, 8)
    means = group_means(x, groups)
    summaries = VirtualAttention(8, 2)(x, groups, GATHERING)
    assert len(summaries) == 3
    for span, summary in summaries:
        torch.testing.assert_close(summary, means[span])


def test_attention_equals_a_softmax_written_out(shard: Shard) -> None:
    torch.manual_seed(0)
    groups = GraphBatch.of(GraphStack.of_shard(shard, [5, 6])).groups
    x = torch.randn(len(groups.fed_starts) - 1, 8)
    layer = VirtualAttention(8, 2)
    torch.nn.init.normal_(layer.query.weight)
    for span, summary in layer(x, groups, GATHERING):
        for row, group in enumerate(range(span.start, span.stop)):
            members = x[groups.sources[groups.starts[group] : groups.starts[group + 1]].long()]
            query = layer.query(x[int(groups.targets[group])]).view(2, 4)
            keys = layer.key(members).view(-1, 2, 4)
            shares = torch.softmax((keys * query).sum(-1) / 2.0, 0)
            expected = (members.view(-1, 2, 4) * shares[..., None]).sum(0).flatten()
            torch.testing.assert_close(summary[row], expected, rtol=1e-4, atol=1e-5)
