"""`Resources`: what a training may use, and the machine that it runs on."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from typing import TextIO

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Device, threads that prefetch batches, minutes after which a run pauses, and its output of progress."""

    device: torch.device
    threads: int = 1
    minutes: float | None = None
    stream: TextIO | None = None

    @property
    def memory(self) -> int:
        """The peak memory in bytes: of the GPU, or of this process."""
        if self.device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self.device))
        if sys.platform == "win32":
            return 0
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return int(peak if sys.platform == "darwin" else peak * 1024)

    @property
    def machine(self) -> str:
        """The machine in words."""
        words = [f"{platform.system()} {platform.machine()}", f"{os.cpu_count()} cores"]
        words += [f"Python {platform.python_version()}", f"torch {torch.__version__}"]
        is_gpu = self.device.type == "cuda"
        words.append(
            torch.cuda.get_device_name(self.device) if is_gpu else f"{torch.get_num_threads()} threads"
        )
        return ", ".join(words)
