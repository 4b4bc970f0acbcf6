"""`Resources`: the resources of a training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO

import torch

from mathamr_lab.training.processes import Processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Device, processes, threads that prefetch batches, minutes after which a run pauses, and its output of progress."""

    device: torch.device
    processes: Processes = field(default_factory=Processes)
    threads: int = 1
    minutes: float | None = None
    stream: TextIO | None = None
