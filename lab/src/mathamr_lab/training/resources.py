"""`Resources`: what a training may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

import torch

from mathamr_lab.training.processes import Processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Device, processes, threads that make batches ahead, minutes after which a run stops for now, where it reports."""

    device: torch.device
    processes: Processes = field(default_factory=Processes)
    threads: int = 1
    minutes: float | None = None
    stream: TextIO | None = None
