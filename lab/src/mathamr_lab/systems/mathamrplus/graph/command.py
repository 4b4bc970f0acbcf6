"""The training of the graph network alone, from a shard: `mathamr train PATH` and `python -m mathamr_lab.recipes SHARD`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mathamr_lab.systems.mathamrplus.graph.configuration import configured
from mathamr_lab.training.checkpoint import TrainingProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """The user's request; `changes` are fields of either configuration as ``name=value``."""

    shard: Path
    out: Path
    config: str = "thesis"
    changes: tuple[str, ...] = ()
    device: str = "auto"
    threads: int = 1
    minutes: float | None = None
    half: bool = False
    fresh: bool = False


def train_graph(request: GraphRequest) -> TrainingProgress:
    """Train as requested."""
    from mathamr.core.device import chosen_device
    from mathamr_lab.systems.mathamrplus.graph.materials import GraphMaterials
    from mathamr_lab.systems.mathamrplus.graph.trainer import GraphTrainer
    from mathamr_lab.training.loop import train
    from mathamr_lab.training.resources import Resources

    model, training = configured(request.config, request.changes)
    materials = GraphMaterials.load(request.shard)
    device = chosen_device(request.device)
    resources = Resources(device=device, threads=request.threads, minutes=request.minutes)
    trainer = GraphTrainer(materials, model, training, device, half=request.half)
    return train(trainer, request.out, resources, fresh=request.fresh)
