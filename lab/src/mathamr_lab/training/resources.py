"""`Resources`: what a training may use, and the machine that it runs on."""

from __future__ import annotations

import math
import os
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import torch

from mathamr.core.errors import MathAMRError

_UNITS = {
    "": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


def parse_bytes(text: str) -> int:
    """Return a number of bytes from words.

    >>> parse_bytes("8GB"), parse_bytes("1.5 GiB")
    (8000000000, 1610612736)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    unit = found[2].upper() if found else ""
    count = int(float(found[1]) * _UNITS[unit]) if found and unit in _UNITS else 0
    if not count:
        raise MathAMRError(f"{text!r} is no amount of memory; write it as 8GB or 500MB")
    return count


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Device, threads that prefetch batches, minutes after which a run pauses, its output of progress, and its memory.

    `most_memory` bounds it in bytes: of the GPU, or of this process. Without it a run may take what is free.
    """

    device: torch.device
    threads: int = 1
    minutes: float | None = None
    stream: TextIO | None = None
    most_memory: int | None = None

    @property
    def room(self) -> float:
        """The bytes that a step may still take; infinite where nobody can tell what is free."""
        if self.device.type == "cuda":
            taken = torch.cuda.memory_allocated(self.device)
            free: float = (
                torch.cuda.mem_get_info(self.device)[0] + torch.cuda.memory_reserved(self.device) - taken
            )
        else:
            taken, free = _taken(), _free()
        return free if self.most_memory is None else self.most_memory - taken

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


def _taken() -> int:
    """Return the memory of this process in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return Resources(device=torch.device("cpu")).memory
    return pages * os.sysconf("SC_PAGE_SIZE")


def _free() -> float:
    """Return the memory that is free on this machine in bytes."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), math.inf)
