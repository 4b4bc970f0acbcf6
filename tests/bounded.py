"""Code that might not end, run in a process of its own with limits on processor time and memory."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence


def bounded(
    code: str, *arguments: str, seconds: int = 20, megabytes: int = 4096, command: Sequence[str] = ("-c",)
) -> subprocess.CompletedProcess[str]:
    """What a Python program printed; one that uses more than these limits is ended and has another return code."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, *command, code, *arguments],
        capture_output=True,
        text=True,
        timeout=10 * seconds,
        check=False,
        preexec_fn=limit,
    )
