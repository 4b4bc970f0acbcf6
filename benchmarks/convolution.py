"""The relational convolution and a training epoch against PyTorch Geometric's RGCNConv, on this machine.

Sizes are those of the design: 532 relations, 64 bases. `MATHAMR_BENCH_PAIRS` changes the pairs of the epoch
(default 25,000 on a GPU, 128 on a CPU); RGCNConv is measured on fewer and extrapolated. `MATHAMR_BENCH_DEVICE`
``cpu`` or ``cuda`` measures only that device.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mathamr.core.errors import MissingExtraError
from mathamr.graphs.shard import Shard
from mathamr.systems.layers.convolution import RelationalConvolution
from mathamr.systems.layers.groups import EdgeGroups
from mathamr.systems.mathamrplus.configuration import MODELS
from mathamr.systems.mathamrplus.graphencoder import GraphEncoder
from mathamr.systems.mathamrplus.network import MathAMRPlus
from mathamr_lab.systems.mathamrplus.graph.configuration import TRAININGS
from mathamr_lab.systems.mathamrplus.graph.materials import GraphMaterials
from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
from mathamr_lab.training.loop import prefetched
from mathamr_lab.training.pairs import batches
from tests.lab.synthetic import synthetic_shard

RELATIONS, BASES = 532, 64


def run() -> None:
    """Print milliseconds, memory and ratios; both run the same operation alternately in one process."""
    try:
        from torch_geometric.nn import RGCNConv
    except ImportError as error:
        raise MissingExtraError("PyTorch Geometric, the peer", "pip install torch-geometric") from error
    wanted = os.environ.get("MATHAMR_BENCH_DEVICE", "cpu cuda")
    if "cpu" in wanted:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            print(f"   torch {torch.__version__}, one core")
            _layer(RGCNConv, torch.device("cpu"), 5_120, 64, repeats=3)
            _whole(RGCNConv, torch.device("cpu"), posts=128, pairs=128)
        finally:
            torch.set_num_threads(threads)
    if "cuda" in wanted and torch.cuda.is_available():
        device = torch.device("cuda", torch.cuda.current_device())
        name = torch.cuda.get_device_name(device)
        print(f"   {name}, torch {torch.__version__}; ours in bfloat16, RGCNConv in float32")
        _layer(RGCNConv, device, 10_880, 64, repeats=10)
        _layer(RGCNConv, device, 174_080, 256, repeats=3)
        _whole(RGCNConv, device, posts=10_000, pairs=25_000)


def _whole(peer_kind: Any, device: torch.device, posts: int, pairs: int) -> None:
    """Measures encoding and training with the thesis's configuration."""
    pairs = int(os.environ.get("MATHAMR_BENCH_PAIRS", str(pairs)))
    shard = synthetic_shard(pairs)
    _encoding(shard, device, min(posts, len(shard)))
    _epochs(shard, peer_kind, device, pairs)


def _layer(peer_kind: Any, device: torch.device, nodes: int, size: int, repeats: int) -> None:
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(nodes, (2, 5 * nodes), generator=generator)
    kinds = torch.randint(RELATIONS, (5 * nodes,), generator=generator)
    torch.manual_seed(0)
    ours = RelationalConvolution(size, size, RELATIONS, BASES, relation_vectors=False)
    peer = peer_kind(size, size, RELATIONS, num_bases=BASES, aggr="mean")
    with torch.no_grad():
        for mine, theirs in (
            (ours.bases, peer.weight),
            (ours.coefficients, peer.comp),
            (ours.root, peer.root),
            (ours.bias, peer.bias),
        ):
            theirs.copy_(mine)
    groups = EdgeGroups.of(edges[0].numpy(), edges[1].numpy(), kinds.numpy(), nodes).to(device)
    ours, peer, edges, kinds = ours.to(device), peer.to(device), edges.to(device), kinds.to(device)
    x = torch.randn(nodes, size, generator=generator).to(device).requires_grad_()

    def our_forward() -> Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            return ours(x, groups)

    def peer_forward() -> Tensor:
        return peer(x, edges, kinds)

    with torch.no_grad():
        if device.type == "cpu":
            apart = (our_forward() - peer_forward()).abs().max().item()
        else:
            apart = (ours(x, groups) - peer_forward()).abs().max().item()
    print(
        f"   layer, {nodes:,} nodes, {5 * nodes:,} edges, {size} dimensions: outputs {apart:.1e} apart in float32"
    )
    for name, backward in (("forward", False), ("forward and backward", True)):
        mine = _measured(our_forward, device, repeats, backward)
        theirs = _measured(peer_forward, device, repeats if device.type == "cuda" else 1, backward)
        line = f"     {name:21} ours {mine[0] * 1e3:9.2f} ms, RGCNConv {theirs[0] * 1e3:9.2f} ms: {theirs[0] / mine[0]:6.1f} times"
        if device.type == "cuda":
            line += f"; {mine[1] / 2**30:.2f} against {theirs[1] / 2**30:.2f} GiB: {theirs[1] / mine[1]:.1f} times less"
        print(line, flush=True)


