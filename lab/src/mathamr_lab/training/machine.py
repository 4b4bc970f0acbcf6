"""The machine that a model is trained on, and its memory in use."""

from __future__ import annotations

import os
import platform
import sys

import torch


def memory_in_use(device: torch.device) -> int:
    """Returns the peak memory in bytes: of the GPU, or of this process."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def machine(device: torch.device) -> str:
    """Describes the machine in words."""
    words = [
        f"{platform.system()} {platform.machine()}",
        f"{os.cpu_count()} cores",
        f"Python {platform.python_version()}",
    ]
    words.append(f"torch {torch.__version__}")
    if device.type == "cuda":
        words.append(torch.cuda.get_device_name(device))
    else:
        words.append(f"{torch.get_num_threads()} threads")
    return ", ".join(words)
