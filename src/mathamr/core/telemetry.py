"""Switches off what libraries report to their makers or leave behind, before any of them can be imported.

`mathamr/__init__` calls this first, so every entry passes it: the command, servers and their workers, programs that import
mathamr, the actors of a cluster, tests and benchmarks. Switches that nobody reads are not set.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Switch:
    """An environment variable that is always set; `help` says which library reads it and what it would do otherwise."""

    name: str
    value: str
    help: str


SWITCHES = (
    Switch(
        "ORT_DISABLE_TELEMETRY",
        "1",
        "ONNX Runtime 1.31 queues events with the system, processor and Python's path, and sends them to Microsoft",
    ),
    Switch("RAY_USAGE_STATS_ENABLED", "0", "Ray reports the size and use of a cluster to usage-stats.ray.io"),
    Switch(
        "HF_HUB_DISABLE_TELEMETRY",
        "1",
        "huggingface_hub and transformers, used by the laboratory, report versions and features",
    ),
    Switch("ONEDNN_JIT_PROFILE", "0", "PyTorch's oneDNN leaves /tmp/perf-PID.map for a profiler"),
)


def disable_telemetry() -> None:
    """Set every switch, whatever the environment says: mathamr promises that nothing leaves the machine."""
    os.environ.update({switch.name: switch.value for switch in SWITCHES})


def find_onnxruntime_reports() -> Path | None:
    """Return the folder in which ONNX Runtime queued events on Linux, if there is one; any program may have made it."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = cache / "Microsoft" / "DeveloperTools" / ".onnxruntime"
    return folder if folder.is_dir() else None