def _measured(
    forward: Callable[[], Tensor], device: torch.device, repeats: int, backward: bool
) -> tuple[float, float]:
    """(best seconds, bytes above those in use before)."""

    def once() -> None:
        if backward:
            torch.autograd.backward(forward().float().sum())
        else:
            with torch.no_grad():
                forward()

    once()
    before = 0.0
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
    clock, best = _clock(device), float("inf")
    for _ in range(repeats):
        started = clock()
        once()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        best = min(best, clock() - started)
    used = torch.cuda.max_memory_allocated(device) - before if device.type == "cuda" else 0.0
    return best, max(1.0, used)


def _clock(device: torch.device) -> Callable[[], float]:
    """Return processor time on a CPU, so that other work on the machine does not count."""
    return time.process_time if device.type == "cpu" else time.perf_counter


class _PeerLayer(nn.Module):
    """RGCNConv in place of our convolution: it restores the edges from the groups."""

    def __init__(self, kind: Any, size: int, relations: int, bases: int) -> None:
        super().__init__()
        self.layer = kind(size, size, relations, num_bases=bases, aggr="mean")

    def forward(self, x: Tensor, groups: EdgeGroups) -> Tensor:
        members = torch.repeat_interleave(
            torch.arange(len(groups), device=x.device),
            (groups.starts[1:] - groups.starts[:-1]).long(),
            output_size=len(groups.sources),
        )
        edges = torch.stack([groups.sources.long(), groups.targets.index_select(0, members).long()])
        kinds = groups.present.index_select(0, groups.ranks).index_select(0, members).long()
        out: Tensor = self.layer(x.float(), edges, kinds)
        return out


def _encoding(shard: Shard, device: torch.device, posts: int) -> None:
    torch.manual_seed(0)
    model = MathAMRPlus(MODELS["thesis"], len(shard.vocabulary), len(shard.relations))
    encoder = GraphEncoder(model, shard.vocabulary, shard.relations, shard.configuration, device=str(device))
    tensors = [shard[number] for number in range(posts)]
    sum(len(vectors) for vectors in encoder.encode(tensors[:32]))
    clock = _clock(device)
    started = clock()
    count = sum(len(vectors) for vectors in encoder.encode(tensors))
    seconds = clock() - started
    print(
        f"   encoding, thesis's configuration: {posts / seconds:,.0f} posts/s, {count / seconds:,.0f} vectors/s",
        flush=True,
    )


def _epochs(shard: Shard, peer_kind: Any, device: torch.device, pairs: int) -> None:
    nodes = np.diff(shard.starts["nodes"]).mean()
    print(f"   epoch, thesis's configuration, {pairs:,} made-up pairs of {nodes:.0f} nodes a post:")
    ours = _epoch(shard, device, pairs, None)
    few = min(pairs, 32 * 20 if device.type == "cuda" else 32)
    peer = _epoch(shard, device, few, peer_kind)
    ratio = peer[0] / few / (ours[0] / pairs)
    print(
        f"     ours {ours[0]:.1f} s, {pairs / ours[0]:,.0f} pairs/s{_memory(ours[1])};"
        f" RGCNConv {few / peer[0]:,.1f} pairs/s, so {pairs * peer[0] / few:,.0f} s{_memory(peer[1])}: {ratio:.1f} times",
        flush=True,
    )


def _memory(used: float) -> str:
    return f", {used / 2**30:.2f} GiB" if used else ""


def _epoch(shard: Shard, device: torch.device, pairs: int, peer_kind: Any) -> tuple[float, float]:
    """Return (seconds, peak bytes) of training on this many pairs."""
    configuration = replace(TRAININGS["thesis"], validation=0.0)
    torch.manual_seed(0)
    model = MathAMRPlus(MODELS["thesis"], len(shard.vocabulary), len(shard.relations))
    if peer_kind is not None:
        for layer in model.layers:
            layer.convolution = _PeerLayer(peer_kind, 64, len(shard.relations), BASES)
    plan = batches(pairs, configuration.batch_size, 0, 0)
    trainer = GraphTrainer(GraphMaterials(shard), MODELS["thesis"], configuration, device, network=model)

    def made(places: Any) -> Any:
        return trainer.step(places, 0)

    for _ in range(3 if device.type == "cuda" else 0):
        trainer.learn(made(plan[0]), 0)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
    clock = _clock(device)
    started = clock()
    loss = torch.zeros((), device=device)
    for number, step in enumerate(prefetched(made, plan, threads=4 if device.type == "cuda" else 0)):
        loss += trainer.learn(step, number)
    if not torch.isfinite(loss):
        raise RuntimeError("the loss is not a number")
    used = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else 0.0
    return clock() - started, used
